"""Owns how: Flow definitions, their immutable versions, and the sandboxed expressions inside them.

`definition` reads and checks a Flow, `schema` checks inputs, `expressions` evaluates, `publishing` numbers
versions, `resolve` finds the version that a firing runs. Nothing here executes a step.
"""
