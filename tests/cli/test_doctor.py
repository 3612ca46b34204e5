"""``rca doctor``: this machine and the hosts, what to do about each finding, exit codes, JSON."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from agent.cli.own_machine import check_machine
from agent.config import Settings, load_settings
from agent.hosts.checkup import NOTE, OK, PROBLEM, Check
from tests.e2e.servers import login, rca
from tests.sshd import Sshd, free_port


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A machine on which nothing was set up yet."""
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    (tmp_path / "me" / ".ssh").mkdir(parents=True)
    return load_settings({"RCA_HOME": str(tmp_path / "home")})


def checked(config: Settings) -> dict[str, Check]:
    found = check_machine(config)
    assert all(check.to_do for check in found if check.status != OK), "what is not well says what to do"
    return {check.name: check for check in found}


def test_a_new_machine(config: Settings) -> None:
    checks = checked(config)
    assert [checks[name].status for name in ("Python", "libraries", "ssh_config", "directories")] == [OK] * 4
    assert [checks[name].status for name in ("keys", "known hosts", "language model")] == [NOTE] * 3
    assert not config.cache_dir.exists(), "looking makes nothing"


def test_a_machine_that_was_set_up(config: Settings, tmp_path: Path) -> None:
    ssh = tmp_path / "me" / ".ssh"
    (ssh / "id_ed25519").write_text("")
    (ssh / "id_ed25519.pub").write_text("")
    (ssh / "known_hosts").write_text("gpu-07 ssh-ed25519 AAAA\n")
    checks = checked(config)
    assert (checks["keys"].status, checks["keys"].found) == (OK, "files: id_ed25519; in the agent: 0")
    assert checks["known hosts"].found.startswith("1 keys in ")


def test_an_ssh_config_that_ssh_refuses(config: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program stands in for ssh(1), which looks for the account's file whatever HOME says."""
    (tmp_path / "me" / ".ssh" / "config").write_text("Nonsense yes\n")
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text("#!/bin/sh\necho 'config: line 1: Bad configuration option: nonsense' >&2\nexit 255\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", str(ssh.parent))
    found = checked(config)["ssh_config"]
    assert (found.status, found.to_do) == (PROBLEM, "correct that line")
    assert "Bad configuration option: nonsense" in found.found


def test_a_machine_without_ssh(config: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checked(config)["ssh"].status == NOTE


def test_a_place_that_cannot_be_written(tmp_path: Path, config: Settings) -> None:
    (tmp_path / "file").write_text("")
    checks = checked(load_settings({"RCA_HOME": str(tmp_path / "file")}))
    assert checks["directories"].status == PROBLEM


def test_libraries_that_are_missing_or_too_old(config: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ["click<1", "not-there>=2", "click>=0.1", "never; python_version<'3'", "no-client>=1; extra == 'jira'"]
    monkeypatch.setattr(metadata, "requires", lambda name: asked)
    checks = checked(config)
    assert checks["libraries"].status == PROBLEM
    assert checks["libraries"].found == f"click is {metadata.version('click')}, not <1; not-there is missing"
    assert (checks["trackers"].status, checks["trackers"].found) == (NOTE, "no client for jira")


def test_a_source_tree_that_is_not_installed(config: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", unknown)
    assert checked(config)["libraries"].status == NOTE


def test_hosts_from_the_command_line(tmp_path: Path, sshd: Sshd) -> None:
    """Two with one name are told apart, and what is wrong with one costs the other nothing."""
    gone = f"127.0.0.1:{free_port()}"
    good, bad = rca(tmp_path, "doctor", *login(sshd), "--format", "json"), rca(tmp_path, "doctor", *login(sshd), "--host", gone)
    assert (good.code, bad.code) == (0, 1), good.err
    assert good.json["schema"] == "rca.doctor/1"
    assert {row["where"] for row in good.json["checks"]} == {"this machine", "127.0.0.1"}
    assert all(set(row) == {"where", "name", "status", "found", "to_do"} for row in good.json["checks"])
    here, there, refused = bad.out.split("\n\n")
    assert here.startswith("this machine\n")
    assert there.startswith(f"{sshd.user}@127.0.0.1:{sshd.port}\n  ok      connection ")
    assert refused.startswith(f"{gone}\n  PROBLEM connection ") and "is sshd running there" in refused


def test_a_bundle(tmp_path: Path) -> None:
    """It has no clock and no shell of its own to be judged."""
    file = str(tmp_path / "here.rca")
    taken = rca(tmp_path, "capture", "-o", file, "--transport", "local", "--launch", "python -m nothing", "--tree", str(tmp_path))
    assert Path(file).exists(), taken.err
    looked = rca(tmp_path, "doctor", "--bundle", file, "--format", "json")
    names = {row["name"] for row in looked.json["checks"] if row["where"] != "this machine"}
    assert {"connection", "account", "processes"} <= names
    assert not names & {"clock", "read-only", "container"}


def test_a_host_that_is_no_host(tmp_path: Path) -> None:
    wrong = rca(tmp_path, "doctor", "--host", "me@-x")
    assert wrong.code == 2
    assert wrong.err.startswith("rca: ")
