"""A recording of one transport's shell, replayed, gives the same answers."""

from __future__ import annotations

from pathlib import Path

from agent.domain.command import Command
from agent.domain.launch import HostSpec
from agent.hosts import commands
from agent.hosts.recording import RecordingTransport
from agent.hosts.remote import RemoteHost
from agent.transports.local import LocalTransport
from agent.transports.replay import Recording, ReplayTransport


def _reads(tmp_path: Path) -> list[Command]:
    odd = tmp_path / "two\nlines 'quoted'.py"
    odd.write_text("needle\n")
    return [
        commands.uname(),
        commands.grep("needle", [str(tmp_path)]),
        commands.lines(str(odd), 1, 1),
        commands.stat([str(odd), "/missing"]),
    ]


async def test_replayed_answers_are_the_recorded_ones(tmp_path: Path) -> None:
    spec = HostSpec(name="here")
    recorder = RecordingTransport(LocalTransport())
    live = RemoteHost(recorder, spec)
    reads = _reads(tmp_path)
    first = await live.batch(reads)
    features = await live.features()
    await live.close()
    recorder.recording.save(tmp_path / "recording.json")

    again = RemoteHost(ReplayTransport(Recording.load(tmp_path / "recording.json")), spec)
    assert await again.features() == features
    second = await again.batch(list(reversed(reads)))
    plain = [(answer.status, answer.stdout, answer.stderr) for answer in first]  # type: ignore[union-attr]
    assert plain == [(answer.status, answer.stdout, answer.stderr) for answer in reversed(second)]  # type: ignore[union-attr]
    await again.close()


async def test_what_was_not_recorded_fails_and_says_so(tmp_path: Path) -> None:
    host = RemoteHost(ReplayTransport(Recording(ready="pid=1")), HostSpec(name="nowhere"))
    answer = commands.parse_grep(await host.run(commands.grep("x", ["/a"])))
    assert answer.hits == ()
    assert "not in the recording" in answer.problems[0]
    await host.close()
