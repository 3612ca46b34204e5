"""Fixtures shared by all tests, and the list of what is known to be open."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.scheduling import pytest_xdist_make_scheduler
from tests.sshd import sshd
from tests.wheels import wheel_tree

__all__ = ["pytest_xdist_make_scheduler", "sshd", "wheel_tree"]

settings.register_profile("same", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile("same")
# A change is judged by what it changes: the laws see the same examples in each run. CONTRIBUTING.md has the command that looks for others.

OPEN: dict[str, str] = {}
"""Node ids, or parts of them, whose failure is known: each line is a debt to pay and then to delete."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for part, reason in OPEN.items():
            if part in item.nodeid:
                item.add_marker(pytest.mark.xfail(reason=f"open: {reason}", strict=False))
