"""Owns how: Flow definitions, versions, expressions."""
