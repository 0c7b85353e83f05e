"""The command line over core.Deck; importable without Textual."""
