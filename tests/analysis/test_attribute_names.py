"""Which names a ``setattr`` can write, as far as the source writes them out; None where it may be any."""

from __future__ import annotations

import pytest

from agent.analysis.attribute_names import names_written
from agent.analysis.writers import reflective_by_text
from tests.analysis.trees import index_of

LOOP = "def write(x, fields):\n    for k, v in fields.items():\n        setattr(x, k, v)\n\n\n"
SPREAD = "def write(x, source, **fields):\n    for k, v in fields.items():\n        setattr(x, k, v)\n\n\n"


def names(source: str, **more: str) -> str | None:
    files = {"a.py": source, **{f"{name}.py": text for name, text in more.items()}}
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "setattr(" in text)
    found = names_written(index_of(files), "a.py", line)
    return None if found is None else " ".join(sorted(found))


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ('write(x, {"a": 1, "b": 2})', "a b"),
        ('write(x, dict(a=1, **{"b": 2}))', "a b"),
        ('write(x, {"a": 1} if x else {"b": 2})', "a b"),
        ('write(x, {"a": 1} | {"b": 2})', "a b"),
        ('write(x, {k: 1 for k in ("a", "b")})', "a b"),
        ('write(x, {"a": 1, **given})', None),
        ("write(x, {given: 1})", None),
        ("write(x, given)", None),
        ("write(x, x.fields)", None),
        ("write(x, made())", None),
        ("write(*given)", None),
        ("keep(write)", None),
        ('d = {}\n    d["a"] = 1\n    write(x, d)', "a"),
        ('d = {}\n    d.update(a=1, **{"b": 2})\n    write(x, d)', "a b"),
        ('d = {}\n    d.setdefault("a", 1)\n    write(x, d)', "a"),
        ('d = {}\n    d |= {"a": 1}\n    write(x, d)', "a"),
        ("d = {}\n    d[given] = 1\n    write(x, d)", None),
        ("d = {}\n    d.update(given)\n    write(x, d)", None),
        ('d = {}\n    write(x, d)\n    d.pop("a", None)', ""),
        ('d = {"a": 1}\n    e = d\n    e["b"] = 2\n    write(x, d)', None),
        ('d = {"a": 1}\n    fill(d)\n    write(x, d)', None),
        ('d = {"a": 1}\n    x.kept = d\n    write(x, d)', None),
        ('d, e = {"a": 1}, given\n    write(x, d)', None),
        ('for d in given:\n        write(x, d)', None),
        ('global d\n    d = {"a": 1}\n    write(x, d)', None),
    ],
)  # fmt: skip
def test_keys_of_a_dictionary(use: str, expected: str | None) -> None:
    fill = "def fill(d):\n    d['c'] = 3\n\n\n"
    assert names(f"{LOOP}{fill}def use(x, given):\n    {use}\n\n\nuse(1, 2)\n") == expected


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ('write(x, "here", a=1, b=2)', "a b"),
        ('write(x, source="here", a=1)', "a"),
        ('write(x, "here", **{"a": 1})', "a"),
        ('write(x, "here", **({"a": 1} if x else {}))', "a"),
        ('write(x, "here")', ""),
        ('write(x, "here", **given)', None),
        ('for name in ("a", "b"):\n        write(x, "here", **{name: 1})', "a b"),
        ('for name, v in (("a", 1), ("b", 2)):\n        write(x, "here", **{name: v})', "a b"),
        ('for name in [*given, "a"]:\n        write(x, "here", **{name: 1})', None),
        ('again(x, c=1)', "c"),
    ],
)  # fmt: skip
def test_keywords(use: str, expected: str | None) -> None:
    again = "def again(x, **more):\n    write(x, 'again', **more)\n\n\n" if "again" in use else ""
    assert names(f"{SPREAD}{again}def use(x, given):\n    {use}\n") == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("def made():\n    return {'a': 1}\n", "a"),
        ("def made():\n    found = {}\n    if found:\n        found['a'] = 1\n        return found\n    return dict(b=2)\n", "a b"),
        ("def made():\n    yield {'a': 1}\n", None),
        ("async def made():\n    return {'a': 1}\n", None),
        ("@wrapped\ndef made():\n    return {'a': 1}\n", None),
        ("def made():\n    return KEPT\n", None),
        ("from other import made\n", "z"),
        ("from outside import made\n", None),
        ("made = None\n", None),
    ],
)
def test_what_a_function_returns(made: str, expected: str | None) -> None:
    other = "def made():\n    return {'z': 1}\n"
    assert names(f"{made}\n\n{LOOP}def use(x):\n    write(x, made())\n", other=other) == expected


@pytest.mark.parametrize(
    ("function", "use", "expected"),
    [
        ("def write(x, name='a'):\n    setattr(x, name, 1)\n", "write(1)\nwrite(1, 'b')\n", "a b"),
        ("def write(x, name=None):\n    setattr(x, name, 1)\n", "write(1)\n", None),
        ("def write(x, name):\n    name = name or x\n    setattr(x, name, 1)\n", "write(1, 'a')\n", None),
        ("def write(x, *names):\n    for name in names:\n        setattr(x, name, 1)\n", "write(1, 'a')\n", None),
        ("def write(x, fields={}):\n    for k in fields:\n        setattr(x, k, 1)\n", "write(1)\nwrite(1, {'a': 2})\n", "a"),
        ("def write(x, fields):\n    more(fields)\n    for k in fields:\n        setattr(x, k, 1)\n", "write(1, {'a': 2})\n", None),
        ("def write(x, fields):\n    fields['b'] = 1\n    for k in fields:\n        setattr(x, k, 1)\n", "write(1, {'a': 2})\n", "a b"),
        ("@wrapped\ndef write(x, name):\n    setattr(x, name, 1)\n", "write(1, 'a')\n", None),
        ("class A:\n    def __init__(x, name):\n        setattr(x, name, 1)\n", "def made(x):\n    A.__init__(x, 'a')\n", None),
        ("def write(x, name):\n    if x:\n        write(x, name)\n    setattr(x, name, 1)\n", "write(1, 'a')\n", "a"),
        ("def write(x, name):\n    setattr(x, name, 1)\n", "", None),
    ],
)  # fmt: skip
def test_parameters(function: str, use: str, expected: str | None) -> None:
    assert names(f"{function}\n\n{use}") == expected


@pytest.mark.parametrize(
    ("statement", "worked_out"),
    [
        ('setattr(x, "mo" + "de", v)', True),
        ('setattr(x, "mode", v)', False),
        ("setattr(x, name, v)", True),
        ("setattr(x, 'mode', v)", False),
    ],
)
def test_a_name_put_together_from_texts_is_worked_out(statement: str, worked_out: bool) -> None:
    found = reflective_by_text(index_of({"a.py": f"def put(x, v, name):\n    {statement}\n"}), "setattr")
    assert found == ((("a.py", 2, "x"),) if worked_out else ())
