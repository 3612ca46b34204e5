"""The formula language: strict when read, three-valued when used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.facts import ABSENT, Facts
from agent.domain.formula import Formula, FormulaError
from agent.domain.launch import Launch
from agent.domain.truth import Truth
from agent.domain.values import Known, Unknown

FACTS = Facts(
    launch=Launch(argv=("--speculative-algorithm", "eagle", "--tp-size", "8")),
    configs={"target": {"hidden_size": 7168, "architectures": ["LlamaForCausalLM"]}, "draft": {"eagle_config": {"ids": [2, 30, 58]}}},
    log=("Decode batch, accept len: 1.00", "Decode batch, accept len: 2.10"),
)


@pytest.mark.parametrize(
    ("text", "worked"),
    [
        ("len(config.draft.eagle_config.ids) * config.target.hidden_size", "3 x 7168"),
        ("(launch.flags.tp_size + 1) * -2 // 3", "(8 + 1) x -2 // 3"),
        ("config.target.hidden_size", ""),
        ("config.target.absent * 2", ""),
        ("2 * host.none", ""),
    ],
)
def test_a_calculation_is_shown_with_its_numbers(text: str, worked: str) -> None:
    assert Formula.parse(text).worked(FACTS) == worked


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("config.target.hidden_size", 7168),
        ("len(config.draft.eagle_config.ids) * config.target.hidden_size", 21504),
        ("upper(launch.flags.speculative_algorithm) in ['EAGLE', 'NEXTN']", True),
        ("config.target.architectures[0]", "LlamaForCausalLM"),
        ("first(launch.flags.tp, launch.flags.tp_size)", 8),
        ("-1 + 2 * 3 // 4 % 5", 0),
        ("count(log.lines, 'accept len')", 2),
        ("number_at(log.lines, 'accept len: ([0-9.]+)')", 2.1),
        (r"number_at(log.lines, 'accept len:\s+(\d+\.\d+)')", 2.1),
        ("1 < launch.flags.tp_size <= 8", True),
        ("'a' if present(launch.flags.tp_size) else 'b'", "a"),
        ("max(1, 2, launch.flags.tp_size)", 8),
        ("matches(config.target.architectures, '^Llama')", True),
    ],
)
def test_values(text: str, value: object) -> None:
    assert Formula.parse(text).value(FACTS) == Known(value=value)


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("launch.flags.dp_size == 1", Truth.FALSE),
        ("launch.flags.dp_size != 1", Truth.TRUE),
        ("launch.flags.dp_size > 1", Truth.UNKNOWN),
        ("launch.flags.dp_size in [1, 2]", Truth.FALSE),
        ("launch.flags.enable_dp_attention", Truth.FALSE),
        ("not launch.flags.enable_dp_attention", Truth.TRUE),
        ("absent(launch.flags.dp_size)", Truth.TRUE),
        ("present(config.draft.no_key)", Truth.FALSE),
        ("present(host.gpu_count)", Truth.UNKNOWN),
        ("host.gpu_count > 1 and launch.flags.tp_size == 9", Truth.FALSE),
        ("host.gpu_count > 1 or launch.flags.tp_size == 8", Truth.TRUE),
        ("host.gpu_count > 1 and launch.flags.tp_size == 8", Truth.UNKNOWN),
        ("not host.gpu_count", Truth.UNKNOWN),
        ("config.target.hidden_size < 'a'", Truth.UNKNOWN),
        ("config.target.hidden_size / 0 > 1", Truth.UNKNOWN),
        ("config.target.architectures[7]", Truth.FALSE),
        ("first(launch.flags.dp_size, host.gpu_count) == 1", Truth.UNKNOWN),
    ],
)
def test_truth_keeps_absent_and_unknown_apart(text: str, truth: Truth) -> None:
    assert Formula.parse(text).truth(FACTS) is truth


def test_an_unknown_names_the_missing_fact() -> None:
    value = Formula.parse("1 + host.gpu_count * 2").value(FACTS)
    assert value == Unknown(reason="the host fact gpu_count was not collected")


def test_a_missing_element_is_absent() -> None:
    assert Formula.parse("config.target.architectures[7]").value(FACTS) is ABSENT


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("config.target.hidden_size **", "not an expression"),
        ("2 ** 9999999", "Pow"),
        ("__import__('os').system('true')", "no function"),
        ("().__class__", "not part"),
        ("lambda: 1", "Lambda"),
        ("[x for x in log.lines]", "ListComp"),
        ("launch.flags.x is None", "compare with"),
        ("matches(log.lines, launch.flags.x)", "written out"),
        ("matches(log.lines, '(')", "no regular expression"),
        ("len()", "takes 1"),
        ("nothing.at.all", "is no fact"),
        ("launch.pid", "no fact of that family"),
        ("f'{1}'", "not part"),
        ("b'x'", "only text"),
        ("{'a': 1}", "Dict"),
        ("len(*log.lines)", "plain arguments"),
        ("log.lines[0:2]", "as index"),
        ("(x := 1)", "NamedExpr"),
        ("1" * 700, "longer than"),
    ],
)
def test_what_is_outside_the_language_is_refused_when_read(text: str, complaint: str) -> None:
    with pytest.raises(FormulaError, match=complaint):
        Formula.parse(text)


@given(st.text(max_size=80))
def test_any_text_is_a_formula_or_refused(text: str) -> None:
    try:
        formula = Formula.parse(text)
    except FormulaError:
        return
    formula.value(FACTS)


@given(st.integers(-9, 9), st.integers(-9, 9), st.sampled_from(["+", "-", "*", "//", "%", "<", "==", ">="]))
def test_arithmetic_is_that_of_python(left: int, right: int, op: str) -> None:
    text = f"({left}) {op} ({right})"
    value = Formula.parse(text).value(Facts())
    try:
        assert value == Known(value=eval(text))
    except ZeroDivisionError:
        assert isinstance(value, Unknown)


def test_the_patterns_that_it_looks_for_in_the_log_are_listed() -> None:
    formula = Formula.parse(r"matches(config.target.name, 'a') or number_at(log.lines, 'x (\d+)') > 1 or matches(log.lines, 'y')")
    assert set(formula.log_patterns) == {r"x (\d+)", "y"}


def test_names_are_listed_in_order() -> None:
    assert Formula.parse("log.lines and config.target.a.b + launch.flags.x").names == ("log.lines", "config.target.a.b", "launch.flags.x")
