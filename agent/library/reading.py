"""Reads a playbook file: strict YAML, the schema, the references between its parts; every error names the entry."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any, Final

from agent.domain.errors import PlaybookInvalid
from agent.domain.playbook import CAUSES, GuardClaim, Playbook, VerdictClaim

MAX_BYTES: Final = 512_000
_MAX_NODES: Final = 50_000
_MERGE: Final = "tag:yaml.org,2002:merge"
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def read_playbook(path: Path) -> Playbook:
    """Raises PlaybookInvalid with the path of the wrong entry, such as ``targets[2].query``."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise PlaybookInvalid(f"cannot be read: {problem.strerror}", where="file", file=str(path)) from None
    return parse_playbook(content, str(path))


def raw_playbook(path: Path) -> dict[str, Any]:
    """The file of a playbook that was read before, as plain data: nothing in it is shared with anything else in it."""
    found: dict[str, Any] = json.loads(json.dumps(_load_yaml(path.read_bytes(), str(path))))
    return found


def parse_playbook(content: bytes, origin: str) -> Playbook:
    """As ``read_playbook``, from bytes; ``origin`` names them in errors."""
    from pydantic import ValidationError

    from agent.library.schema import Playbook as Schema

    try:
        raw = _load_yaml(content, origin)
        for location in _with_control_characters(raw, ()):
            raise PlaybookInvalid("a control character, which a terminal would obey", where=_where(location), file=origin)
        playbook = Schema.model_validate(raw).build(origin)
    except RecursionError:
        raise PlaybookInvalid("nested too deeply", where="file", file=origin) from None
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        raise PlaybookInvalid(_message(first), where=_where(first["loc"]), file=origin) from None
    for where, what in _loose_ends(playbook):
        raise PlaybookInvalid(what, where=where, file=origin)
    return playbook


def _load_yaml(content: bytes, origin: str) -> Any:
    import yaml

    if len(content) > MAX_BYTES:
        raise PlaybookInvalid(f"larger than {MAX_BYTES} bytes", where="file", file=origin)
    try:
        raw = yaml.load(content, Loader=_strict_loader())
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else "file"
        what = getattr(problem, "problem", None) or str(problem).split("\n")[0]
        raise PlaybookInvalid(what, where=where, file=origin) from None
    if not isinstance(raw, dict):
        raise PlaybookInvalid("a playbook is a mapping that begins with `schema: rca.playbook/1`", where="file", file=origin)
    if sum(1 for _ in zip(_nodes(raw), range(_MAX_NODES + 1), strict=False)) > _MAX_NODES:
        raise PlaybookInvalid(f"more than {_MAX_NODES} entries once its aliases are expanded", where="file", file=origin)
    return raw


def _strict_loader() -> Any:
    """A safe loader that refuses a key given twice, which YAML loaders usually drop in silence; what is no value has its line named."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    def construct_object(loader: Any, node: Any, deep: bool = False) -> Any:
        try:
            return base.construct_object(loader, node, deep=deep)
        except ValueError as problem:  # a month 13, a number of five thousand digits
            raise yaml.constructor.ConstructorError(None, None, str(problem), node.start_mark) from None

    loader_type: Any = type("StrictLoader", (base,), {"construct_object": construct_object})

    def construct_mapping(loader: Any, node: Any) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                raise yaml.constructor.ConstructorError(
                    None, None, "merge keys (<<) are not read here: write the keys out", key_node.start_mark
                )
            key = loader.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise yaml.constructor.ConstructorError(None, None, "a key is a word, not a list or mapping", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is given twice", key_node.start_mark)
            seen.add(key)
        mapping: dict[Hashable, Any] = base.construct_mapping(loader, node, deep=True)
        return mapping

    loader_type.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, construct_mapping)
    return loader_type


def _nodes(value: Any) -> Iterator[None]:
    yield None
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _nodes(item)


def _with_control_characters(value: Any, location: tuple[int | str, ...]) -> Iterator[tuple[int | str, ...]]:
    """Where texts hold what is no text; a pattern that wants one writes its escape."""
    if isinstance(value, str) and _CONTROL.search(value):
        yield location
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in parts:
        yield from _with_control_characters(item, (*location, key if isinstance(key, int) else str(key)))


def _where(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "file"


def _message(error: Any) -> str:
    message: str = error["msg"].removeprefix("Value error, ")
    return _PLAINER.get(error["type"], message)


_PLAINER: Final = {
    "extra_forbidden": "no such key in the schema",
    "missing": "is required",
}


def _loose_ends(playbook: Playbook) -> Iterator[tuple[str, str]]:
    """Ids given twice, and claims about targets that are not there."""
    for family in ("targets", "hypotheses"):
        seen: set[str] = set()
        for index, item in enumerate(getattr(playbook, family)):
            if item.id in seen:
                yield f"{family}[{index}].id", f"{item.id!r} is given twice"
            seen.add(item.id)
    ids = {target.id for target in playbook.targets}
    for number, hypothesis in enumerate(playbook.hypotheses):
        for place, claim in enumerate(hypothesis.checks):
            if isinstance(claim, (GuardClaim, VerdictClaim)) and claim.target not in ids:
                kind = "guard" if isinstance(claim, GuardClaim) else "verdict"
                yield f"hypotheses[{number}].checks[{place}].{kind}.target", f"{claim.target!r} is no target of this playbook"
    if not any(hypothesis.role in CAUSES for hypothesis in playbook.hypotheses):
        yield "hypotheses", "one of them has the role `cause`"
