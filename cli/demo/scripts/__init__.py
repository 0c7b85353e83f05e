"""The programs of the example Flows; each is copied into the workspace and needs only Python."""
