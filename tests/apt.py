"""Debian packages that a test needs: installed once, by one process at a time, only as root."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

_LOCK = Path(tempfile.gettempdir()) / "rca-tests-apt.lock"
_TIMEOUT = 600.0


class PackagesUnavailable(RuntimeError):
    """They are missing and cannot be installed; the message says why."""


def ensure(packages: Sequence[str], present: Callable[[], bool]) -> None:
    """Installs the packages unless they are ``present``; test processes run side by side, apt does not. Raises PackagesUnavailable."""
    if present():
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise PackagesUnavailable(f"{' '.join(packages)}: missing, and only root on a Debian-like system can install them here")
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if present():
            return
        for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *packages]):
            _run(["apt-get", "-o", "DPkg::Lock::Timeout=120", *command])
    if not present():
        raise PackagesUnavailable(f"{' '.join(packages)}: installed, and still not there")


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        )
    except subprocess.TimeoutExpired:
        raise PackagesUnavailable(f"`{' '.join(command)}` took more than {_TIMEOUT:.0f} s") from None
    if done.returncode:
        raise PackagesUnavailable(f"`{' '.join(command)}`: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
