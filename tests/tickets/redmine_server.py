"""A real Redmine on loopback: Debian's packages, a copy of their files and of a fresh database, puma, one project, one issue."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.apt import PackagesUnavailable, ensure

_SHARE = Path("/usr/share/redmine")
_DATABASE = Path("/var/lib/dbconfig-common/sqlite3/redmine/instances/default/redmine_default")
_PACKAGES = ("redmine", "redmine-sqlite", "puma", "sqlite3")
_INSTANCE = "rcatest"
_START_SECONDS = 600.0  # four on a quiet machine
_POLL_SECONDS = 0.1
_ANSWER_SECONDS = 120.0  # a page costs a second, its first rendering more
# Nobody is notified: a mail is written in another thread, which would look a route up before Rails has drawn any, and Rails keeps
# what it found then: every page would answer 500.
_SEED = """
Setting.notified_events = []
Setting.rest_api_enabled = 1
Setting.login_required = 0
tracker = Tracker.first
project = Project.create!(name: "Serving", identifier: "serving", is_public: true, trackers: [tracker])
author = User.find_by_login("admin")
issue = Issue.create!(project: project, tracker: tracker, author: author, subject: "accept length 1.0",
                      priority: IssuePriority.first, status: IssueStatus.first)
other = User.new(firstname: "Bob", lastname: "Builder", mail: "bob@example.com")
other.login = "bob"
other.save!(validate: false)
role = Role.find_by(name: "Reporter")
role.remove_permission!(:edit_own_issue_notes)
Member.create!(user: other, project: project, roles: [role])
File.write(ENV.fetch("RCA_SEEDED"), [issue.id, author.api_key, other.api_key].to_json)
"""


class RedmineMissing(RuntimeError):
    """There is no Redmine and it cannot be installed; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redmine:
    """``key`` is the administrator's, ``other_key`` a plain member's."""

    url: str
    issue: int
    key: str
    other_key: str
    database: Path

    def format_text_as(self, name: str) -> None:
        """The administrator's choice of markup: textile, markdown or common_mark."""
        with sqlite3.connect(self.database, timeout=30) as database:
            database.execute("DELETE FROM settings WHERE name = 'text_formatting'")
            database.execute(
                "INSERT INTO settings (name, value, updated_on) VALUES ('text_formatting', ?, datetime('now', '+1 second'))", (name,)
            )
        database.close()

    def page(self, path: str) -> str:
        """A page as anybody sees it."""
        with urllib.request.urlopen(f"{self.url}{path}", timeout=_ANSWER_SECONDS) as answer:
            return str(answer.read().decode())

    def api(self, path: str) -> dict[str, object]:
        """What the API tells the administrator."""
        request = urllib.request.Request(f"{self.url}{path}", headers={"X-Redmine-API-Key": self.key})
        with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:
            loaded: dict[str, object] = json.load(answer)
            return loaded


def install() -> None:
    """About a minute where it is missing. Raises RedmineMissing."""
    if os.geteuid() != 0:
        raise RedmineMissing("only root can start a Redmine from Debian's packages")
    try:
        ensure(_PACKAGES, lambda: _DATABASE.exists() and shutil.which("puma") is not None)
    except PackagesUnavailable as reason:
        raise RedmineMissing(str(reason)) from None


@contextmanager
def redmine(directory: Path) -> Iterator[Redmine]:
    """A Redmine of its own under ``directory``: nothing of the installed one is changed. Raises RedmineMissing."""
    install()
    application = _copy(directory)
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "REDMINE_INSTANCE": _INSTANCE,
        "RAILS_ENV": "production",
        "LANG": "C.UTF-8",
    }
    seeded = directory / "seeded.json"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["bin/rails", "server", "-e", "production", "-u", "puma", "-b", "127.0.0.1", "-p", str(port)]
    with (directory / "server.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=application, env={**environ, "RCA_SEEDED": str(seeded)}, stdout=log, stderr=log, start_new_session=True
        )
        try:
            _wait(process, f"http://127.0.0.1:{port}", (directory / "server.log", _log(application)))
            issue, key, other = json.loads(seeded.read_text())
            yield Redmine(url=f"http://127.0.0.1:{port}", issue=issue, key=key, other_key=other, database=_database(application))
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


def _database(application: Path) -> Path:
    return application / "instances" / _INSTANCE / "redmine.sqlite3"


def _log(application: Path) -> Path:
    return application / "instances" / _INSTANCE / "log" / "production.log"


def _copy(directory: Path) -> Path:
    """The application with an instance, a puma and a seed of its own; the seed is an initialiser, so Rails starts only once."""
    application = directory / "redmine"
    shutil.copytree(_SHARE, application, symlinks=True)
    for link in ("instances", "Gemfile.lock"):
        (application / link).unlink()
    shutil.copy(_SHARE.resolve() / "Gemfile.lock", application / "Gemfile.lock")
    (application / "Gemfile.local").write_text('gem "puma"\n')
    instance = application / "instances" / _INSTANCE
    for name in ("config", "files", "log", "tmp", "public"):
        (instance / name).mkdir(parents=True)
    database = _database(application)
    with sqlite3.connect(f"file:{_DATABASE}?mode=ro", uri=True) as origin, sqlite3.connect(database) as copy:
        origin.backup(copy)
    origin.close(), copy.close()
    (instance / "config" / "database.yml").write_text(f"production:\n  adapter: sqlite3\n  database: {database}\n  encoding: utf8\n")
    (instance / "config" / "secret_key.txt").write_text("0123456789abcdef" * 4)
    (application / "config" / "initializers" / "99-seed.rb").write_text(
        f"Rails.application.config.after_initialize do\n  unless File.exist?(ENV.fetch('RCA_SEEDED'))\n{_SEED}  end\nend\n"
    )
    return application


def _wait(process: subprocess.Popen[bytes], url: str, logs: Sequence[Path]) -> None:
    """Until it answers, by one patient request, since its first page takes long on a busy machine.

    A Rails that ends, answers with an error or never answers is an error with the ends of its logs.
    """
    deadline = time.monotonic() + _START_SECONDS
    why = f"nothing within {_START_SECONDS:.0f} s"
    while (left := deadline - time.monotonic()) > 0 and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=left):
                return
        except urllib.error.HTTPError as answer:
            why = f"it answers with {answer}"
            answer.close()
            break
        except OSError:  # it does not listen yet
            with suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_SECONDS)
    if process.poll() is not None:
        why = f"it ended with status {process.returncode}"
    said = [line for log in logs if log.exists() for line in log.read_text(errors="replace").splitlines()[-15:]]
    raise AssertionError("\n".join([f"redmine did not start: {why}", *said]))
