"""Whether a stream gets colours: a terminal that can show them, and nobody who asked for none."""

from __future__ import annotations

import os
from typing import TextIO


def wanted(stream: TextIO) -> bool:
    """Return whether to write colours; `NO_COLOR` (no-color.org) and `TERM=dumb` say no."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
