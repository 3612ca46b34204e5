"""What each construct is lowered to, against samples that carry their expectation after each top-level statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.analysis import ir
from agent.analysis.syntax import parse
from tests.analysis.shown import shown

SAMPLES = sorted((Path(__file__).parent.parent / "golden" / "syntax").glob("*.py"))
MARK = b"#= "


def expectations(source: bytes) -> tuple[bytes, list[str]]:
    """The sample without its marks, and the marks in order."""
    lines = source.split(b"\n")
    return b"\n".join(line for line in lines if not line.startswith(MARK)), [
        line.removeprefix(MARK).decode() for line in lines if line.startswith(MARK)
    ]


def marks(module: ir.Module) -> list[str]:
    return [
        *(f"{each.line}-{each.end} {shown(each)}" for each in module.body),
        *(f"{each.line}-{each.end} error: {each.text!r}" for each in module.errors),
    ]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_each_statement_is_lowered_as_its_sample_says(sample: Path) -> None:
    source, expected = expectations(sample.read_bytes())
    assert marks(parse(sample.name, source)) == expected
    assert expected
