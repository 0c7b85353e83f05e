"""Owns what: Work, Task, PendingAction, notification."""
