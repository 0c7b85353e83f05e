"""Turns the deck's answers into tables, JSON, YAML, CSV and calendar files; pure, no I/O."""
