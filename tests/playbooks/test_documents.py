"""The page and the JSON Schema say what the program does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from agent.config import shipped_directory
from agent.domain import playbook as nouns
from agent.domain.formula_evaluation import FUNCTIONS
from agent.library.schema import Check, json_schema
from agent.library.templates import FILTERS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "playbooks.md").read_text(encoding="utf-8")
SHIPPED = sorted(shipped_directory("playbooks").glob("*.yaml"))


def test_the_published_schema_is_the_programs() -> None:
    assert json.loads((ROOT / "docs" / "schema" / "playbook.json").read_text(encoding="utf-8")) == json_schema()


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_playbooks_fit_the_published_schema(path: Path) -> None:
    jsonschema.Draft202012Validator(json_schema()).validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_the_page_names_every_function(name: str) -> None:
    assert re.search(rf"`[^`]*\b{name}\b", PAGE)


@pytest.mark.parametrize("name", list(Check.model_fields))
def test_the_page_shows_every_kind_of_check(name: str) -> None:
    assert re.search(rf"^      - {name}: ", PAGE, re.MULTILINE)


def test_the_page_names_the_schemas_keys() -> None:
    for key in json_schema()["properties"]:
        assert re.search(rf"^{key}:", PAGE, re.MULTILINE), key


def test_the_page_shows_the_version_of_the_schema() -> None:
    assert f"schema: {nouns.SCHEMA}" in PAGE


def test_the_page_names_every_filter_of_texts() -> None:
    assert f"`{' '.join(sorted(FILTERS))}`" in PAGE
