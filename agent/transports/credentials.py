"""Private keys: which to offer, in which order, and the passphrases of the encrypted ones, asked before connecting."""

from __future__ import annotations

import base64
import binascii
import json
import os
import tempfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from agent.transports.ssh_config import Target
from agent.transports.ssh_options import SshOptions

_OPENSSH = b"openssh-key-v1\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFile:
    """A private key that can be loaded; ``passphrase`` is empty for an unencrypted one."""

    path: str
    passphrase: str = ""


def key_files(target: Target, options: SshOptions, in_agent: Collection[bytes] = ()) -> list[KeyFile]:
    """The identity files to offer. ``in_agent``: public keys the agent holds; their files need no passphrase, the agent signs.

    A person is asked only for keys that were chosen by name, or where there is nothing else to offer.
    """
    found: list[KeyFile] = []
    locked: list[str] = []
    for path in target.identities:
        content = _content(path)
        if not content or public_blob(path) in in_agent:
            continue
        if is_encrypted(content):
            locked.append(path)
        else:
            found.append(KeyFile(path=path))
    if options.prompt and (target.chosen_identities or not (found or in_agent)):
        found += [item for path in locked if (item := _unlock(path, options.prompt))]
    return found


def is_encrypted(content: bytes) -> bool:
    """Of an OpenSSH, PEM or PKCS#8 private key."""
    if b"BEGIN OPENSSH PRIVATE KEY" in content:
        try:
            body = base64.b64decode(b"".join(row for row in content.splitlines() if not row.startswith(b"-----")))
        except binascii.Error:
            return False
        size = int.from_bytes(body[len(_OPENSSH) : len(_OPENSSH) + 4], "big")
        return body[len(_OPENSSH) + 4 :][:size] != b"none"
    return b"ENCRYPTED" in content


def public_blob(path: str) -> bytes:
    """The public half from ``PATH.pub``; empty where there is none."""
    try:
        fields = Path(f"{path}.pub").read_bytes().split()
        return base64.b64decode(fields[1]) if len(fields) > 1 else b""
    except (OSError, binascii.Error):
        return b""


def last_good(options: SshOptions, target: Target) -> bytes:
    """The public key that the host accepted last; empty where none is remembered."""
    return base64.b64decode(_remembered(options).get(target.known_as, ""))


def remember(options: SshOptions, target: Target, blob: bytes) -> None:
    """Keeps it for ``last_good``; a place that cannot be written costs nothing but the convenience."""
    known = _remembered(options)
    text = base64.b64encode(blob).decode("ascii")
    if known.get(target.known_as) == text:
        return
    path = _memory(options)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump({**known, target.known_as: text}, file, indent=0, sort_keys=True)
        os.replace(file.name, path)
    except OSError:
        return


def _remembered(options: SshOptions) -> dict[str, str]:
    try:
        found = json.loads(_memory(options).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _memory(options: SshOptions) -> Path:
    return options.own_known_hosts.with_name("last_keys.json")


def _unlock(path: str, prompt: Callable[[str, bool], str]) -> KeyFile | None:
    passphrase = prompt(f"Passphrase for {path}: ", False)
    return KeyFile(path=path, passphrase=passphrase) if passphrase else None


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""
