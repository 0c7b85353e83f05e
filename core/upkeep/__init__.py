"""Owns that nothing is lost: the checker, retention, backup, restore, doctor."""
