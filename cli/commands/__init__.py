"""The commands, one module for each group of the help; each is thin: read options, ask the deck, print."""
