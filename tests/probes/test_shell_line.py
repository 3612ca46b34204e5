"""Pasted shell lines as launches: what a shell would start is what is judged."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.errors import UsageError
from agent.probes.products import Product, Script
from agent.probes.shell_line import parse_launch

SERVER = Product(name="demo", packages=("demo",), modules=("demo.server",), scripts=(Script(name="demo", subcommand="serve"),))
ARGV = ("python3", "-m", "demo.server", "--port", "8000")

LINES = {
    "plain": ("python3 -m demo.server --port 8000", {}),
    "variables in front": ("A=1 B='x y' python3 -m demo.server --port 8000", {"A": "1", "B": "x y"}),
    "nohup, redirected, in the background": ("nohup python3 -m demo.server --port 8000 > log 2>&1 &", {}),
    "line continuations": ("python3 -m demo.server \\\n    --port \\\n 8000\n", {}),
    "continuation with a trailing blank": ("python3 -m demo.server \\ \n --port 8000", {}),
    "Windows line ends": ("python3 -m demo.server \\\r\n --port 8000\r\n", {}),
    "export before": ("export A=1\npython3 -m demo.server --port 8000", {"A": "1"}),
    "assigned, not exported": ("PORT=8000; python3 -m demo.server --port $PORT", {}),
    "default of a variable": ("python3 -m demo.server --port ${PORT:-8000}", {}),
    "one variable for several words": ('ARGS="--port 8000"; python3 -m demo.server $ARGS', {}),
    "env": ("env -u HOME A=1 python3 -m demo.server --port 8000", {"A": "1"}),
    "numactl": ("numactl --cpunodebind=0 -m 0 python3 -m demo.server --port 8000", {}),
    "taskset with a mask": ("taskset 0xff python3 -m demo.server --port 8000", {}),
    "taskset with a list": ("taskset -c 0-7 python3 -m demo.server --port 8000", {}),
    "timeout, nice, stdbuf": ("timeout -k 5 10m nice -n 5 stdbuf -oL python3 -m demo.server --port 8000", {}),
    "sudo with a variable": ("sudo -u llm A=1 python3 -m demo.server --port 8000", {"A": "1"}),
    "torchrun": ("torchrun --nproc_per_node 8 -m demo.server --port 8000", {}),
    "python -m torch.distributed.run": ("python3 -m torch.distributed.run --nproc 8 -m demo.server --port 8000", {}),
    "docker run": ("docker run --gpus all -e A=1 image:tag python3 -m demo.server --port 8000", {"A": "1"}),
    "bash -c": ("bash -lc 'source env.sh && python3 -m demo.server --port 8000'", {}),
    "a chain": ("cd /srv && mkdir -p log && python3 -m demo.server --port 8000 | tee log/x", {}),
    "a prompt": ("root@gpu-07:~$ python3 -m demo.server --port 8000", {}),
    "a comment": ("# start it\npython3 -m demo.server --port 8000 # like this", {}),
    "something computed elsewhere": ("LOG=x_$(date +%F).log\npython3 -m demo.server --port 8000 > $LOG", {}),
}


@pytest.mark.parametrize("name", LINES)
def test_the_server_command_is_found(name: str) -> None:
    text, environment = LINES[name]
    launch = parse_launch(text, [SERVER]).launch
    assert launch.argv == ARGV
    assert dict(launch.env) == environment


def test_a_console_script_is_a_server_command() -> None:
    assert parse_launch("exec demo serve /models/x --tp 8", [SERVER]).launch.argv == ("demo", "serve", "/models/x", "--tp", "8")


def test_the_directory_and_the_log_are_kept() -> None:
    parsed = parse_launch("cd /srv/app && cd models && python3 -m demo.server >>/var/log/demo.log 2>&1 &", [SERVER])
    assert parsed.launch.cwd == "/srv/app/models"
    assert parsed.stdout == "/var/log/demo.log"


def test_standard_error_alone_is_not_the_log() -> None:
    assert parse_launch("python3 -m demo.server 2>errors", [SERVER]).stdout == ""


def test_other_programs_are_taken_as_they_stand() -> None:
    """accelerate launch may itself be what is judged."""
    assert parse_launch("accelerate launch --zero_stage 2 train.py", [SERVER]).launch.argv == (
        "accelerate",
        "launch",
        "--zero_stage",
        "2",
        "train.py",
    )
    assert parse_launch("black --check 'a b'", []).launch.argv == ("black", "--check", "a b")


def test_a_container_brings_an_environment_of_its_own() -> None:
    assert not parse_launch("docker run -e A=1 image python3 -m demo.server", [SERVER]).launch.env_complete
    assert parse_launch("python3 -m demo.server", [SERVER]).launch.env_complete


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("python3 -m demo.server --model $MODEL", "--env MODEL=VALUE"),
        ("python3 -m demo.server --model $(cat name)", "$(cat name)"),
        ("python3 -m demo.server --model `cat name`", "`cat name`"),
        ("python3 -m demo.server --model ${X%.bin}", "${X%.bin}"),
        ("python3 -m demo.server 'open", "does not close"),
        ('python3 -m demo.server "open', "does not close"),
        ("python3 -m demo.server $(open", "does not close"),
        ("", "no command"),
        ("A=1", "no command"),
        ("# only a comment", "no command"),
    ],
)
def test_what_only_a_running_shell_knows_is_said(text: str, part: str) -> None:
    with pytest.raises(UsageError) as problem:
        parse_launch(text, [SERVER])
    assert part in str(problem.value)


def test_given_variables_answer_dollar_names() -> None:
    launch = parse_launch("python3 -m demo.server --model $MODEL", [SERVER], env={"MODEL": "/m"}).launch
    assert launch.argv[-1] == "/m"


words = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=("Cs",)), max_size=12)


@given(st.lists(words, max_size=5))
def test_quoted_words_come_back(arguments: list[str]) -> None:
    """shlex.join is understood, whatever the words hold."""
    import shlex

    argv = ["demo", "serve", *arguments]
    assert list(parse_launch(shlex.join(argv), [SERVER]).launch.argv) == argv


@pytest.mark.parametrize(
    "text",
    [
        r"""printf '%s\0' a\ b 'c d' "e \"f\" \$g \x" $'h\ti' j"k"'l' m\\n "" ''""",
        'printf \'%s\\0\' "a $X b" $X \'$X\' "${X}c" $Y "$Y" x$X',
        'printf "%s\\0" a#b # comment',
        "printf '%s\\0' a=b \"c\\\nd\" e\\\nf",
        "printf '%s\\0' {a,b}x",
    ],
)
def test_words_are_those_of_a_real_shell(text: str) -> None:
    """Compared with bash, where the text means the same (brace expansion is left alone by --norc +B)."""
    assignment = "X='1 2'; Y=; "
    expected = subprocess.run(["bash", "--norc", "+B", "-c", assignment + text], capture_output=True, check=True).stdout.split(b"\0")[:-1]
    launch = parse_launch(assignment + text, []).launch
    assert [word.encode() for word in launch.argv[2:]] == expected
