"""Model directories, hub caches, broken files, and the lines on which keys stand."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.values import Unknown
from agent.probes.model_config import config_path, flat_items, hub_folder, hub_snapshot, key_lines, parse_config


def test_where_a_config_lies() -> None:
    assert config_path("/m/x/", "/srv") == "/m/x/config.json"
    assert config_path("m/../n", "/srv") == "/srv/n/config.json"
    assert config_path("m", None) == ""
    assert config_path("/m", None) == "/m/config.json"


@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({"HOME": "/h"}, "/h/.cache/huggingface/hub/models--org--name"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/c"}, "/c/huggingface/hub/models--org--name"),
        ({"HF_HOME": "/hf"}, "/hf/hub/models--org--name"),
        ({"HF_HUB_CACHE": "/hub", "HF_HOME": "/hf"}, "/hub/models--org--name"),
        ({}, ""),
    ],
)
def test_the_hub_cache(env: dict[str, str], folder: str) -> None:
    assert hub_folder("org/name", env) == folder
    assert hub_folder("/abs/name", env) == ""
    assert hub_folder("plain", env) == ""


def test_a_snapshot() -> None:
    assert hub_snapshot("/h/models--a--b", "abc123\n") == "/h/models--a--b/snapshots/abc123/config.json"


@pytest.mark.parametrize(
    ("raw", "part"),
    [
        (b'{"a": 1,}', "line 1, column"),
        (b"", "line 1, column 1"),
        (b"[1]", "no JSON object"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "digits"),
    ],
)
def test_broken_files_say_where(raw: bytes, part: str) -> None:
    found = parse_config(raw, "/m/config.json")
    assert isinstance(found, Unknown) and part in found.reason and "/m/config.json" in found.reason


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse_config(b'\xef\xbb\xbf{"a": 1}', "x") == {"a": 1}


def test_keys_are_found_on_their_lines() -> None:
    raw = b'{\n "a": 1,\n "nested": {\n  "layers": [\n   1,\n   "]"\n  ],\n  "b": "{"\n },\n "c": {}\n}\n'
    assert key_lines(raw, ["a", "nested.layers", "nested.b", "nested", "c", "absent"]) == {
        "a": (2, 2),
        "nested.layers": (4, 7),
        "nested.b": (8, 8),
        "nested": (3, 9),
        "c": (10, 10),
    }


def test_a_key_is_the_one_that_is_meant() -> None:
    """Of several of one name: the outer one, else that of the language model's part, as the value is looked up."""
    raw = b'{"vision_config": {\n "hidden_size": 1},\n "text_config": {\n "hidden_size": 7168, "x": "\\"hidden_size\\": 2"},'
    raw += b'\n "a": 1, "a":\n 2}'
    assert key_lines(raw, ["hidden_size", "vision_config.hidden_size", "text_config", "a", "x"]) == {
        "hidden_size": (4, 4),
        "vision_config.hidden_size": (2, 2),
        "text_config": (3, 4),
        "a": (5, 6),
        "x": (4, 4),
    }


@pytest.mark.parametrize("raw", [b"", b"{", b"[1]", b'{"a"', b'{"a": 1,', b'{"a": {"b": 1}', b"{1: 2}", b'{"a": ' * 5000])
def test_a_broken_file_has_no_keys(raw: bytes) -> None:
    assert key_lines(raw, ["a"]) == {}


@given(st.dictionaries(st.text(min_size=1, max_size=6), st.integers() | st.lists(st.integers(), max_size=3), min_size=1, max_size=5))
def test_every_key_of_a_written_file_is_found(config: dict[str, object]) -> None:
    raw = json.dumps(config, indent=1).encode()
    for key, value in config.items():
        if "." in key:
            continue
        start, end = key_lines(raw, [key])[key]
        quoted = "\n".join(raw.decode().split("\n")[start - 1 : end])
        assert json.loads("{" + quoted.strip().rstrip(",") + "}") == {key: value}


def test_leaves() -> None:
    assert list(flat_items({"a": 1, "b": {"c": [1], "d": {"e": None}}})) == [("a", 1), ("b.c", [1]), ("b.d.e", None)]
