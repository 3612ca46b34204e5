"""The fact namespace: three answers that never look alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.domain.facts import ABSENT, Facts, parse_flags
from agent.domain.investigation import Symptom
from agent.domain.launch import Launch
from agent.domain.values import Fact, Known, OneOf, Unknown

KIMI = {"architectures": ["KimiK25ForConditionalGeneration"], "text_config": {"hidden_size": 7168, "rope": {"theta": 1}}}
FACTS = Facts(
    package="sglang",
    version="0.5.9",
    symptom=Symptom.parse("hidden dim 7168"),
    launch=Launch(argv=tuple("python3 -m x --tp-size 8 --ratio=0.5 --on --bs 1 2".split()), env={"A": "1"}, env_complete=False),
    configs={"target": KIMI, "draft": ABSENT},
    log=("one", "two"),
    host=(
        Fact(name="torch.cuda.is_available", value=Known(value=True)),
        Fact(name="package.cutlass", value=OneOf(values=("a", "b"))),
    ),
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("subject.package", "sglang"),
        ("symptom.numbers", (7168,)),
        ("launch.flags.tp_size", 8),
        ("launch.flags.ratio", 0.5),
        ("launch.flags.on", True),
        ("launch.flags.bs", [1, 2]),
        ("launch.env.A", "1"),
        ("config.target.hidden_size", 7168),
        ("config.target.rope.theta", 1),
        ("config.target.text_config.hidden_size", 7168),
        ("log.lines", ("one", "two")),
        ("host.torch.cuda.is_available", True),
    ],
)
def test_a_fact_that_is_there(name: str, value: object) -> None:
    assert FACTS.get(name) == Known(value=value)


@pytest.mark.parametrize("name", ["launch.flags.dp_size", "config.target.no_such_key", "config.draft.hidden_size"])
def test_absent_is_what_was_looked_up_and_not_there(name: str) -> None:
    assert FACTS.get(name) is ABSENT


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("launch.env.B", "was not read"),
        ("host.gpu_count", "was not collected"),
        ("host.package.cutlass", "one of 'a', 'b'"),
        ("setting.tp_size", "was not evaluated"),
    ],
)
def test_unknown_names_what_is_missing(name: str, reason: str) -> None:
    answer = FACTS.get(name)
    assert isinstance(answer, Unknown)
    assert reason in answer.reason


def test_without_anything_collected_nothing_is_absent() -> None:
    empty = Facts()
    for name in ("subject.version", "launch.flags.tp_size", "config.target.hidden_size", "log.lines"):
        assert isinstance(empty.get(name), Unknown)


def test_a_complete_environment_makes_a_missing_name_absent() -> None:
    assert Facts(launch=Launch(argv=(), env={})).get("launch.env.B") is ABSENT


def test_a_key_of_the_top_level_wins_over_the_nested_one() -> None:
    facts = Facts(configs={"target": {"hidden_size": 1, "text_config": {"hidden_size": 2}}})
    assert facts.get("config.target.hidden_size") == Known(value=1)


def test_names_outside_the_namespace_are_refused() -> None:
    for name in ("nothing.here", "launch.pid.x", "log.size", "symptom.colour"):
        with pytest.raises(KeyError):
            FACTS.get(name)


def test_the_last_of_two_equal_flags_wins() -> None:
    assert parse_flags(["--a", "1", "--a", "2", "-x", "--neg", "-5"]) == {"a": [2, "-x"], "neg": -5}


def test_a_variable_is_absent_only_where_that_is_known() -> None:
    def told(launch: Launch) -> object:
        return Facts(launch=launch).get("launch.env.B")

    partly = Launch(argv=(), env={"A": "1"}, env_complete=False)
    assert isinstance(told(partly), Unknown)
    assert isinstance(told(replace(partly, env_hidden=("B", "C"))), Unknown), "it is set, to what is not known"
    assert told(replace(partly, env_hidden=("C",))) is ABSENT
    assert told(replace(partly, env_complete=True)) is ABSENT
