"""The busybox that many containers have instead of the GNU programs: installed as root where it is missing."""

from __future__ import annotations

import shutil

import pytest

from tests import apt


def program() -> str:
    """Its path; skips the test where there is none and it cannot be installed."""
    try:
        apt.ensure(["busybox-static"], lambda: shutil.which("busybox") is not None)
    except apt.PackagesUnavailable as problem:
        pytest.skip(f"needs busybox: {problem}")
    return str(shutil.which("busybox"))
