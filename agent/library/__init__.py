"""Playbooks: found, validated, matched against a symptom and facts, rendered."""

from agent.library.collection import Library

__all__ = ["Library"]
