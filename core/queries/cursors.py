"""Turns the key of the last row of a page into opaque text and back."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime

from core.errors import Usage


def encode_cursor(at: datetime, row_id: str) -> str:
    """Return the cursor that continues after this row."""
    return base64.urlsafe_b64encode(f"{at.isoformat()}|{row_id}".encode()).decode()


def decode_cursor(cursor: str) -> tuple[datetime, str]:
    """Return the key in a cursor; foreign text is refused."""
    try:
        at, row_id = base64.urlsafe_b64decode(cursor.encode()).decode().split("|", 1)
        return datetime.fromisoformat(at), row_id
    except (ValueError, binascii.Error) as error:
        raise Usage(f"{cursor!r} is not a page cursor", "take it from the page before") from error
