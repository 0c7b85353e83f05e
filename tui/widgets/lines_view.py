"""Own the widget that shows lines of toned pieces; everything that is not a table or a form is one of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from tui.present.lines import Line, fit
from tui.theme import style


def strip(row: Line, cells: int, theme: str, ground: str = "back") -> Strip:
    """Draw one line at exactly `cells` on a ground token."""
    return Strip([Segment(piece.text, style(theme, piece.tone, ground)) for piece in fit(row, cells)], cells)


def blank(cells: int, theme: str, ground: str = "back") -> Strip:
    """Draw nothing at `cells` wide."""
    return Strip([Segment(" " * cells, style(theme, "", ground))], cells)


class Bar(Widget):
    """One line, made anew from its width at each drawing."""

    DEFAULT_CSS = "Bar { height: 1; width: 1fr; }"
    ground = "raised"
    _drawn: Line | None = None

    def line(self, cells: int) -> Line:
        """Return what to show in `cells`."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        """Draw the one line."""
        cells = self.size.width
        if y:
            return blank(cells, self.app.theme, self.ground)
        self._drawn = self.line(cells)
        return strip(self._drawn, cells, self.app.theme, self.ground)

    def renew(self) -> None:
        """Draw again if the line is another one: a quiet screen sends nothing to the terminal."""
        if self.line(self.size.width) != self._drawn:
            self.refresh()


class LinesView(ScrollView):
    """Lines that scroll; `show` takes them, or a function of the width where the text depends on it.

    With `heights`, the least and the most it may be, it is as high as its lines at the width that it gets.
    """

    DEFAULT_CSS = """
    LinesView { height: 1fr; width: 1fr; scrollbar-size: 1 1; scrollbar-gutter: stable; overflow-x: hidden; }
    """
    can_focus = False

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002  Textual's name
        classes: str | None = None,
        ground: str = "back",
        heights: Callable[[], tuple[int, int]] | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._heights = heights
        self._ground = ground
        self._make: Callable[[int], Sequence[Line]] = lambda _: ()
        self._lines: Sequence[Line] = ()

    def show(self, lines: Sequence[Line] | Callable[[int], Sequence[Line]]) -> None:
        """Show these lines, or those that the function makes for a width in cells."""
        self._make = lines if callable(lines) else lambda _: lines
        self._rebuild()

    @property
    def lines(self) -> Sequence[Line]:
        """Return the lines shown."""
        return self._lines

    def again(self) -> None:
        """Make the lines anew, because time has passed, and draw those that changed."""
        before, cells = self._lines, self.scrollable_content_region.width
        self._lines = self._make(cells) if cells else ()
        if len(before) != len(self._lines):
            self.virtual_size = Size(cells, len(self._lines))
            self.refresh()
            return
        for at, (old, new) in enumerate(zip(before, self._lines, strict=True)):
            if old != new:
                self.refresh_lines(at)

    def _rebuild(self) -> None:
        cells = self.scrollable_content_region.width or self.size.width
        self._lines = self._make(cells) if cells else ()
        self.virtual_size = Size(cells, len(self._lines))
        if self._heights is not None and cells:
            least, most = self._heights()
            self.styles.height = min(max(len(self._lines), least), most)
        self.refresh()

    def on_resize(self) -> None:
        """Make the lines for the new width."""
        self._rebuild()

    def notify_style_update(self) -> None:
        """Draw again in the new theme."""
        super().notify_style_update()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one line of the visible part."""
        cells = self.scrollable_content_region.width
        at = y + self.scroll_offset.y
        if at >= len(self._lines):
            return blank(cells, self.app.theme, self._ground)
        return strip(self._lines[at], cells, self.app.theme, self._ground)


def plain_style(theme: str, ground: str = "back") -> Style:
    """Return the style of untoned text."""
    return style(theme, "", ground)
