"""Host keys: what the known_hosts files say of a host, the judgement of the key it shows, and our own file of accepted keys.

Present with another key is CHANGED and a hard stop; present nowhere is unknown: a stop, unless the policy is accept-new.
The user's own known_hosts is read, never written.
"""

from __future__ import annotations

import base64
import binascii
import fcntl
import hashlib
import hmac
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from agent.domain.errors import HostError, HostKeyChanged, HostKeyUnknown
from agent.transports.ssh_config import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKey:
    """One matching line of a known_hosts file; ``marker``: empty, ``@cert-authority`` or ``@revoked``."""

    kind: str
    blob: bytes
    marker: str
    file: str
    line: int

    @property
    def text(self) -> str:
        """As an authorized-key line."""
        return f"{self.kind} {base64.b64encode(self.blob).decode('ascii')}"


def known_keys(target: Target, own_file: Path) -> tuple[KnownKey, ...]:
    """Every line about the target in its known_hosts files and in our own; files that are missing are empty."""
    return tuple(key for path in (*target.known_hosts, str(own_file)) for key in _read(path, target.known_as))


def fingerprint(blob: bytes) -> str:
    """As OpenSSH prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode("ascii").rstrip("=")


def preferred(algorithms: Sequence[str], known: Sequence[KnownKey]) -> list[str]:
    """Key types that are known first, so that a server with several keys shows the one that can be checked."""
    kinds = {key.kind for key in known if not key.marker}
    authorities = any(key.marker == "@cert-authority" for key in known)

    def rank(algorithm: str) -> int:
        if "-cert-" in algorithm:
            return 0 if authorities else 2
        plain = "ssh-rsa" if algorithm.startswith("rsa-sha2") else algorithm
        return 0 if plain in kinds else 1

    return sorted(algorithms, key=rank)


def judge(target: Target, known: Sequence[KnownKey], kind: str, blob: bytes, own_file: Path) -> None:
    """Returns where the shown key is trusted (and, by policy accept-new, now recorded); raises the fitting HostError otherwise."""
    if any(key.marker == "@revoked" and key.blob == blob for key in known):
        raise HostKeyChanged(
            f"{target.name} shows a key that is marked as revoked: {fingerprint(blob)}",
            host=target.name, expected="", actual=fingerprint(blob), hint="do not connect; ask whoever runs the host",
        )  # fmt: skip
    plain = [key for key in known if not key.marker]
    if any(key.blob == blob for key in plain):
        return
    if plain:
        raise _changed(target, plain, kind, blob)
    if target.host_key_policy == "accept-new":
        try:
            _record(own_file, target.known_as, kind, blob)
        except OSError as problem:
            raise unrecorded(target.name, own_file, problem) from None
        return
    raise HostKeyUnknown(
        f"the host key of {target.name} is not known: {kind} {fingerprint(blob)}",
        host=target.name,
        hint=f"compare the fingerprint, then `ssh {target.name}` once, or run with --host-key-policy accept-new",
    )


def _changed(target: Target, plain: Sequence[KnownKey], kind: str, blob: bytes) -> HostError:
    same = next((key for key in plain if key.kind == kind), plain[0])
    return HostKeyChanged(
        f"THE HOST KEY OF {target.name} HAS CHANGED: {same.file}:{same.line} has {same.kind} {fingerprint(same.blob)},"
        f" the host shows {kind} {fingerprint(blob)}",
        host=target.name,
        expected=fingerprint(same.blob),
        actual=fingerprint(blob),
        hint="somebody may be listening in; if the host was reinstalled, remove that line yourself",
    )


def _read(path: str, name: str) -> Iterator[KnownKey]:
    try:
        text = Path(path).read_text("utf-8", "replace")
    except OSError:
        return
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        marker = fields.pop(0) if fields and fields[0].startswith("@") else ""
        if len(fields) < 3 or line.lstrip().startswith("#") or not _matches(fields[0], name):
            continue
        try:
            yield KnownKey(kind=fields[1], blob=base64.b64decode(fields[2], validate=True), marker=marker, file=path, line=number)
        except binascii.Error:
            continue


def _matches(patterns: str, name: str) -> bool:
    if patterns.startswith("|1|"):
        return _hashed(patterns, name)
    found = False
    for pattern in patterns.split(","):
        negated = pattern.startswith("!")
        if fnmatchcase(name.lower(), pattern.lstrip("!").lower().replace("[", "[[]")):
            if negated:
                return False
            found = True
    return found


def _hashed(entry: str, name: str) -> bool:
    """``|1|SALT|HASH``: HMAC-SHA1 of the name."""
    try:
        salt, digest = (base64.b64decode(part) for part in entry.split("|")[2:4])
    except (ValueError, binascii.Error):
        return False
    return hmac.compare_digest(hmac.new(salt, name.encode(), hashlib.sha1).digest(), digest)


def unrecorded(host: str, own_file: Path, problem: OSError) -> HostKeyUnknown:
    """Accepted without being recorded, any other key would be accepted the next time."""
    what = f"the host key of {host} is new, and cannot be recorded in {own_file}: {problem.strerror or problem}"
    return HostKeyUnknown(what, host=host, hint="RCA_HOME names another directory; or add the key to your known_hosts")


def _record(path: Path, name: str, kind: str, blob: bytes) -> None:
    """Appends under a lock; a second run that accepted the same key meanwhile is no harm."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    line = f"{name} {kind} {base64.b64encode(blob).decode('ascii')}\n".encode()
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if line not in _lines(descriptor):
            os.write(descriptor, line)
    finally:
        os.close(descriptor)


def _lines(descriptor: int) -> Iterable[bytes]:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, 0).splitlines(keepends=True)
