"""Owns the envelope: names, manifests, revisions, apply and diff."""
