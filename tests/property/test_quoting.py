"""Laws of quoting: any argument but NUL arrives unchanged through dash, bash and busybox, alone and inside a rendered command."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.domain.command import Command
from agent.domain.errors import UsageError
from agent.hosts.commands import grep, lines, to_bytes, to_text
from agent.hosts.shell import quote, render
from tests import busybox

SHELLS = {"dash": ("dash",), "bash": ("bash",), "bash as sh": ("bash", "--posix"), "busybox": ("busybox", "sh")}
_words = st.one_of(
    st.binary(max_size=60).filter(lambda raw: b"\0" not in raw).map(to_text),
    st.text(alphabet="'\"\\$`!*?[]{}()<>|&;~#=%+-./ \t\n\rab\x01\x7f", max_size=30),
)


@pytest.fixture(params=SHELLS, ids=list(SHELLS))
def shell(request: pytest.FixtureRequest) -> tuple[str, ...]:
    found = SHELLS[request.param]
    if found[0] == "busybox":
        return (busybox.program(), "sh")
    if shutil.which(found[0]) is None:
        pytest.skip(f"needs {found[0]}")
    return found


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(_words, min_size=1, max_size=8))
def test_words_arrive_unchanged(shell: tuple[str, ...], words: list[str]) -> None:
    script = to_bytes(f"set -f;printf '%s\\0' {' '.join(quote(word) for word in words)}\n")
    answer = subprocess.run([*shell, "-s"], input=script, capture_output=True, check=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    assert answer.stdout == b"".join(to_bytes(word) + b"\0" for word in words)
    assert answer.stderr == b""


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pattern=_words, path=_words.filter(bool))
def test_a_rendered_command_is_its_argument_vector(shell: tuple[str, ...], pattern: str, path: str) -> None:
    command = grep(pattern, [path], fixed=True)
    echo = b"set -f;gI=-I gZ=-Z;find(){ printf '%s\\0' find \"$@\";}\n"
    answer = subprocess.run([*shell, "-s"], input=echo + to_bytes(render(command)) + b"\n", capture_output=True, check=True)
    assert answer.stdout == b"".join(to_bytes(word) + b"\0" for word in command.argv)


@given(word=st.text(max_size=20))
def test_nul_is_refused(word: str) -> None:
    with pytest.raises(UsageError):
        quote(f"{word}\0")


@given(program=st.text(max_size=12), rest=st.lists(_words, max_size=4))
def test_nothing_renders_but_the_allowed_programs(program: str, rest: list[str]) -> None:
    from agent.hosts.shell import RULES

    if program not in RULES and program != "find":
        with pytest.raises(UsageError):
            render(Command(argv=(program, *rest)))


@given(start=st.integers(-3, 10**6), length=st.integers(-3, 10**6))
def test_line_ranges_are_whole_or_refused(start: int, length: int) -> None:
    if start < 1 or length < 0:
        with pytest.raises(UsageError):
            lines("/a", start, start + length)
    else:
        assert render(lines("/a", start, start + length)) == f"sed -n -e '{start},{start + length}p;{start + length}q' -- /a"
