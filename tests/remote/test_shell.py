"""The allow-list: what may run on a host, and how it is shown to a person."""

from __future__ import annotations

import pytest

from agent.domain.command import Command
from agent.domain.errors import UsageError
from agent.hosts import commands
from agent.hosts.shell import display, render

REFUSED = {
    "an unknown program": ("rm", "-rf", "/tmp/x"),
    "a shell": ("sh", "-c", "true"),
    "sed in place": ("sed", "-n", "-i", "--", "/tmp/x"),
    "sed that writes": ("sed", "-n", "-e", "1w /tmp/x", "--", "/etc/passwd"),
    "sed that executes": ("sed", "-n", "-e", "1e id", "--", "/etc/passwd"),
    "find that deletes": ("find", "/tmp", "-delete"),
    "find that writes": ("find", "/tmp", "-fprint", "/tmp/x"),
    "find that runs a shell": ("find", "/tmp", "-exec", "sh", "-c", "id", "{}", "+"),
    "find that runs for each": ("find", "/tmp", "-execdir", "grep", "x", "{}", "+"),
    "find that follows links": ("find", "-L", "/tmp", "-print0"),
    "find without a path": ("find", "-print0"),
    "find with a second command": ("find", "/tmp", "-exec", "grep", "-e", "x", "--", "{}", "+", "-ok", "rm", "{}", ";"),
    "tar that extracts": ("tar", "-x", "-f", "-"),
    "tar into a file": ("tar", "-c", "-f", "/tmp/x.tar", "--", "/etc"),
    "tar that runs a program": ("tar", "-c", "-f", "-", "--to-command=sh", "--", "/etc"),
    "tar by find that runs a program": ("find", "/etc", "-exec", "tar", "-c", "-I", "sh", "--", "{}", "+"),
    "grep that recurses": ("grep", "-R", "-e", "x", "--", "/etc"),
    "tail that follows": ("tail", "-f", "--", "/var/log/x"),
    "an operand that is a flag": ("cat", "-n"),
    "a relative operand": ("cat", "--", "etc/passwd"),
    "date that sets": ("date", "-s", "2020-01-01"),
    "journal that writes": ("journalctl", "--vacuum-time=1s"),
    "docker that changes": ("docker", "rm", "x"),
    "docker that changes behind a flag": ("docker", "--tail", "5", "--", "rm", "x"),
    "docker that runs": ("docker", "exec", "x", "sh"),
    "nvidia-smi that changes": ("nvidia-smi", "-r"),
    "nvidia-smi into a file": ("nvidia-smi", "--query-gpu=name", "--format=csv", "-f", "/tmp/x"),
    "nothing": (),
}
BUILT = [
    commands.grep("x", ["/a"]),
    commands.grep(["x", "-e"], ["/a", "b"], fixed=True, ignore_case=True, names_only=True, include=("*.py", "*.json")),
    commands.grep("x", ["/a"], as_text=True, include=()),
    commands.lines("/a", 1, 2),
    commands.read_bytes("/a"),
    commands.read_bytes("/a", offset=5, size=7),
    commands.tail_bytes("-n"),
    commands.stat(["/a", "-L"]),
    commands.stat(["/a"], follow=False),
    commands.find(["/a"], names=["x*"], kind="", min_depth=1, max_depth=2, newer_than="/b"),
    commands.list_dir("/a"),
    commands.stat_tree(["/a"]),
    commands.tar_tree(["/a"]),
    commands.tar(["/a"]),
    commands.proc_file(1, "cmdline"),
    commands.proc_link("self", "cwd"),
    commands.machine_file("/proc/meminfo"),
    commands.command_lines(),
    commands.ps(),
    commands.readlink("/a"),
    commands.sha256(["/a"]),
    commands.sha256_tree(["/a"]),
    commands.uname(),
    commands.identity(),
    commands.clock(),
    commands.gpus(),
    commands.journal(1),
    commands.container_logs("docker", "web-1"),
]


@pytest.mark.parametrize("argv", REFUSED.values(), ids=list(REFUSED))
def test_refused(argv: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        render(Command(argv=argv))


@pytest.mark.parametrize("command", BUILT, ids=lambda command: display(command)[:50])
def test_every_builder_renders(command: Command) -> None:
    assert render(command).split()[0] == command.argv[0]


def test_display_can_be_pasted() -> None:
    assert display(commands.lines("/a b/c.py", 3, 9)) == "sed -n -e '3,9p;9q' -- '/a b/c.py'"
    assert display(commands.grep("it's", ["/a"])) == (
        "find /a -name '*.py' '(' -type f -o -type l -exec test -f '{}' ';' ')' "
        "-exec grep -I -Z -n -e 'it'\"'\"'s' -- /dev/null '{}' +"
    )  # fmt: skip


@pytest.mark.parametrize("name", ["mem", "fd", "task", "root/etc/shadow", "../1/environ", "attr/current", ""])
def test_other_files_of_proc_are_refused(name: str) -> None:
    with pytest.raises(UsageError):
        commands.proc_file(1, name)


@pytest.mark.parametrize("pid", ["../etc", "1/../2", "", "-1", "*"])
def test_a_process_id_is_a_number(pid: str) -> None:
    with pytest.raises(UsageError):
        commands.proc_file(pid, "cmdline")


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_impossible_paths_are_refused(path: str) -> None:
    with pytest.raises(UsageError):
        commands.lines(path, 1, 2)
