"""The example workspace: Flows that do real work on this machine without any network, and a past for them.

`workspace` lays the folder, `server` is the small HTTP server that one Flow asks, `history` lets the past happen by
the worker's own pipeline under a clock that is moved, `show` fires it for real.
"""
