"""The terminal app: pure drawing, behaviour by keys, and snapshots of named scenes."""
