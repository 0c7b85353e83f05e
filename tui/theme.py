"""Own the look: two palettes of design tokens, the themes made from them, and what each tone is drawn with."""

from __future__ import annotations

from functools import lru_cache

from rich.style import Style
from textual.theme import Theme

from tui.present.lines import Tone

DARK: dict[str, str] = {
    "back": "#10141a", "raised": "#161c24", "line": "#2a3441", "cursor": "#1f3247", "cursor-dim": "#1a222c",
    "marked": "#2b2a16", "text": "#d3dae3", "dim": "#8793a3", "faint": "#566273", "strong": "#f4f7fb",
    "calm": "#41705a",
    "ok": "#6cc495", "warn": "#e3b04b", "bad": "#f0736a", "busy": "#62b3f0", "accent": "#8fb8ff", "hit": "#3c3510",
}  # fmt: skip
LIGHT: dict[str, str] = {
    "back": "#fbfbf9", "raised": "#f1f1ec", "line": "#d0d3d6", "cursor": "#d5e4f7", "cursor-dim": "#e8ebee",
    "marked": "#f8efcf", "text": "#25303b", "dim": "#5b6875", "faint": "#8b959e", "strong": "#0a1118",
    "calm": "#93c2a8",
    "ok": "#1c7a4a", "warn": "#8f6200", "bad": "#b3261e", "busy": "#0b63ad", "accent": "#2b50b8", "hit": "#ffe89a",
}  # fmt: skip
PALETTES: dict[str, dict[str, str]] = {"deck-dark": DARK, "deck-light": LIGHT}


def themes() -> tuple[Theme, Theme]:
    """Return the dark and the light theme."""
    return _theme("deck-dark", DARK), _theme("deck-light", LIGHT)


def _theme(name: str, tokens: dict[str, str]) -> Theme:
    return Theme(
        name=name,
        dark=name == "deck-dark",
        primary=tokens["accent"],
        secondary=tokens["busy"],
        warning=tokens["warn"],
        error=tokens["bad"],
        success=tokens["ok"],
        accent=tokens["accent"],
        foreground=tokens["text"],
        background=tokens["back"],
        surface=tokens["back"],
        panel=tokens["raised"],
        variables={f"deck-{key}": colour for key, colour in tokens.items()}
        | {"input-cursor-background": tokens["text"], "border": tokens["line"], "scrollbar": tokens["line"]},
    )


@lru_cache(maxsize=512)
def style(theme: str, tone: Tone, ground: str = "back") -> Style:
    """Return what `tone` is drawn with on the token `ground` in a theme; unknown themes draw as the dark one."""
    tokens = PALETTES.get(theme, DARK)
    back = tokens[ground]
    if tone == "hit":
        return Style(color=tokens["strong"], bgcolor=tokens["hit"])
    if tone == "bar":
        return Style(color=tokens["line"], bgcolor=back)
    if tone in {"head", "strong", "key"}:
        ink = {"head": "dim", "strong": "strong", "key": "accent"}[tone]
        return Style(color=tokens[ink], bgcolor=back, bold=tone != "head")
    return Style(color=tokens[tone or "text"], bgcolor=back)
