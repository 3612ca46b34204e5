"""Measures the remote layer against other ways to do the same, on a real sshd on this machine, through a proxy that delays and counts.

    python benchmarks/remote.py                          every row, at 0 and 80 ms
    python benchmarks/remote.py --quick --format json    the gates alone, in under 45 seconds

80 ms is 40 ms each way. Round trips are counted by the proxy: how often the client spoke after the server had. Medians.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from agent.domain.launch import HostSpec  # noqa: E402
from agent.hosts import commands  # noqa: E402
from agent.hosts.many import each_host  # noqa: E402
from agent.hosts.remote import RemoteHost  # noqa: E402
from agent.transports.asyncssh_client import AsyncsshTransport  # noqa: E402
from agent.transports.openssh_client import OpensshTransport  # noqa: E402
from agent.transports.paramiko_client import ParamikoTransport  # noqa: E402
from agent.transports.ssh_options import SshOptions  # noqa: E402
from benchmarks.proxy import running  # noqa: E402
from tests.sshd import Sshd, serving  # noqa: E402

GATES = {"cold_job_s": 1.0, "warm_job_s": 0.2, "sync_s": 0.5, "reads50_s": 0.2}
MEMORY_GATE_MB = 60.0
FLEET = 200
BIG = 300_000_000
READS = 8
_MARKS = {True: "ok  ", False: "MISS", None: "?   "}


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: seconds (median) and round trips (of the last repetition)."""

    task: str
    way: str
    delay_ms: int
    seconds: float
    round_trips: int


@dataclass(slots=True)
class Bench:
    """Where the server is, as seen through the proxy, and what was measured so far."""

    spec: HostSpec
    options: SshOptions
    delay_ms: int
    turns: Callable[[], int]
    tree: Path
    repeat: int
    rows: list[Row] = field(default_factory=list)

    @property
    def package(self) -> str:
        return str(self.tree / "sglang")

    @property
    def file(self) -> str:
        return str(self.tree / "sglang" / "srt" / "server_args.py")

    async def measure(self, task: str, way: str, once: Callable[[], Awaitable[float]]) -> float:
        """``once`` gives its own seconds, so that set-up is not counted."""
        seconds = []
        trips = 0
        for _ in range(self.repeat):
            self.turns()
            seconds.append(await once())
            trips = self.turns()
        found = statistics.median(seconds)
        self.rows.append(Row(task, way, self.delay_ms, round(found, 4), trips))
        return found

    async def host(self, kind: Callable[[SshOptions], Any] = AsyncsshTransport, cache: Path | None = None) -> RemoteHost:
        transport = kind(self.options)
        await transport.connect(self.spec)
        return RemoteHost(transport, self.spec, cache_dir=cache)

    def job(self) -> list[Any]:
        """One look at a server: the processes, a search of its tree, eight reads."""
        reads = [commands.lines(self.file, 1 + 100 * number, 80 + 100 * number) for number in range(READS)]
        return [commands.ps(), commands.grep("is_eagle3", [self.package], fixed=True), *reads]

    def job_text(self) -> list[str]:
        """The same as shell text, for the others."""
        reads = [f"sed -n '{1 + 100 * number},{80 + 100 * number}p' {self.file}" for number in range(READS)]
        return ["ps -e -o pid,ppid,user,args", f"grep -rnF --include='*.py' is_eagle3 {self.package}", *reads]


# This layer.


async def gates(bench: Bench) -> dict[str, float]:
    """The four numbers with a limit."""

    async def cold() -> float:
        began = time.perf_counter()
        host = await bench.host()
        _all_answered(await host.batch(bench.job()))
        seconds = time.perf_counter() - began
        await host.close()
        return seconds

    found = {"cold_job_s": await bench.measure("whole job, cold", "rca", cold)}
    host = await bench.host()
    await host.features()
    bench.turns()

    async def warm() -> float:
        began = time.perf_counter()
        _all_answered(await host.batch(bench.job()))
        return time.perf_counter() - began

    async def reads() -> float:
        wanted = [commands.lines(bench.file, 1 + 10 * number, 80 + 10 * number) for number in range(50)]
        began = time.perf_counter()
        _all_answered(await host.batch(wanted))
        return time.perf_counter() - began

    async def files() -> float:
        paths = sorted(Path(bench.package, "srt").rglob("*.py"))[:50]
        began = time.perf_counter()
        _all_answered(await host.batch([commands.lines(str(path), 1, 80) for path in paths]))
        return time.perf_counter() - began

    async def sync() -> float:
        with tempfile.TemporaryDirectory() as cache:
            fresh = await bench.host(cache=Path(cache))
            await fresh.features()
            bench.turns()
            began = time.perf_counter()
            tree = await fresh.sync_tree(str(bench.tree), ["sglang"])
            seconds = time.perf_counter() - began
            assert len(list(tree.files())) > 1000
            await fresh.close()
        return seconds

    found["warm_job_s"] = await bench.measure("whole job, warm", "rca", warm)
    found["reads50_s"] = await bench.measure("50 reads", "rca", reads)
    await bench.measure("50 reads of 50 files", "rca", files)
    found["sync_s"] = await bench.measure("1,404 files", "rca", sync)
    await host.close()
    return {name: round(found[name], 4) for name in GATES}


async def resync(bench: Bench) -> None:
    """A second run with nothing changed."""
    with tempfile.TemporaryDirectory() as cache:
        first = await bench.host(cache=Path(cache))
        await first.sync_tree(str(bench.tree), ["sglang"])

        async def again() -> float:
            began = time.perf_counter()
            await first.sync_tree(str(bench.tree), ["sglang"])
            return time.perf_counter() - began

        await bench.measure("1,404 files, unchanged", "rca", again)
        await first.close()


async def small(bench: Bench) -> None:
    """One command, and one search of the tree, in a shell that is there already."""
    host = await bench.host()
    await host.features()

    async def one(command: Any) -> float:
        began = time.perf_counter()
        await host.run(command)
        return time.perf_counter() - began

    await bench.measure("one command", "rca", lambda: one(commands.identity()))
    await bench.measure("search of the tree", "rca", lambda: one(commands.grep("is_eagle3", [bench.package], fixed=True)))
    await host.close()


async def connects(bench: Bench) -> None:
    """A connection and the first answer, over each transport."""
    for name, kind in (("rca asyncssh", AsyncsshTransport), ("rca paramiko", ParamikoTransport), ("rca openssh", OpensshTransport)):

        async def once(kind: Callable[[SshOptions], Any] = kind) -> float:
            began = time.perf_counter()
            host = await bench.host(kind)
            await host.run(commands.identity())
            seconds = time.perf_counter() - began
            await host.close()
            return seconds

        await bench.measure("connect and one command", name, once)


# The others.


async def ssh_program(bench: Bench, directory: Path) -> None:
    """ssh(1), a process per command, without and with a control connection."""
    base = [
        "ssh", "-F", "none", "-p", str(bench.spec.port), "-l", bench.spec.user, "-i", bench.spec.identities[0],
        "-o", f"UserKnownHostsFile={bench.spec.known_hosts}", "-o", "BatchMode=yes", "-o", "IdentityAgent=none",
    ]  # fmt: skip
    control = ["-o", "ControlMaster=auto", "-o", f"ControlPath={directory}/cm-{bench.delay_ms}", "-o", "ControlPersist=30"]

    def run(more: Sequence[str], text: str) -> None:
        subprocess.run([*base, *more, bench.spec.name, text], check=False, capture_output=True)

    async def job(more: Sequence[str]) -> float:
        began = time.perf_counter()
        for text in bench.job_text():
            await asyncio.to_thread(run, more, text)
        return time.perf_counter() - began

    async def one() -> float:
        began = time.perf_counter()
        await asyncio.to_thread(run, [], "true")
        return time.perf_counter() - began

    await bench.measure("connect and one command", "ssh(1)", one)
    await bench.measure("whole job, cold", "ssh(1), 10 processes", lambda: job([]))
    await asyncio.to_thread(run, control, "true")
    await bench.measure("whole job, warm", "ssh(1) ControlMaster", lambda: job(control))
    subprocess.run([*base, *control, "-O", "exit", bench.spec.name], check=False, capture_output=True)


async def asyncssh_execs(bench: Bench) -> None:
    """asyncssh as its manual shows it: a channel per command."""
    import asyncssh

    async def open_() -> Any:
        return await asyncssh.connect(
            bench.spec.name, bench.spec.port, username=bench.spec.user, client_keys=[bench.spec.identities[0]],
            known_hosts=bench.spec.known_hosts, config=None, agent_path=None,
        )  # fmt: skip

    async def cold() -> float:
        began = time.perf_counter()
        async with await open_() as connection:
            for text in bench.job_text():
                await connection.run(text, encoding=None)
            return time.perf_counter() - began

    await bench.measure("whole job, cold", "asyncssh, 10 execs", cold)
    async with await open_() as connection:

        async def reads(at_once: int) -> float:
            gate = asyncio.Semaphore(at_once)

            async def one(number: int) -> None:
                async with gate:
                    await connection.run(f"sed -n '{1 + 10 * number},{80 + 10 * number}p' {bench.file}", encoding=None)

            began = time.perf_counter()
            await asyncio.gather(*(one(number) for number in range(50)))
            return time.perf_counter() - began

        async def one(text: str) -> float:
            began = time.perf_counter()
            await connection.run(text, encoding=None)
            return time.perf_counter() - began

        search = bench.job_text()[1]
        archive = f"find {bench.package} -name '*.py' -print0 | tar -cf - --null -T -"
        await bench.measure("one command", "asyncssh, an exec", lambda: one("true"))
        await bench.measure("search of the tree", "asyncssh, an exec", lambda: one(search))
        await bench.measure("50 reads", "asyncssh, one at a time", lambda: reads(1))
        await bench.measure("50 reads", "asyncssh, five at a time", lambda: reads(5))
        await bench.measure("1,404 files", "asyncssh, tar", lambda: one(archive))
        await bench.measure("1,404 files", "asyncssh, tar and gzip", lambda: one(f"{archive} | gzip -1"))
        await bench.measure("1,404 files", "asyncssh, tar and zstd", lambda: one(f"{archive} | zstd -1 -q"))
        await bench.measure("1,404 files", "asyncssh, a cat each", lambda: one(f"find {bench.package} -name '*.py' -exec cat {{}} ';'"))
        await bench.measure("1,404 files", "asyncssh, SFTP 64 at once", lambda: _sftp(connection, bench))


async def _sftp(connection: Any, bench: Bench) -> float:
    """Every file of the tree, as many at a time as an SFTP client would."""
    gate = asyncio.Semaphore(64)
    paths = [str(path) for path in Path(bench.package).rglob("*.py")]
    began = time.perf_counter()
    async with connection.start_sftp_client() as client:

        async def one(path: str) -> int:
            async with gate, client.open(path, "rb") as file:
                return len(await file.read())

        sizes = await asyncio.gather(*(one(path) for path in paths))
    assert len(sizes) > 1000
    return time.perf_counter() - began


async def paramiko_execs(bench: Bench) -> None:
    """paramiko as its manual shows it."""
    import paramiko

    def cold() -> float:
        began = time.perf_counter()
        client = paramiko.SSHClient()
        client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
        client.connect(
            bench.spec.name, bench.spec.port, bench.spec.user, key_filename=bench.spec.identities[0], allow_agent=False, look_for_keys=False
        )  # fmt: skip
        for text in bench.job_text():
            _, out, _ = client.exec_command(text)
            out.read()
        seconds = time.perf_counter() - began
        client.close()
        return seconds

    await bench.measure("whole job, cold", "paramiko, 10 execs", lambda: asyncio.to_thread(cold))


async def parallel_ssh_job(bench: Bench) -> None:
    """parallel-ssh on one host; left out where it is not installed."""

    async def cold() -> float:
        found = await asyncio.to_thread(parallel_ssh, [bench.spec.name], bench, bench.job_text())
        if found is None:
            raise LookupError
        return found[0]

    with contextlib.suppress(LookupError):
        await bench.measure("whole job, cold", "parallel-ssh", cold)


PARALLEL_SSH = """
import json, sys, time
from pssh.clients import ParallelSSHClient
hosts, port, user, key, texts = json.loads(sys.stdin.read())
began = time.perf_counter()
client = ParallelSSHClient(hosts, port=port, user=user, pkey=key, pool_size=len(hosts), num_retries=3, identity_auth=False)
answered = 0
for text in texts:
    outputs = client.run_command(text, stop_on_errors=False)
    client.join(outputs)
    answered += sum(1 for output in outputs if output.exception is None and list(output.stdout) is not None and output.exit_code == 0)
print(json.dumps([time.perf_counter() - began, answered]))
"""


def parallel_ssh(hosts: Sequence[str], bench: Bench, texts: Sequence[str]) -> tuple[float, int] | None:
    """Seconds and answers of the parallel-ssh library, in a process of its own since it brings its own event loop; None without it."""
    request = json.dumps([list(hosts), bench.spec.port, bench.spec.user, bench.spec.identities[0], list(texts)])
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PARALLEL_SSH], input=request, capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    seconds, answered = json.loads(done.stdout.splitlines()[-1])
    return seconds, answered


# Many hosts, and memory.


def fleet(bench: Bench) -> dict[str, Any]:
    """200 hosts (addresses of the loopback network, one sshd): connect and one command; each contender in a process of its own."""
    hosts = [f"127.0.{number // 200 + 1}.{number % 200 + 1}" for number in range(FLEET)]
    seconds, answered = _alone("--fleet", bench, hosts)
    other = parallel_ssh(hosts, bench, ["id"])
    return {
        "hosts": FLEET,
        "rca_s": round(seconds, 3),
        "rca_answered": answered,
        "parallel_ssh_s": round(other[0], 3) if other else None,
        "parallel_ssh_answered": other[1] if other else None,
    }


async def _fleet(arguments: str) -> None:
    spec, options, hosts = _told(arguments)

    async def work(one: HostSpec) -> RemoteHost:
        transport = AsyncsshTransport(options)
        await transport.connect(one)
        host = RemoteHost(transport, one)
        assert (await host.run(commands.identity())).status == 0
        return host

    began = time.perf_counter()
    outcomes = [outcome async for outcome in each_host([replace(spec, name=name) for name in hosts], work, at_once=FLEET)]
    seconds = time.perf_counter() - began
    await asyncio.gather(*(outcome.result.close() for outcome in outcomes if outcome.result is not None))
    print(json.dumps([seconds, sum(outcome.result is not None for outcome in outcomes)]))


def memory(bench: Bench, directory: Path) -> dict[str, float]:
    """How much a process grows while 300 MB pass through it, in megabytes."""
    big = directory / "big"
    with big.open("wb") as file:
        file.truncate(BIG)
    found: dict[str, float] = _alone("--memory", bench, str(big))
    return found


async def _memory(arguments: str) -> None:
    spec, options, big = _told(arguments)
    transport = AsyncsshTransport(options)
    await transport.connect(spec)
    host = RemoteHost(transport, spec)
    await host.features()
    before = _peak_kilobytes()
    size, began = 0, time.perf_counter()
    async for piece in host.stream(commands.tar([big])):
        size += len(piece)
    assert size > BIG
    grown = _peak_kilobytes() - before
    await host.close()
    seconds = round(time.perf_counter() - began, 2)
    print(json.dumps({"grown_mb": round(grown / 1024, 1), "total_mb": round((before + grown) / 1024, 1), "seconds": seconds}))


def _alone(part: str, bench: Bench, more: Any) -> Any:
    """A part of this program in a fresh process; its one line of JSON."""
    told = json.dumps([bench.spec.as_dict(), str(bench.options.own_known_hosts), str(bench.options.config_file), more])
    done = subprocess.run([sys.executable, __file__, part, "-"], input=told, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def _told(arguments: str) -> tuple[HostSpec, SshOptions, Any]:
    fields, own, config, more = json.loads(arguments)
    spec = HostSpec(**{**fields, "identities": tuple(fields["identities"]), "jump": tuple(fields["jump"])})
    return spec, SshOptions(own_known_hosts=Path(own), config_file=Path(config)), more


def _peak_kilobytes() -> int:
    """The most memory this process ever held (ru_maxrss would count what its parent held before exec)."""
    found = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1])


# The frame.


def _all_answered(answers: Sequence[Any]) -> None:
    failed = [answer for answer in answers if not hasattr(answer, "status")]
    assert not failed, failed


def _tree(directory: Path) -> Path:
    """SGLang 0.5.9 where it can be fetched; elsewhere as many files of the standard library."""
    from tests.wheels import WheelUnavailable, fetch_tree

    try:
        return fetch_tree("sglang", "0.5.9")
    except WheelUnavailable:
        import shutil

        target = directory / "tree" / "sglang" / "srt"
        target.mkdir(parents=True)
        for number, path in enumerate(sorted(Path(os.__file__).parent.rglob("*.py"))[:1404]):
            shutil.copy(path, target / f"m{number}.py")
        shutil.copy(Path(os.__file__).parent / "typing.py", target / "server_args.py")
        return directory / "tree"


@contextmanager
def _server(directory: Path) -> Iterator[Sshd]:
    with serving(directory, {"ListenAddress": "0.0.0.0"}) as server:
        yield server


async def measured(*, quick: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="rca-bench-") as name:
        directory = Path(name)
        tree = _tree(directory)
        with _server(directory) as server:
            key = server.known_hosts.read_text().split(" ", 1)[1]
            for delay_ms in (80,) if quick else (0, 80):
                with running(server.port, delay_ms / 2000) as (port, turns):
                    known = directory / f"known_{delay_ms}"
                    known.write_text(f"[127.*]:{port} {key}[127.*]:{server.port} {key}")
                    spec = replace(server.spec(), port=port, known_hosts=str(known))
                    options = SshOptions(own_known_hosts=directory / "own", config_file=directory / "none")
                    options.config_file.write_text("IdentityAgent none\n")  # type: ignore[union-attr]
                    bench = Bench(spec, options, delay_ms, turns, tree, 3)
                    found[f"gates_{delay_ms}ms"] = await gates(bench)
                    if not quick:
                        for part in (small, resync, connects, asyncssh_execs, paramiko_execs, parallel_ssh_job):
                            await part(bench)
                        await ssh_program(bench, directory)
                    rows += bench.rows
            direct = Bench(replace(spec, port=server.port), options, 0, lambda: 0, tree, 1)
            found["fleet"] = await asyncio.to_thread(fleet, direct)
            found["memory"] = await asyncio.to_thread(memory, direct, directory)
    found["rows"] = [
        {"task": r.task, "way": r.way, "delay_ms": r.delay_ms, "seconds": r.seconds, "round_trips": r.round_trips} for r in rows
    ]
    found["passed"] = _passed(found)
    return found


def _passed(found: dict[str, Any]) -> dict[str, bool | None]:
    """None is "not measured": parallel-ssh is an extra of its own, see ``benchmarks`` in pyproject.toml."""
    passed: dict[str, bool | None] = {name: found["gates_80ms"][name] <= limit for name, limit in GATES.items()}
    others, fleet_ = found["fleet"]["parallel_ssh_s"], found["fleet"]
    passed["memory"] = found["memory"]["grown_mb"] <= MEMORY_GATE_MB
    passed["fleet_answers"] = fleet_["rca_answered"] == FLEET
    passed["fleet_ahead_of_parallel_ssh"] = None if others is None else fleet_["rca_s"] <= others
    return passed


def shown(found: dict[str, Any]) -> str:
    """As a table for people."""
    lines = [f"{'task':28} {'way':28} {'delay':>6} {'seconds':>9} {'round trips':>12}"]
    lines += [
        f"{row['task']:28} {row['way']:28} {row['delay_ms']:>3} ms {row['seconds']:>9.3f} {row['round_trips']:>12}"
        for row in sorted(found["rows"], key=lambda row: (row["task"], row["delay_ms"], row["seconds"]))
    ]
    fleet_, memory_ = found["fleet"], found["memory"]
    lines += [
        "",
        f"{fleet_['hosts']} hosts: rca {fleet_['rca_s']} s ({fleet_['rca_answered']} answered),"
        f" parallel-ssh {fleet_['parallel_ssh_s']} s ({fleet_['parallel_ssh_answered']} answered)",
        f"300 MB of output: {memory_['grown_mb']} MB more memory ({memory_['total_mb']} MB in all), {memory_['seconds']} s",
        *(f"{_MARKS[good]} {name}" for name, good in found["passed"].items()),
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--quick", action="store_true", help="the gates, the fleet and the memory only")
    parser.add_argument("--memory", help=argparse.SUPPRESS)
    parser.add_argument("--fleet", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory or options.fleet:
        asyncio.run((_memory if options.memory else _fleet)(sys.stdin.read()))
        return 0
    found = asyncio.run(measured(quick=options.quick))
    print(json.dumps(found, indent=1) if options.format == "json" else shown(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
