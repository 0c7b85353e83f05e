"""Owns execution: the port, the engine, step executors."""
