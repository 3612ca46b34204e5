"""Subagents that a language model drives: it proposes, the engine disposes."""
