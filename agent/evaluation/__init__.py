"""Guards and facts to verdicts; pure."""
