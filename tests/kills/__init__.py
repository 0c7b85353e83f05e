"""Real workers, killed by SIGKILL at every named place and at random moments, and proof that nothing came of it."""
