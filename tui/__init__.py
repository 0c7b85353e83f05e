"""The terminal app; talks to core.Deck only."""
