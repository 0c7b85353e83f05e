"""Owns who may: principals, roles, execution scope, audit."""
