"""The background process: one loop that decides what is due and hands Work to the runtime."""
