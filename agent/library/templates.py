"""Playbook texts: Jinja2, sandboxed, and strict about what is not defined."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from jinja2 import nodes
    from jinja2.sandbox import ImmutableSandboxedEnvironment


class TemplateProblem(ValueError):
    """A template that cannot be read or rendered; the message says where and why."""


_NAME = re.compile(r"[\w.-]+")
_MOST: Final = 20_000
"""Characters of a template."""
_MOST_RENDERED: Final = 4_000_000
_OPERATORS: Final = frozenset("+ - * / // % **".split())
_PARTS: Final = frozenset(
    "Template Output TemplateData Name Const Getattr Getitem Slice List Filter Test If For CondExpr Compare Operand And Or Not Concat "
    "Tuple Add Sub Mul Div FloorDiv Mod Neg Pos".split()
)
"""What playbooks' texts are made of: values put in, conditions, one loop. Nothing that calls, remembers, or loads another template."""
FILTERS: Final = frozenset(
    "abs count default first int join last length lower max min round sort string sum title trim unique upper".split()
)
NAMES: Final = frozenset("config launch setting subject symptom".split())
"""What a playbook's text may ask for."""


@cache
def _environment(*, names_only: bool = False) -> ImmutableSandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Sandbox(ImmutableSandboxedEnvironment):
        """Calculates with numbers alone: ``'x' * 10 ** 10`` and ``'%1000000000d' % 1`` are texts that fill the memory."""

        intercepted_binops = _OPERATORS

        def getattr(self, obj: Any, attribute: str) -> Any:
            """A key before a method of its name: a config may have one called ``items``."""
            return obj[attribute] if isinstance(obj, Mapping) and attribute in obj else super().getattr(obj, attribute)

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            if not all(isinstance(side, (int, float)) for side in (left, right)) or operator == "**":
                raise TemplateProblem(f"`{operator}` is for numbers")
            return super().call_binop(context, operator, left, right)

    finalize = _only_a_name if names_only else None
    return Sandbox(undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True, finalize=finalize)


def _only_a_name(value: Any) -> str:
    text = str(value)
    if not _NAME.fullmatch(text):
        raise TemplateProblem(f"{text[:40]!r} is no name")
    return text


def check(text: str) -> None:
    """Raises TemplateProblem when ``text`` is no template, or has in it what a playbook's text may not have."""
    if "{" not in text:
        return
    if len(text) > _MOST:
        raise TemplateProblem(f"longer than {_MOST} characters")
    from jinja2 import TemplateSyntaxError, meta

    try:
        tree = _environment().parse(text)
        for line, what in _refused(tree):
            raise TemplateProblem(f"line {line}: {what}")
        unknown = sorted(meta.find_undeclared_variables(tree) - NAMES)
    except TemplateSyntaxError as problem:
        raise TemplateProblem(f"line {problem.lineno}: {problem.message}") from None
    except RecursionError:
        raise TemplateProblem("nested too deeply") from None
    if unknown:
        raise TemplateProblem(f"there is no {unknown[0]!r}: texts may ask for {', '.join(sorted(NAMES))}")


def _refused(tree: nodes.Template) -> Iterator[tuple[int, str]]:
    from jinja2 import nodes

    for node in tree.find_all(nodes.Node):
        kind = type(node).__name__
        if kind not in _PARTS:
            yield node.lineno, f"{kind} is not part of a playbook's text"
        elif isinstance(node, nodes.Filter) and node.name not in FILTERS:
            yield node.lineno, f"there is no filter {node.name!r}: there are {', '.join(sorted(FILTERS))}"
        elif isinstance(node, nodes.For) and (node.recursive or any(inner is not node for inner in node.find_all(nodes.For))):
            yield node.lineno, "a loop in a loop"


def render(text: str, values: Mapping[str, Any]) -> str:
    """The text with its values; a name that is not there raises TemplateProblem rather than leaving a hole."""
    return _rendered(text, values, names_only=False)


def render_query(text: str, values: Mapping[str, Any]) -> str:
    """A query, path or pattern with names filled in; a value with any other sign raises TemplateProblem: it came from a host."""
    return _rendered(text, values, names_only=True)


def _rendered(text: str, values: Mapping[str, Any], *, names_only: bool) -> str:
    if "{{" not in text and "{%" not in text:
        return text.strip()
    from jinja2 import TemplateError

    made, length = list[str](), 0
    try:
        for piece in _environment(names_only=names_only).from_string(text).generate(values):
            made.append(piece)
            length += len(piece)
            if length > _MOST_RENDERED:
                raise TemplateProblem(f"gives more than {_MOST_RENDERED} characters")
    except (TemplateError, TypeError, ArithmeticError, RecursionError) as problem:
        raise TemplateProblem(str(problem)) from None
    return "".join(made).strip()
