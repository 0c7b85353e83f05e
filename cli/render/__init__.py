"""Turns the deck's answers into tables, JSON, YAML, CSV and calendar files; pure, but for `write`, which prints."""
