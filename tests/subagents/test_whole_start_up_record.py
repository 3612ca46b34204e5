"""The start-up record in its full length: every setting that a release declares, printed as that release prints it, read back from a log.

One release prints the record's repr, a later one a dictionary. The names and defaults are the release's own; values are given to those
whose text is hard to read: quotes in quotes, commas and brackets in strings, lists, a dictionary, paths, None, an object.
"""

from __future__ import annotations

import ast
import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agent.cli.asking import given_log
from agent.domain.redaction import is_redacted
from agent.domain.verdict import Asked, AuditAnswer, Effective, Setting
from agent.probes.log import LogReading
from agent.subagents.observed import observed
from tests.wheels import WheelTree

SECRET = "sk-live-0123456789abcdef"
HARD: Mapping[str, Any] = {
    "model_path": "/models/it's here, (or [there]",
    "tokenizer_path": "/models/a=b",
    "served_model_name": 'the "large" one',
    "chat_template": "{% if x == 'y' %}\n\\{{ \"z\" }}{% endif %}",
    "json_model_override_args": json.dumps({"rope": {"type": "yarn", "factor": 4.0}, "it's": None}),
    "api_key": SECRET,
    "cuda_graph_bs": [1, 2, 4, *range(8, 513, 8)],
    "mm_process_config": {"image": {"max_pixels": 1048576}, "video": {"fps": 2, "it's": [1, {"a": None}]}},
    "mem_fraction_static": 0.8349999999999999,
    "uvicorn_access_log_exclude_prefixes": ["/health", "/metrics"],
    "speculative_token_map": "/data/hot_token_id.pt",
    "max_total_tokens": 271231,
    "ssl_keyfile": "/etc/ssl/private/server.key",
    "preferred_sampling_params": "{'temperature': 0.7}",
    "random_seed": 461038842,
}


def declared(body: list[ast.stmt]) -> Iterator[tuple[str, Any]]:
    """Fields with their defaults; what no literal is stays None."""
    for each in body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            try:
                yield each.target.id, ast.literal_eval(each.value) if each.value is not None else None
            except ValueError:
                yield each.target.id, None


def classes(path: Path) -> list[ast.ClassDef]:
    return [each for each in ast.parse(path.read_text("utf-8")).body if isinstance(each, ast.ClassDef)]


def as_repr(root: Path) -> tuple[str, dict[str, Any]]:
    """By the dataclass's own repr, one field an object that no literal is."""
    (record,) = (each for each in classes(root / "sglang/srt/server_args.py") if each.name == "ServerArgs")
    values = {**dict(declared(record.body)), **HARD}
    made = dataclasses.make_dataclass("ServerArgs", list(values))(**values)
    return repr(made).replace("lora_paths=None", "lora_paths=[LoRARef(lora_id='0f', lora_path='/l, [x')]"), values


def as_dictionary(root: Path) -> tuple[str, dict[str, Any]]:
    files = sorted((root / "sglang/srt/arg_groups/fields").glob("*.py"))
    found = (row for file in files for cls in classes(file) for row in declared(cls.body))
    values = {**dict(found), **HARD}
    values["lora_paths"] = None
    return repr(values).replace("'lora_paths': None", "'lora_paths': [LoRARef(lora_id='0f', lora_path='/l, [x')]"), values


FORMS = {"0.5.9": as_repr, "0.5.23": as_dictionary}
FEWEST = 320


@pytest.fixture(scope="module", params=FORMS)
def record(request: pytest.FixtureRequest, wheel_tree: WheelTree) -> tuple[str, dict[str, Any]]:
    return FORMS[request.param](wheel_tree("sglang", request.param))


def logged(text: str, directory: Path) -> LogReading:
    log = directory / "server.log"
    log.write_text(f"WARNING: started\n[2026-05-01 15:16:08] server_args={text}\n[2026-05-01 15:17:00] Load weight begin.\n", "utf-8")
    return given_log(str(log))


def test_every_field_comes_back(record: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    text, values = record
    reading = logged(text, tmp_path)
    assert reading.record is not None and reading.starts == 1
    assert len(values) >= FEWEST and len(text) > 10_000
    assert reading.record.unread == ("lora_paths",)
    read = dict(reading.record.values)
    masked = {name for name, value in read.items() if isinstance(value, str) and is_redacted(value)}
    assert "api_key" in masked and SECRET not in repr(reading)
    assert masked <= {"api_key", "admin_api_key", "ssl_keyfile_password"}
    expected = {name: value for name, value in values.items() if name not in {*masked, "lora_paths"}}
    assert {name: value for name, value in read.items() if name not in masked} == expected


def test_each_stands_beside_what_the_audit_says(record: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    text, values = record
    rows = tuple(
        Setting(name=name, flag="", asked=Asked(value=None, source="default"), effective=Effective(status="known", value=value))
        for name, value in values.items()
    )
    seen = observed(AuditAnswer(settings=rows), logged(text, tmp_path)).settings
    assert {row.name for row in seen if row.observed is None} == {"lora_paths"}
    differing = [row.name for row in seen if row.observed is not None and row.observed.value != row.effective.value]
    assert differing == ["api_key"], "a secret is not compared"
    assert {row.observed.source for row in seen if row.observed is not None} == {"log"}
