"""Options become hosts, launches and facts; what cannot be understood is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from agent.cli.options import Output, What, Where, output_options, plain_value, read_facts, what_options, where_options
from agent.domain.errors import UsageError


def parsed(*arguments: str) -> dict[str, Any]:
    kept: dict[str, Any] = {}

    @click.command()
    @where_options
    @what_options
    @output_options("md", "json", terminal="text")
    def command(where: Where, what: What, output: Output) -> None:
        kept.update(where=where, what=what, output=output)

    result = CliRunner().invoke(command, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return kept


def test_hosts_with_their_options() -> None:
    where = parsed(
        "--host", "me@gpu-07:2222", "--host", "[::1]:22", "--identity", "a", "--identity", "b", "--jump", "bastion", "--user", "you"
    )["where"]
    first, second = where.specs()
    assert (first.name, first.user, first.port, first.identities, first.jump) == ("gpu-07", "you", 2222, ("a", "b"), ("bastion",))
    assert (second.name, second.port) == ("::1", 22)


def test_a_command_for_one_host_refuses_several(tmp_path: Path) -> None:
    assert Where(hosts=("a",)).one().name == "a"
    with pytest.raises(UsageError, match="2 hosts are named"):
        Where(hosts=("gpu[1-2]",)).one()


def test_the_local_transport_needs_no_host() -> None:
    (spec,) = parsed("--transport", "local")["where"].specs()
    assert (spec.name, spec.transport) == ("localhost", "local")


def test_facts_from_a_file_and_from_the_line(tmp_path: Path) -> None:
    (tmp_path / "facts.json").write_text(json.dumps({"a": 1, "packages": {"x": None}}))
    what = parsed("--facts", str(tmp_path / "facts.json"), "--assume", "a=2", "--assume", "b=[1, 2]", "--env", "X=a=b", "--pid", "7")[
        "what"
    ]
    assert what.assume == {"a": 2, "packages": {"x": None}, "b": [1, 2]}
    assert what.env == {"X": "a=b"}
    assert what.pid == 7


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("0.5", 0.5),
        ("true", True),
        ("True", True),
        ("None", None),
        ("null", None),
        ("x", "x"),
        ('"1"', "1"),
        ("[8, 0]", [8, 0]),
        ("", ""),
    ],
)
def test_values(text: str, value: object) -> None:
    assert plain_value(text) == value


def test_a_pasted_launch_with_variables_given_beside() -> None:
    launch = parsed("--launch", "A=1 nohup python3 -m pkg.server --model $M &", "--env", "M=/m", "--cwd", "/srv")["what"].given_launch()
    assert launch.argv == ("python3", "-m", "pkg.server", "--model", "/m")
    assert dict(launch.env) == {"A": "1", "M": "/m"}
    assert launch.cwd == "/srv"


@pytest.mark.parametrize("content", ["[1]", "text", "{", "a: b: c"])
def test_files_that_hold_no_facts(tmp_path: Path, content: str) -> None:
    (tmp_path / "facts").write_text(content)
    with pytest.raises(UsageError, match="--facts"):
        read_facts(str(tmp_path / "facts"))


def test_the_default_format_depends_on_where_the_result_goes() -> None:
    assert parsed()["output"].format == "md"
    assert parsed("--format", "json")["output"].format == "json"
