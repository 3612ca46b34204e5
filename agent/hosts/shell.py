"""The only door from a ``Command`` to shell text: an allow-list of programs and flags, and the quoting.

Every argument becomes one single-quoted word. A program, flag or operand that is not in ``RULES`` is refused before
anything is sent, so a mistake in a builder cannot change a host.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agent.domain.command import Command
from agent.domain.errors import UsageError

_PLAIN = re.compile(r"[A-Za-z0-9_@%:,./-][A-Za-z0-9_@%+:,./-]*|\+|--[a-z-]+=[A-Za-z0-9_.,]+")
_NUMBER = re.compile(r"\d{1,18}")
_ANY = re.compile(r".*", re.DOTALL)
_PATH = re.compile(r"\.?/.*", re.DOTALL)
_NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What one program may be given: bare ``flags``, flags with a value and its pattern, and the pattern of operands.

    Operands stand after ``--``, unless ``bare`` ones are allowed before. ``verb``: the first argument a program of many uses must have.
    ``gnu``: flags that only the GNU program has; in the shell they are a variable that is empty elsewhere.
    """

    verb: str = ""
    bare: bool = False

    flags: frozenset[str] = frozenset()
    valued: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    operands: re.Pattern[str] = _PATH
    gnu: Mapping[str, str] = field(default_factory=dict)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COUNT = re.compile(r"\+?\d{1,18}")
_SED = re.compile(r"(?:\d{1,12},\d{1,12}p;)+\d{1,12}q")
_STAT = re.compile(r"[%fsYZdiugn ]+")
_FIELDS = re.compile(r"[a-z_]+(,[a-z_]+)*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_OWN_ADDRESS = re.compile(r"http://(?:127\.0\.0\.1|\[::1\]):\d{1,5}/[A-Za-z0-9_/-]*")
"""Of the host itself: what the request asks for never leaves it."""

RULES: Mapping[str, Rule] = {
    "cat": Rule(),
    "head": Rule(valued={"-c": _COUNT, "-n": _COUNT}),
    "tail": Rule(valued={"-c": _COUNT, "-n": _COUNT}),
    "sed": Rule(flags=_words("-n"), valued={"-e": _SED}),
    "stat": Rule(flags=_words("-L"), valued={"-c": _STAT}),
    "readlink": Rule(flags=_words("-f")),
    "sha256sum": Rule(),
    "grep": Rule(flags=_words("-n -l -F -i -s"), valued={"-e": _ANY}, gnu={"-I": "$gI", "-Z": "$gZ", "-a": "$ga"}),
    "test": Rule(flags=_words("-f")),
    "tar": Rule(flags=_words("-c -h"), valued={"-f": re.compile("-")}),
    "ps": Rule(valued={"-o": _FIELDS}, operands=_NOTHING, gnu={"-e": "$pe"}),
    "uname": Rule(flags=_words("-a"), operands=_NOTHING),
    "id": Rule(operands=_NOTHING),
    "date": Rule(flags=_words("-u"), operands=re.compile(r"\+%s"), bare=True),
    "df": Rule(flags=_words("-P -k")),
    "nvidia-smi": Rule(flags=_words("-L --format=csv"), operands=re.compile(r"--query-gpu=[a-z_.]+(,[a-z_.]+)*"), bare=True),
    "journalctl": Rule(
        flags=_words("--no-pager"), valued={"-o": re.compile("cat"), "-n": _NUMBER}, operands=re.compile(r"_PID=\d+"), bare=True
    ),
    "curl": Rule(
        verb="-q",
        flags=_words("-s -S -f -g"),
        valued={"-m": _NUMBER, "--noproxy": re.compile(r"\*"), "--proto": re.compile("=http")},
        operands=_OWN_ADDRESS,
    ),
    "docker": Rule(verb="logs", valued={"--tail": _NUMBER}, operands=_NAME),
    "podman": Rule(verb="logs", valued={"--tail": _NUMBER}, operands=_NAME),
}
_FIND = Rule(
    flags=_words("-print0 -o -prune ( ) !"),
    valued={
        "-mindepth": _NUMBER,
        "-maxdepth": _NUMBER,
        "-type": re.compile("[fdl]"),
        "-name": _ANY,
        "-path": _ANY,
        "-newer": _PATH,
    },
)
_FIND_RUNS = _words("grep stat tar sha256sum test")


def quote(word: str) -> str:
    """One shell word for any text but NUL, the same in dash, bash, busybox and every POSIX shell."""
    if "\0" in word:
        raise UsageError("a NUL byte cannot be part of a shell word")
    if _PLAIN.fullmatch(word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def display(command: Command) -> str:
    """The command as a person may paste it into a shell."""
    return " ".join(quote(word) for word in command.argv)


def render(command: Command) -> str:
    """Shell text of an allowed command; raises UsageError for any other."""
    argv = command.argv
    if not argv:
        raise UsageError("an empty command")
    if argv[0] == "find":
        return _render_find(argv)
    return " ".join(_render_simple(argv))


def _render_simple(argv: Sequence[str], *, extra: frozenset[str] = frozenset()) -> list[str]:
    """One program by its rule; ``extra`` operands are those that find itself puts in."""
    rule = RULES.get(argv[0])
    if rule is None:
        raise UsageError(f"{argv[0]!r} is not one of the programs that may run on a host")
    if rule.verb and argv[1:2] != (rule.verb,) and argv[1:2] != [rule.verb]:
        raise UsageError(f"{argv[0]} may only {rule.verb}")
    first = 2 if rule.verb else 1
    return [*map(quote, argv[:first]), *_arguments(argv[0], rule, argv[first:], lambda word: word in extra)]


def _arguments(program: str, rule: Rule, words: Sequence[str], extra: Callable[[str], bool]) -> list[str]:
    rendered: list[str] = []
    rest = list(words)
    flags_ended = False
    while rest:
        word = rest.pop(0)
        if flags_ended or extra(word):
            allowed = extra(word) or bool(rule.operands.fullmatch(word))
            rendered.append(quote(word))
        elif word == "--":
            allowed, flags_ended = True, True
            rendered.append(word)
        elif word in rule.gnu:
            allowed = True
            rendered.append(rule.gnu[word])
        elif word in rule.valued and rest:
            value = rest.pop(0)
            allowed = bool(rule.valued[word].fullmatch(value))
            rendered += [quote(word), quote(value)]
        else:
            allowed = word in rule.flags or (rule.bare and bool(rule.operands.fullmatch(word)))
            rendered.append(quote(word))
        if not allowed:
            raise UsageError(f"{program}: {word!r} is not one of the arguments that may be used on a host")
    return rendered


def _render_find(argv: Sequence[str]) -> str:
    """Paths, tests and ``-exec`` of a read program ended by ``+`` or ``;`` (here, find's own words are checked first)."""
    rendered, rest = ["find"], list(argv[1:])
    while rest and _PATH.fullmatch(rest[0]):
        rendered.append(quote(rest.pop(0)))
    if len(rendered) == 1:
        raise UsageError("find needs a path that is absolute or starts with ./")
    while rest:
        if rest[0] == "-exec":
            end = next((i for i, word in enumerate(rest) if word in ("+", ";") and rest[i - 1] == "{}"), 0)
            if end < 2 or rest[1] not in _FIND_RUNS:
                raise UsageError(f"find: {rest[1:2]} may not be run on a host")
            rendered += ["-exec", *_render_simple(rest[1:end], extra=frozenset({"{}"})), quote(rest[end])]
            del rest[: end + 1]
            continue
        taken = 2 if rest[0] in _FIND.valued and len(rest) > 1 else 1
        rendered += _arguments("find", _FIND, rest[:taken], lambda word: False)
        del rest[:taken]
    return " ".join(rendered)
