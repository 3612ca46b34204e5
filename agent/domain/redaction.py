"""Secrets out of text: what looks like one by its name, its shape or its place becomes a placeholder; line numbers stay true.

Names are found by looking for a few signs ("token", "key", ...) with ``str.find``, and only then is a pattern tried: a log of
megabytes has thousands of words and a handful of signs.
A value that ``is_redacted`` is unknown to whoever reads it; it is not the string it shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from agent.domain.launch import Launch
from agent.domain.secret_blocks import mask_rows, mask_scalars
from agent.domain.secret_shapes import redact_shapes
from agent.domain.secrets import OPEN, is_redacted, is_secret, is_strong, placeholder

__all__ = [
    "is_redacted",
    "is_secret",
    "placeholder",
    "redact_argv",
    "redact_environment",
    "redact_facts",
    "redact_json",
    "redact_text",
    "without_secrets",
]

_SIGNS = ("token", "secret", "pass", "pwd", "pw", "psk", "key", "auth", "cred", "cookie", "sig", "session", "jwt", "bearer")
_LONGEST_NAME = 80
_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_QUOTED = r"""\\{0,9}"(?:[^"\\\n]|\\(?!")[^\n]){0,4000}?\\{0,9}"|\\{0,9}'(?:[^'\\\n]|\\(?!')[^\n]){0,4000}?\\{0,9}'"""
_BARE = r"(?:Bearer|Basic|Token|Digest|Negotiate)[ \t]{1,9}[^\s,;\"']{1,400}|[^\s,;&\"'()\[\]{}]{1,400}"
_VALUE = rf"(?P<value>[bruf]{{0,2}}(?:{_QUOTED})|\[[^\]\n]{{0,4000}}\]|\([^)\n]{{0,4000}}\)|\w{{1,80}}\([^)\n]{{0,4000}}\)|{_BARE})"
_ASSIGNED = re.compile(rf"[\w.-]{{0,80}}(?:\\{{0,9}}[\"']?\]?[ \t]{{0,80}}(?::=|=>|[=:])[ \t]{{0,80}}){_VALUE}")
_ASSIGNED_QUOTED = re.compile(
    rf"[\w.-]{{0,80}}(?:\\{{0,9}}[\"']?\]?[ \t]{{0,80}}(?::=|=>|[=:])[ \t]{{0,80}})(?P<value>[bruf]{{0,2}}(?:{_QUOTED}))"
)
_REST = re.compile(r"[^\s,;&\"'()\[\]{}]*")
_FLAGGED = re.compile(rf"[\w.-]{{0,80}}(?:[\"'],[ \t]{{0,9}}|[ \t]{{1,80}})(?![\"']?-){_VALUE}")
_HEADER = re.compile(r"[ \t]*:[ \t]*(?P<value>[^\n\"']+)")
_IN_QUOTES = re.compile(r"(?P<open>[bruf]{0,2}\\*[\"'])(?P<inner>.*?)(?P<close>\\*[\"'])", re.DOTALL)
# In source code, names like ``token_header = "Authorization"`` abound: only what could be a real secret is one.
_LITERAL = re.compile(r"(?=.*\d)\S{6,}")
# What may stand between a secret's name and a value that looks random: sentences, tables, markup, types, colours, lists of pairs.
_LOOSE = re.compile(
    r"(?:[ \t=:>\"'`|,()\[\]\\]|->|<-|%3[AD]|&\w{1,40}[ ]|\x1b\[[\d;]*m|\n[ \t]*(?:- )?(?=[\"']?value\b|[\"'])"
    r"|\b(?:is|was|are|value|str|bytes|[Ff]inal|[Oo]ptional|SecretStr|default|[bruf]{1,2})\b){1,60}?"
    r"(?P<value>(?=[^\s\"'<>,;|=]{0,200}?\d)(?=(?:[^\s\"'<>,;|=]{0,60}?[A-Za-z]){3})[^\s\"'`<>,;|()\[\]{}\\/:=.-][^\s\"'`<>,;|()\[\]{}\\=]{7,}={0,2})(?![\w=])"
)
_KEY_OWNER = re.compile(r"\b(?:api|secret|access|private|admin|auth|licen[sc]e|master|encryption|signing)[ ]\Z", re.IGNORECASE)
_ROW_START = re.compile(r"[ \t]*(?:(?:export|set|setenv|-)[ \t]+)*[\"']?")
_ANOTHER_NAME = re.compile(r"[\s,;&?][\w.-]+[\"']?[ \t]*[=:]|[\"'{}\[\]()#]")
_MORE = re.compile(r"(?:[,;](?![\w.-]+[ \t]*[=:])[^\s,;&\"'()\[\]{}=]+)+")
_MORE_OF_MANY = re.compile(r"(?:[,;][ \t]?(?![\w.-]+[ \t]*[=:])[^\s,;&\"'()\[\]{}=]+)+")
_MANY = ("keys", "tokens", "secrets", "passwords", "creds", "credentials")
_LONGEST_VALUE = 400  # of one that is looked at; one that is masked is masked to its end
_LONGEST_OBJECT = 20_000
_DEEPEST_OBJECT = 12
_OBJECT = re.compile(r"\\*[\"']?[ \t]*[=:][ \t]*\{")
_CALL = re.compile(r"\w+\(.*\)", re.DOTALL)
_CLOSING_QUOTE = re.compile(r"\\*[\"'](?=[ \t]*:)")


def redact_text(text: str, *, literals_only: bool = False) -> str:
    """Any text: logs, configuration, process lists. ``literals_only``: source code, where only quoted values are secrets."""
    if "\r\n" in text:
        return _with_line_ends(text, literals_only)
    text = redact_shapes(text)
    if not literals_only:
        text = mask_rows(text)
    return _mask_values(text, literals_only)


def _with_line_ends(text: str, literals_only: bool) -> str:
    """Of text as Windows writes it: what is looked for at the end of a row stands before its carriage return."""
    bare = [row.rstrip("\r") for row in text.split("\n")]
    ends = [row[len(kept) :] for row, kept in zip(text.split("\n"), bare, strict=True)]
    found = redact_text("\n".join(bare), literals_only=literals_only).split("\n")
    return "\n".join(row + end for row, end in zip(found, ends, strict=True))


def redact_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """An argument vector: ``--name value``, ``--name=value``, ``NAME=value``, ``-u user:value``, and secrets inside an argument."""
    found, name = [], ""
    for number, word in enumerate(argv):
        before = " ".join(["", *argv[max(number - 2, 0) : number], ""])
        together = redact_shapes(before + word)
        if name and not word.startswith("--") and is_secret(name, word):
            found.append(placeholder(name))
        elif together.startswith(before) and together != before + word:
            found.append(together.removeprefix(before))
        else:
            found.append(redact_text(word))
        if word.startswith("-"):
            name = word.lstrip("-") if "=" not in word else ""
        elif not name.lower().endswith(_MANY):
            name = ""
    return tuple(found)


def without_secrets(launch: Launch) -> Launch:
    """The launch with secrets of its arguments and variables masked, as every launch is that was read from a host."""
    env = {name: placeholder(name) if is_secret(name, value) else redact_text(value) for name, value in launch.env.items()}
    return replace(launch, argv=redact_argv(launch.argv), env=env)


def redact_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts that somebody gave, with the secrets among their values masked."""
    return {name: _masked_value(name.rpartition(".")[2], value) for name, value in facts.items()}


def _masked_value(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _masked_value(name if is_strong(name) else str(key), item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_masked_value(name, item) for item in value)
    if not isinstance(value, str):
        return value
    return placeholder(name) if is_secret(name, value) else redact_text(value)


def redact_environment(items: Iterable[str], allowed: Sequence[str]) -> list[str]:
    """``NAME=value`` items: values of names outside ``allowed`` (fnmatch patterns) are masked, the names are kept."""
    found = []
    for item in items:
        name, equals, value = item.partition("=")
        shown = any(fnmatchcase(name, pattern) for pattern in allowed) and not is_secret(name, value)
        found.append(f"{name}={redact_text(value) if shown else placeholder(name)}" if equals else redact_text(item))
    return found


def redact_json(text: str) -> str:
    """A JSON document, by structure (a list or object below a secret's name is masked throughout); other text by its rows."""
    try:
        document = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return redact_text(text)
    for name, value in sorted(set(_secret_strings(document, "")), key=lambda pair: -len(pair[1])):
        for ascii_only in (True, False):
            text = text.replace(json.dumps(value, ensure_ascii=ascii_only), json.dumps(placeholder(name)))
    return redact_text(text)


def _mask_values(text: str, literals_only: bool) -> str:
    """Values after names that sound secret: ``name = value``, ``name: value``, ``--name value``, and what reads like it."""
    pieces: list[str] = []
    done = 0
    for at, sign in _signs(text):
        found = _value_after(text, at, at + len(sign), literals_only) if at >= done else None
        if found is not None:
            start, end, instead = found
            pieces += [text[done:start], instead]
            done = end
    return "".join([*pieces, text[done:]])


def _value_after(text: str, at: int, behind: int, literals_only: bool) -> tuple[int, int, str] | None:
    """Where the value of the name around the sign at ``at`` lies, if that is a secret, and what stands in its place."""
    match = (_ASSIGNED_QUOTED if literals_only else _ASSIGNED).match(text, behind)
    flagged = None if match or literals_only else _FLAGGED.match(text, behind)
    name, start = _name_around(text, at, behind)
    plain, end = name.strip("-."), start + len(name)
    if "." in name and text[start - 1 : start] == "/":  # a message about a file is no assignment
        return None
    if name.lower().endswith("cookie") and not literals_only:
        match = _HEADER.match(text, end) or match
    found = match or (flagged if name.startswith("-") else None)
    if found is not None and (span := _secret_span(text, plain, start, found, literals_only)):
        return (*span, _in_place(plain, text[end : span[0]], text[slice(*span)]))
    if not literals_only and (inside := _object_after(text, plain, end)):
        return inside
    return _loosely_after(text, plain, start, end, literals_only)


def _secret_span(text: str, name: str, start: int, found: re.Match[str], literals_only: bool) -> tuple[int, int] | None:
    """The place of an assigned value that is a secret, with all that belongs to it."""
    quoted = _IN_QUOTES.fullmatch(found["value"])
    inner = quoted["inner"] if quoted else found["value"]
    if _CALL.fullmatch(inner) and not is_strong(name):
        return None
    if literals_only and not (quoted and _LITERAL.fullmatch(inner)):
        return None
    if not is_secret(name, inner):
        return None
    first, last = found.span("value")
    if last - first >= _LONGEST_VALUE:
        last = _REST.match(text, last).end()  # type: ignore[union-attr]  # it matches everywhere
    if quoted or literals_only or text[first] in "[(" or not is_strong(name):
        return first, last
    if _ROW_START.fullmatch(text, text.rfind("\n", 0, start) + 1, start):
        row_end = text.find("\n", first)
        rest = text[first : row_end if row_end >= 0 else len(text)].rstrip(" \t\r,;")
        if len(rest) > last - first and not _ANOTHER_NAME.search(rest):
            return first, first + len(rest)
    more = (_MORE_OF_MANY if name.lower().endswith(_MANY) else _MORE).match(text, last)
    return first, more.end() if more else last


def _object_after(text: str, name: str, end: int) -> tuple[int, int, str] | None:
    """``name: {...}`` in one row: every value in it."""
    opening = _OBJECT.match(text, end)
    if opening is None or not is_strong(name):
        return None
    depth, first = 0, opening.end() - 1
    for at in range(first, min(len(text), first + _LONGEST_OBJECT)):
        depth += (text[at] in "{[(") - (text[at] in "}])")
        if depth > _DEEPEST_OBJECT:
            return None
        if depth == 0 or text[at] == "\n":
            return first, at, mask_scalars(name, text[first:at])
    return None


def _loosely_after(text: str, name: str, start: int, end: int, literals_only: bool) -> tuple[int, int, str] | None:
    """A value that looks random and stands right behind a secret's name, whatever joins them."""
    if text.endswith(OPEN, 0, start):
        return None
    if not is_strong(name):
        owner = _KEY_OWNER.search(text, max(start - 12, 0), start) if name.lower() in ("key", "keys") else None
        if owner is None:
            return None
        name = owner[0] + name
    match = _LOOSE.match(text, end)
    if match is None or not is_secret(name, match["value"]):
        return None
    first, last = match.span("value")
    if literals_only and text[first - 1] not in "\"'":
        return None
    return first, last, placeholder(name)


def _name_around(text: str, at: int, behind: int) -> tuple[str, int]:
    """The whole name of which the sign is a part, and where it begins; dashes of a flag included."""
    start, end = at, behind
    while start > 0 and at - start < _LONGEST_NAME and text[start - 1] in _NAME_CHARACTERS:
        start -= 1
    while end < len(text) and end - behind < _LONGEST_NAME and text[end] in _NAME_CHARACTERS:
        end += 1
    return text[start:end], start


def _in_place(name: str, between: str, value: str) -> str:
    """The placeholder in the value's quotes; in those of the name where the value, a number or a list, has none: it stays JSON."""
    quoted = _IN_QUOTES.fullmatch(value)
    if quoted:
        return f"{quoted['open']}{placeholder(name)}{quoted['close']}"
    quote = _CLOSING_QUOTE.match(between)
    return f"{quote[0]}{placeholder(name)}{quote[0]}" if quote else placeholder(name)


def _signs(text: str) -> list[tuple[int, str]]:
    """Every place where a sign stands, whatever its case, in order."""
    lower = text.lower()
    if len(lower) != len(text):  # a letter whose small form is longer
        lower = text.translate(_ASCII_LOWER)
    found = []
    for sign in _SIGNS:
        at = lower.find(sign)
        while at >= 0:
            found.append((at, sign))
            at = lower.find(sign, at + len(sign))
    return sorted(found)


def _secret_strings(node: Any, name: str) -> Iterator[tuple[str, str]]:
    """Strings below a secret's name, each with that name; ``{"name": NAME, "value": ...}`` counts as one."""
    if isinstance(node, dict):
        named = next((node[key] for key in ("name", "key") if isinstance(node.get(key), str) and "value" in node), "")
        for key, item in node.items():
            label = named if key == "value" and is_strong(named) else str(key)
            if node.get("kind") == "Secret" and key in ("data", "stringData"):
                label = "secret"
            yield from _secret_strings(item, name if is_strong(name) else label)
    elif isinstance(node, list):
        for item in node:
            yield from _secret_strings(item, name)
    elif isinstance(node, str) and is_secret(name, node):
        yield name, node
