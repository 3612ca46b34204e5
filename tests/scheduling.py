"""Which tests stay together where tests run side by side: those of a module that share one dear server."""

from __future__ import annotations

from typing import Any

import pytest

TOGETHER = frozenset(
    (
        "tests/e2e/test_demo.py",
        "tests/e2e/test_founding_case.py",
        "tests/e2e/test_resume.py",
        "tests/e2e/test_second_case.py",
        "tests/e2e/test_unknown_to_playbooks.py",
        "tests/e2e/test_with_model.py",
        "tests/reports/test_html.py",
        "tests/reports/test_mermaid.py",
        "tests/tickets/test_redmine.py",
    )
)
"""Modules; every other test goes to whichever process is free."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object | None:
    """For plain ``-n``. (xdist's own ``--dist loadgroup`` tells groups by a suffix of the node id, which pytest no longer lets it add.)"""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            module = nodeid.partition("::")[0]
            return module if module in TOGETHER else nodeid

    return Scheduling(config, log)
