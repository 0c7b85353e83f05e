"""Owns execution: the port, the engine behind it, the interpreter of Flows and the executors of their steps.

`execution` is what the worker drives. `interpreter` does one step at a time and keeps the truth in our own rows;
`engine` (DBOS) and `memory` (for tests) only call it, durably or not. Importing `engine` is for the worker alone.
"""
