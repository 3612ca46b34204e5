"""What a question tells beside its answer: models whose config.json says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.cli.asking import offline_engine, unusable_configs
from agent.cli.options import What
from agent.domain.launch import Launch

LAUNCH = "python3 -m sglang.launch_server --model-path models/target --speculative-draft-model-path {root}/draft"


def told(root: Path) -> list[str]:
    return list(unusable_configs(Launch(argv=tuple(LAUNCH.format(root=root).split()), cwd=str(root))))


def write(root: Path, target: str | None, draft: str | None) -> None:
    for folder, text in (("models/target", target), ("draft", draft)):
        (root / folder).mkdir(parents=True)
        if text is not None:
            (root / folder / "config.json").write_text(text)


def test_configs_that_are_there_are_no_news(tmp_path: Path) -> None:
    write(tmp_path, "{}", '{"a": 1}')
    assert told(tmp_path) == []


def test_configs_that_are_missing_are_named(tmp_path: Path) -> None:
    write(tmp_path, None, None)
    assert told(tmp_path) == [
        f"what the target model's config says is not known: there is no {tmp_path}/models/target/config.json"
        " (relative paths start from --cwd DIR)",
        f"what the draft model's config says is not known: there is no {tmp_path}/draft/config.json",
    ]


@pytest.mark.parametrize(("text", "why"), [('{"a": 1,}', "is not valid JSON"), ("[1]", "holds no JSON object")])
def test_configs_that_are_broken_say_where(tmp_path: Path, text: str, why: str) -> None:
    write(tmp_path, text, "{}")
    (problem,) = told(tmp_path)
    assert why in problem and "the target model's config" in problem


def test_a_directory_in_its_place_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "{}", None)
    (tmp_path / "draft" / "config.json").mkdir()
    assert ["not a regular file" in problem for problem in told(tmp_path)] == [True]


def test_a_launch_without_models_tells_nothing() -> None:
    assert list(unusable_configs(Launch(argv=("python3", "-m", "sglang.launch_server")))) == []
    assert list(unusable_configs(Launch(argv=("sleep", "1")))) == []


@pytest.mark.parametrize(("quiet", "rows"), [(False, 2), (True, 0)])
def test_it_is_told_on_standard_error_unless_it_shall_be_quiet(
    tmp_path: Path, quiet: bool, rows: int, capsys: pytest.CaptureFixture[str]
) -> None:
    offline_engine(What(tree=str(tmp_path), launch=LAUNCH.format(root=tmp_path), cwd=str(tmp_path)), quiet=quiet)
    said = capsys.readouterr()
    assert (said.out, said.err.count("rca: what the")) == ("", rows)
