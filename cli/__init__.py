"""The command line over `core.Deck`: every screen's headless twin; importable without Textual.

Owns how a request is read from words and how an answer is written: standard output carries data only, standard
error is for people. Nothing heavy is imported before it is needed, so that help answers at once.
"""
