"""Judges one playbook against one server: its targets, its hypotheses, and what follows from them."""

from agent.subagents.playbook.conclusion import PlaybookAnswer, investigate

__all__ = ["PlaybookAnswer", "investigate"]
