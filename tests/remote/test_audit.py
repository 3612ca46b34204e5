"""The audit log: one line per read that was sent, with nothing secret in it, appended by every run."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from agent.domain.command import Command
from agent.domain.errors import CommandTimeout
from agent.domain.launch import HostSpec
from agent.hosts import commands
from agent.hosts.audit import AuditLog
from agent.hosts.remote import RemoteHost
from agent.hosts.shell import render
from agent.transports.local import LocalTransport


def host(log: Path) -> RemoteHost:
    return RemoteHost(LocalTransport(), HostSpec(name="gpu7"), audit=AuditLog(log))


def rows(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


async def test_each_read_is_a_line(tmp_path: Path) -> None:
    log = tmp_path / "kept" / "audit.jsonl"
    (tmp_path / "a").write_text("one\ntwo\n")
    reads = [
        commands.lines(str(tmp_path / "a"), 1, 1),
        commands.read_bytes(str(tmp_path / "missing")),
        commands.grep("o", [str(tmp_path)], include=("a",), limit=3),
        commands.grep("--api-key hunter2222", [str(tmp_path)], fixed=True),
    ]
    for _ in range(2):
        remote = host(log)
        await remote.batch(reads)
        await remote.close()
    found = rows(log)
    assert len(found) == 8, "a second run appends"
    first, missing, cut, secret = found[:4]
    assert (first["host"], first["id"], first["argv"], first["status"]) == ("gpu7", 1, list(reads[0].argv), 0)
    assert (first["bytes"], first["sha256"], first["truncated"]) == (4, sha256(b"one\n").hexdigest(), False)
    assert first["seconds"] >= 0 and first["time"].endswith("+00:00")
    assert missing["status"] != 0
    assert (cut["bytes"], cut["truncated"]) == (3, True)
    assert "hunter2222" not in json.dumps(secret)
    assert log.stat().st_mode & 0o077 == 0


async def test_a_read_without_an_answer_is_one_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.hosts.worker.GRACE_SECONDS", 0.1)
    monkeypatch.setattr("agent.hosts.prelude.render", lambda command: "sleep 60" if command is slow else render(command))
    slow = Command(argv=("id",), timeout=0.1)
    remote = host(tmp_path / "audit.jsonl")
    with pytest.raises(CommandTimeout):
        await remote.run(slow)
    await remote.close()
    (row,) = rows(tmp_path / "audit.jsonl")
    assert (row["argv"], row["error"]) == (["id"], "CommandTimeout")


async def test_a_log_that_cannot_be_written_is_told_once_and_ends_no_run(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").mkdir()
    told: list[str] = []
    remote = RemoteHost(LocalTransport(), HostSpec(name="gpu7"), audit=AuditLog(tmp_path / "audit.jsonl", told.append))
    for _ in range(2):
        assert (await remote.run(commands.identity())).status == 0
    await remote.close()
    assert told == [f"reads are not logged: {tmp_path}/audit.jsonl: Is a directory"]


async def test_a_line_that_a_full_disk_cut_takes_no_other_with_it(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    log.write_text('{"host": "gpu7", "argv": ["ca')
    remote = host(log)
    await remote.run(commands.identity())
    await remote.run(commands.uname())
    await remote.close()
    _, first, second = log.read_text().splitlines()
    assert (json.loads(first)["argv"], json.loads(second)["argv"]) == (["id"], ["uname", "-a"])
