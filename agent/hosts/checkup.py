"""What a host has, lacks or hides, as far as it matters here, each with what to do about it."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from agent.domain.command import CommandResult
from agent.domain.errors import RcaError
from agent.domain.serialize import Plain
from agent.hosts import commands
from agent.hosts.interface import Features, Host
from agent.probes.processes import servers
from agent.probes.products import Product

OK, NOTE, PROBLEM = "ok", "note", "problem"
BUNDLE = "bundle"
_STILL_CHANGES = "what reading changes: access times, the page cache, a line in the login log per connection"
_NO_FILE_DATA = re.compile(r"^Max file size +0 ", re.MULTILINE)
_SKEW_SECONDS = 5.0
_MANY_SERVERS = 4
_FIRST_PROCESS = 1  # every machine and container has it, so that /proc hides others where it is not there


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Plain):
    """One thing that was looked at. ``status``: ok, note (something is slower or unknown), problem (something will not work)."""

    name: str
    status: str
    found: str
    to_do: str = ""


async def check_host(host: Host, products: Sequence[Product] = ()) -> list[Check]:
    """Everything about a connected host, in two round trips. ``products``: the servers to look for.

    Of a bundle, what holds for a live shell alone is left out.
    """
    began = time.monotonic()
    features = await host.features()
    first_answer = time.monotonic() - began
    wanted = {
        "identity": commands.identity(), "processes": commands.command_lines(), "environ": commands.proc_file(1, "environ"),
        "gpus": commands.gpus(),
    }  # fmt: skip
    live = {"clock": commands.clock(), "limits": commands.proc_file("self", "limits"), "cgroup": commands.proc_file("self", "cgroup")}
    is_live = host.transport_name != BUNDLE
    wanted |= live if is_live else {}
    sent = time.time()
    answers = dict(zip(wanted, await host.batch(list(wanted.values())), strict=True))
    return [
        Check(
            name="connection", status=OK, found=f"{host.transport_name} ({host.transport_reason}); first answer after {first_answer:.2f} s"
        ),
        _account(answers["identity"]),
        _shell(features),
        *([_limits(answers["limits"]), _clock(answers["clock"], sent, time.time())] if is_live else []),
        _processes(answers["processes"]),
        *_servers(answers["processes"], products),
        _environments(answers["environ"], features),
        _gpus(answers["gpus"]),
        *([_container(answers["cgroup"])] if is_live else []),
        *_programs(features),
    ]


def _account(answer: CommandResult | RcaError) -> Check:
    found = _text(answer).strip()
    if found:
        return Check(name="account", status=OK, found=found)
    return Check(name="account", status=NOTE, found=_why(answer), to_do="what this account may read shows only as it is read")


def _shell(features: Features) -> Check:
    kind = "GNU programs" if features.gnu_grep and features.gnu_find else "busybox or toybox programs"
    note = "" if features.gnu_grep else "reads work; searches through large trees are slower"
    return Check(name="programs", status=OK if not note else NOTE, found=f"{kind}, kernel {features.kernel or 'unknown'}", to_do=note)


def _limits(answer: CommandResult | RcaError) -> Check:
    """What the kernel says of the worker's own limit on file sizes: see ``prelude``."""
    if _NO_FILE_DATA.search(_text(answer)):
        found = f"the kernel refuses file data from this shell; every program and flag is on an allow-list; {_STILL_CHANGES}"
        return Check(name="read-only", status=OK, found=found)
    if isinstance(answer, CommandResult) and answer.status == 0:
        found = f"by the allow-list of programs and flags alone: the shell could not set its file size limit; {_STILL_CHANGES}"
        return Check(name="read-only", status=NOTE, found=found, to_do="RCA_HARD_MODE=1, where the host allows it")
    return Check(name="read-only", status=NOTE, found=f"/proc cannot be read: {_why(answer)}", to_do="launch facts will be unknown")


def _clock(answer: CommandResult | RcaError, sent: float, received: float) -> Check:
    text = _text(answer).strip()
    if not re.fullmatch(r"[0-9]{1,12}", text):
        return Check(name="clock", status=NOTE, found=_why(answer), to_do="ages of files and processes stay unknown")
    skew = int(text) - (sent + received) / 2
    if abs(skew) <= _SKEW_SECONDS + (received - sent):
        return Check(name="clock", status=OK, found="agrees with this machine's")
    return Check(
        name="clock", status=NOTE, found=f"{skew:+.0f} s against this machine's", to_do="times in reports are the host's where it says so"
    )


def _processes(answer: CommandResult | RcaError) -> Check:
    if isinstance(answer, RcaError):
        advice = "no server can be found by itself: name it with --pid PID, or give its command with --launch"
        return Check(name="processes", status=PROBLEM, found=_why(answer), to_do=advice)
    seen = commands.parse_command_lines(answer)
    if _FIRST_PROCESS in seen:
        return Check(name="processes", status=OK, found=f"{len(seen)} with a command line")
    found = f"{len(seen)}, those of this account only (hidepid)"
    return Check(name="processes", status=NOTE, found=found, to_do="log in as the server's user or as root if the server is not found")


def _servers(answer: CommandResult | RcaError, products: Sequence[Product]) -> list[Check]:
    """Processes whose command line starts a known server; forks that still show their parent's are among them."""
    if isinstance(answer, RcaError) or not products:
        return []
    found = servers(commands.parse_command_lines(answer), products)
    if found:
        advice = "where they are not one server: choose with --pid PID" if len(found) > 1 else ""
        return [Check(name="servers", status=OK, found="; ".join(process.label for process in found[:_MANY_SERVERS]), to_do=advice)]
    advice = "start it, log in as a user who may see it, or look into its container with --container KIND:NAME"
    return [Check(name="servers", status=NOTE, found=f"none of {', '.join(product.name for product in products)}", to_do=advice)]


def _environments(answer: CommandResult | RcaError, features: Features) -> Check:
    if features.uid == 0 or (isinstance(answer, CommandResult) and answer.status == 0):
        return Check(name="environments", status=OK, found="those of all users' processes can be read")
    advice = "the environment of another user's server stays unknown: log in as its user, or give --env K=V"
    return Check(name="environments", status=NOTE, found=f"of this account's processes only (uid {features.uid})", to_do=advice)


def _gpus(answer: CommandResult | RcaError) -> Check:
    if isinstance(answer, CommandResult) and answer.status == 0:
        rows = _text(answer).strip().splitlines()[1:]
        return Check(
            name="GPUs", status=OK, found=f"{len(rows)}: {', '.join(dict.fromkeys(row.split(', ')[1] for row in rows if ', ' in row))}"
        )
    return Check(
        name="GPUs",
        status=NOTE,
        found="nvidia-smi is not there or does not answer",
        to_do="facts about GPUs stay unknown: give --assume NAME=VALUE",
    )


def _container(answer: CommandResult | RcaError) -> Check:
    from agent.hosts.containers import recognise

    inside = recognise(_text(answer))
    if inside is None:
        return Check(name="container", status=OK, found="this shell is not in one, as far as its cgroup tells")
    return Check(
        name="container",
        status=NOTE,
        found=f"this shell is in a {inside.engine} container",
        to_do="processes of the host are not visible from here",
    )


def _programs(features: Features) -> list[Check]:
    found = []
    if not features.timeout:
        found.append(
            Check(name="timeout", status=NOTE, found="missing", to_do="a read that hangs is ended from here instead; install coreutils")
        )
    if not features.zstd:
        slower = "gzip is used" if features.gzip else "sources are sent as they are"
        found.append(Check(name="zstd", status=NOTE, found=f"missing: {slower}", to_do="install zstd on the host for faster first runs"))
    return found


def _text(answer: CommandResult | RcaError) -> str:
    return answer.stdout.decode("utf-8", "replace") if isinstance(answer, CommandResult) else ""


def _why(answer: CommandResult | RcaError) -> str:
    if isinstance(answer, RcaError):
        return str(answer)
    return next(iter(commands.problems(answer)), f"status {answer.status}")


def worst(checks: Sequence[Check]) -> str:
    """The most serious status among them."""
    return max((check.status for check in checks), key=[OK, NOTE, PROBLEM].index, default=OK)
