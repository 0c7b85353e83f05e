"""One place of the app per module.

How a place is added:

1. Give it a line in `tui.navigation.PLACES` (mode, number, title, module, class, aliases). The module is imported on
   the first visit only, so it may import what it likes from `tui`, and from core only `views`, `errors`, `clock`.
2. Write `class XPlace(Place)` (or `TablePlace[Row]` where the place is a list) with

   - `place_id`, `heading`, `ACTIONS` (its own `Action`s; common ones come by themselves; `self.all_actions()` is both),
   - `live_kinds`: the change kinds that make it `renew()` itself,
   - `body()`: yields its widgets; the frame's four lines are put around them,
   - `do_<action id>()` for each action, and `why_closed(action)` returning a sentence where a key cannot work now
     (read-only mode is answered already for actions that say `writes=True`),
   - `renew()`: ask for what is shown again. It is called on the first show, on changes and on return,
   - `beat(now)`: called once a second while shown; draw countdowns from `now`, never from a wall clock,
   - `arrive(location)`: a deep link: take its `filter`, open its `key`,
   - `headless()`: the command line that shows the same, for `y`; `exporter()` for `x`.

3. Ask the deck with `self.ask(lambda deck: deck.works(query, offset=0, limit=100), self._got, group="work.rows")`: the
   call runs in a thread, `_got` on the screen. A newer question of the same group replaces an older one. Refusals are
   flashed, or given to `failed=`. Nothing else may touch the deck.
4. A detail screen is a `Place` too, pushed with `self.app.push_screen(WorkDetail(work_id))` onto the mode's own stack;
   `escape` closes it.
5. Text is made in `tui.present` (pure) as lines of `Piece(text, tone)`; `LinesView.show(lines | function of width)`
   and `Bar.line(cells)` draw them. Colour stands for state only: tones ok warn bad busy; dim faint strong accent.
6. Times go through `tui.present.times` and `self.zone_for(trigger_zone)` (the display zone that `z` cycles).
7. Popups: `widgets.chooser.Chooser` (pick one by typing), `widgets.dialog.Confirm(title, effects, do=, danger=)`,
   `ShortForm(title, blanks, do=)`, `Sheet(title, lines)`; push them with a callback. After a change that can be taken
   back: `self.deck_app.offer_undo(Undo(what, call))`. `self.deck_app.go(Location("work", key=work_id))` goes elsewhere.
   Help is `tui.screens.help.HelpScreen(place)`, a modal that answers the id of the action to run, or None.
   `unsaved()` tells whether leaving would lose something.
8. Styles: `DEFAULT_CSS` on small widgets, or a `.tcss` beside the screen through `CSS_PATH`. Classes `wide` (100
   columns and more) and `narrow` are set on every place.
"""
