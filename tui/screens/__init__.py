"""One place of the app per module."""
