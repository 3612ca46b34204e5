"""What a line reads: values that a run of the program bears out, with the lines that gave them; of the object that the launch has made."""

from __future__ import annotations

import sys
import types
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pytest

from agent.domain.launch import Launch
from agent.domain.verdict import Effective, Used
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree
from tests.engines import NoFiles
from tests.evaluation.test_small_programs import FROM_OUTSIDE, NAMES, PROGRAMS, Base
from tests.evaluation.tracing import judged
from tests.evaluation.worlds import environment

CLIENT = """\
import argparse

import outside

MODELS = {}


def register(name):
    def decorate(cls):
        MODELS[name] = cls
        return cls

    return decorate


class Client:
    def __init__(self, url=None, add_start=False, key="sk-0123456789abcdef0123456789abcdef", **more):
        self.url = url
        self.add_start = add_start
        self.api_key = key

    def encode(self, text, special=False):
        if not special:
            special = False or self.add_start
        return outside.tokens(
            text,
            special=special,
            key=self.api_key,
        )

    def both(self, text):
        return self.encode(text), self.encode(text, special=False)


class Careful(Client):
    def encode_all(self, texts):
        return [self.encode(text, special=True) for text in texts]


@register("plain")
class Plain(Client):
    pass


@register("careful")
class AlsoCareful(Careful):
    pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="plain")
    parser.add_argument("--model-args", default="")
    args = parser.parse_args()
    given = dict(pair.split("=") for pair in args.model_args.split(",") if pair)
    client = MODELS[args.model](**given)
    outside.run(client)


if __name__ == "__main__":
    main()
"""
SPECIAL = 1 + CLIENT.splitlines().index("            special=special,")
"""Where the value is handed on."""


def uses(source: str, line: int, *flags: str) -> list[Used]:
    launch = Launch(argv=("python3", "-m", "client", *flags))
    return list(open_engine(MemoryTree({"client.py": source}), launch, files=NoFiles()).why(f"client.py:{line}").uses)


def test_the_value_of_a_variable_and_the_line_that_overrides_what_was_given() -> None:
    (found,) = uses(CLIENT, SPECIAL)
    assert (found.text, found.effective) == ("special", Effective(status="known", value=False))
    assert found.instance.startswith("Plain made at client.py:")
    override = CLIENT.splitlines()[found.from_[0].line - 1]
    assert override.strip() == "special = False or self.add_start"
    assert [(guard.condition, guard.truth) for guard in found.guards] == [("not special", "true")]
    assert any(CLIENT.splitlines()[place.line - 1].strip() == "self.add_start = add_start" for place in found.from_)


def test_a_launch_that_asks_for_it_gets_it() -> None:
    (found,) = uses(CLIENT, SPECIAL, "--model-args", "add_start=yes")
    assert found.effective == Effective(status="known", value="yes")


def test_calls_that_other_classes_make_on_their_own_objects_do_not_count() -> None:
    """Only ``Careful`` hands in True, and no such object is made; of one that is, both calls may be meant."""
    (found,) = uses(CLIENT, SPECIAL, "--model", "careful")
    assert found.instance.startswith("AlsoCareful")
    assert sorted(found.effective.values) == [False, True]


def test_a_value_that_the_program_may_set_later_is_not_told_as_the_one_at_the_start() -> None:
    changed = CLIENT.replace("    def both(", "    def reset(self):\n        self.add_start = outside.start()\n\n    def both(")
    line = 1 + changed.splitlines().index("            special=special,")
    (found,) = uses(changed, line)
    assert found.effective.status == "unknown"


def test_a_secret_is_masked() -> None:
    (found,) = uses(CLIENT, SPECIAL + 1)
    assert found.text == "self.api_key"
    assert "0123456789abcdef" not in repr(found)


def test_a_line_that_never_runs_reads_nothing() -> None:
    shut = CLIENT.replace(
        "        return outside.tokens(", "        if self.url:\n            print(self.url)\n        return outside.tokens("
    )
    line = 1 + shut.splitlines().index("            print(self.url)")
    assert uses(shut, line) == []
    assert [each.effective.value for each in uses(shut, line - 1)] == [None]


class _Values:
    """What names held when control came to their lines, in a run of the program."""

    def __init__(self, asked: Mapping[int, list[Used]]) -> None:
        self.asked = asked
        self.held: dict[tuple[int, str], list[Any]] = defaultdict(list)

    def called(self, frame: types.FrameType, event: str, _: Any) -> Any:
        inside = frame.f_code.co_filename == "<sample>" and not frame.f_code.co_name.startswith("<")
        return self.at_line if inside else None

    def at_line(self, frame: types.FrameType, event: str, _: Any) -> Any:
        for each in self.asked.get(frame.f_lineno, ()) if event == "line" else ():
            sys.settrace(None)
            try:
                self.held[frame.f_lineno, each.text].append(eval(each.text, frame.f_globals, frame.f_locals))
            except (NameError, AttributeError):
                pass
            finally:
                sys.settrace(self.called)
        return self.at_line


def _agrees(said: Effective, value: Any) -> bool:
    possible = said.values if said.status == "candidates" else (said.value,)
    shown = (value, list(value) if isinstance(value, tuple) else value, str(value))
    return said.status == "unknown" or any(each == one for each in possible for one in shown)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"environment_read_all_at_once"}))
def test_no_value_contradicts_the_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for variables that are set under a name that is worked out: an assumption that answers name."""
    source = (PROGRAMS / f"{name}.py").read_text(encoding="utf-8") + FROM_OUTSIDE
    engine = open_engine(MemoryTree({"sample.py": source}), Launch(argv=("python3", "sample.py")), files=NoFiles())
    statements = judged(engine.index, engine.reach("sample.py"))
    seen = _Values({each.first: list(engine.why(f"sample.py:{each.first}").uses) for each in statements})
    outside: Any = types.ModuleType("outside")
    outside.Base = Base
    monkeypatch.setitem(sys.modules, "outside", outside)
    module = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)
    before = sys.gettrace()
    with environment({}):
        sys.settrace(seen.called)
        try:
            exec(compile(source, "<sample>", "exec", dont_inherit=True), module.__dict__)
        finally:
            sys.settrace(before)
    wrong = [
        f"line {line}: {each.text} is {each.effective}, was {value!r}"
        for line, asked in seen.asked.items()
        for each in asked
        for value in seen.held[line, each.text]
        if not _agrees(each.effective, value)
    ]
    assert not wrong, "\n".join(wrong)
