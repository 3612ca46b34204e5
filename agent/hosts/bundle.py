"""The bundle: everything that was read from a host, redacted, as one zip file that a person can look into and send to others.

``manifest.json`` says what was asked and what came; ``blobs/SHA256`` are the contents, each once. The same reads give the same bytes.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.domain.command import Command, CommandResult
from agent.domain.errors import StoreError
from agent.domain.launch import HostSpec
from agent.domain.redaction import redact_text
from agent.domain.serialize import to_plain
from agent.domain.source import Absent, Unreadable, sha256
from agent.hosts.interface import Features

SCHEMA = "rca.bundle/1"
TRANSPORT = "bundle:"
_SIZE_LIMIT = 4_000_000_000  # unpacked: a bundle from somebody else may be built to fill a disk
_EPOCH = (1980, 1, 1, 0, 0, 0)
_README = """This is a bundle made by `rca capture`: what was read from one host, with secrets masked.
Every rca command takes it in place of a host: rca run --bundle FILE --symptom "..."
manifest.json lists the reads; blobs/ holds their contents by SHA-256.
"""


@dataclass(slots=True, kw_only=True)
class Tree:
    """One synchronised source tree."""

    root: str
    packages: tuple[str, ...]
    contents: dict[str, bytes] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Bundle:
    """``answers``: by argument vector, the longest one where a read was made with several limits. ``files``: as fetched."""

    host: str
    container: str = ""
    captured_at: str = ""
    rca_version: str = ""
    transport: str = ""
    features: Features | None = None
    answers: dict[tuple[str, ...], CommandResult] = field(default_factory=dict)
    files: dict[str, bytes | Absent | Unreadable] = field(default_factory=dict)
    trees: list[Tree] = field(default_factory=list)

    def add(self, result: CommandResult) -> None:
        """Keeps an answer unless a longer one is kept."""
        kept = self.answers.get(result.command.argv)
        if kept is None or kept.truncated:
            self.answers[result.command.argv] = result

    def save(self, path: Path) -> None:
        """Writes the file whole or not at all. Source files lose the secrets in their literals here, and keep their line numbers."""
        blobs: dict[str, bytes] = {}

        def blob(content: bytes) -> str:
            blobs.setdefault(sha256(content), content)
            return sha256(content)

        document = {
            "schema": SCHEMA,
            "host": self.host,
            "container": self.container,
            "captured_at": self.captured_at,
            "rca_version": self.rca_version,
            "transport": self.transport,
            "features": to_plain(self.features),
            "answers": [
                {
                    "argv": list(argv),
                    "limit": answer.command.limit,
                    "status": answer.status,
                    "truncated": answer.truncated,
                    "stdout": blob(answer.stdout),
                    "stderr": blob(answer.stderr),
                }
                for argv, answer in sorted(self.answers.items())
            ],
            "files": {name: _stored(found, blob) for name, found in sorted(self.files.items())},
            "trees": [
                {
                    "root": tree.root,
                    "packages": list(tree.packages),
                    "files": {name: blob(_shown(name, content)) for name, content in sorted(tree.contents.items())},
                    "unreadable": dict(sorted(tree.unreadable.items())),
                    "notes": list(tree.notes),
                }
                for tree in self.trees
            ],
        }
        partial = path.with_name(f".{path.name}.part")
        try:
            with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
                _put(archive, "README.txt", _README.encode())
                _put(archive, "manifest.json", json.dumps(document, indent=1, ensure_ascii=True).encode())
                for digest, content in sorted(blobs.items()):
                    _put(archive, f"blobs/{digest}", content)
            partial.replace(path)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise StoreError(f"cannot write the bundle {path}: {error.strerror or error}") from error


def load(path: Path) -> Bundle:
    """Raises StoreError for a file that is no bundle, or whose contents do not agree with their digests."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _SIZE_LIMIT:
                raise StoreError(f"{path} holds more than {_SIZE_LIMIT} bytes")
            document: dict[str, Any] = json.loads(archive.read("manifest.json"))
            if document["schema"] != SCHEMA:
                raise StoreError(f"{path} is a {document['schema']} file, not {SCHEMA}", hint="capture again with this version of rca")
            return _bundle(document, _Blobs(archive, path))
    except FileNotFoundError:
        raise StoreError(f"there is no bundle {path}", hint="make one with: rca capture --host H -o FILE") from None
    except (OSError, zipfile.BadZipFile, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path} is not a bundle: {error}") from error


def bundle_spec(path: Path) -> HostSpec:
    """The host that a bundle stands for: its name in reports, and where its answers come from. Raises StoreError."""
    found = load(path)
    return HostSpec(name=found.host, container=found.container, transport=f"{TRANSPORT}{path}")


class _Blobs:
    """Contents by digest, checked when read."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive = archive
        self._path = path

    def __call__(self, digest: str) -> bytes:
        content = self._archive.read(f"blobs/{digest}")
        if sha256(content) != digest:
            raise StoreError(f"{self._path} is damaged: a content does not agree with its digest")
        return content


def _bundle(document: Mapping[str, Any], blob: _Blobs) -> Bundle:
    found = Bundle(
        host=document["host"],
        container=document["container"],
        captured_at=document["captured_at"],
        rca_version=document["rca_version"],
        transport=document["transport"],
        features=Features(**document["features"]) if document["features"] else None,
    )
    for row in document["answers"]:
        found.add(
            CommandResult(
                command=Command(argv=tuple(row["argv"]), limit=row["limit"]),
                status=row["status"],
                stdout=blob(row["stdout"]),
                stderr=blob(row["stderr"]),
                truncated=row["truncated"],
            )
        )
    found.files = {name: _restored(name, row, blob) for name, row in document["files"].items()}
    for row in document["trees"]:
        contents = {name: blob(digest) for name, digest in row["files"].items()}
        found.trees.append(
            Tree(
                root=row["root"],
                packages=tuple(row["packages"]),
                contents=contents,
                unreadable=row["unreadable"],
                notes=tuple(row["notes"]),
            )
        )
    return found


def _shown(name: str, content: bytes) -> bytes:
    text = content.decode("utf-8", "surrogateescape")
    return redact_text(text, literals_only=name.endswith((".py", ".pyi"))).encode("utf-8", "surrogateescape")


def _stored(found: bytes | Absent | Unreadable, blob: Any) -> str | dict[str, str] | None:
    if isinstance(found, bytes):
        digest: str = blob(found)
        return digest
    return None if isinstance(found, Absent) else {"unreadable": found.reason}


def _restored(name: str, row: str | dict[str, str] | None, blob: _Blobs) -> bytes | Absent | Unreadable:
    if isinstance(row, str):
        return blob(row)
    return Absent(path=name) if row is None else Unreadable(path=name, reason=row["unreadable"])


def _put(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content)
