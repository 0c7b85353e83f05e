"""Owns whether: was it due, is it admitted. `decide` is pure; `pipeline` and `recovery` have the effects."""
