"""Checks a document against its published JSON Schema in docs/schema."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

DIRECTORY = Path(__file__).parent.parent.parent / "docs" / "schema"


@cache
def validator(name: str) -> Draft202012Validator:
    """``name``: report, why, audit or reach. The schema itself is checked first."""
    schema = json.loads((DIRECTORY / f"rca.{name}.1.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def assert_valid(document: dict[str, Any]) -> None:
    """Chooses the schema by the document's own ``schema`` key; names every place that is wrong."""
    name = document["schema"].removeprefix("rca.").partition("/")[0]
    problems = [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(document)]
    assert not problems, "\n".join(problems[:20])
