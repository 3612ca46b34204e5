"""Splits pasted shell text into words and operators, as POSIX sh would, without running or expanding anything yet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent.domain.errors import UsageError

_OPERATOR = re.compile(r"&&|\|\||;;|&>>?|\||;|&|\(|\)|\n")
_REDIRECT = re.compile(r"(?P<fd>\d*)(?P<op><<<|<<-?|>>|>\||>&|<&|<>|>|<)")
_CONTINUED = re.compile(r"\\[ \t]*\r?\n|\\[ \t]*\Z")
_VARIABLE = re.compile(r"\$(?:(?P<name>[A-Za-z_]\w*|[@*#?$!\d-])|\{(?P<braced>[A-Za-z_]\w*)(?::?(?P<op>[-=?+])(?P<word>[^}]*))?\})")
_ANSI_C = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}
_CLOSER = {"$(": ")", "${": "}", "`": "`"}
_BLANK = " \t\r"
_ENDS_WORD = _BLANK + "\n;&|()<>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of a word. ``variable``: the name to look up, ``default`` what ``${NAME:-default}`` says (None: nothing).

    ``computed``: text that only a running shell could turn into a value, like ``$(date)``.
    """

    text: str = ""
    computed: str = ""
    variable: str = ""
    default: str | None = None
    quoted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One shell word, not yet expanded."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """``&&``, ``;``, ``|`` and the like, or a redirection with its file descriptor (``fd`` -1: not written)."""

    text: str
    redirects: bool = False
    fd: int = -1


Token = Word | Operator


def split_shell(text: str) -> tuple[Token, ...]:
    """The tokens of a pasted line or script. Raises UsageError on an open quote."""
    return tuple(_Scanner(text).tokens())


class _Scanner:
    """A cursor over the text; each method reads one thing and moves on."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def tokens(self) -> Iterator[Token]:
        while self._skip_blank():
            operator = self._operator()
            yield operator if operator else self._word()

    def _skip_blank(self) -> bool:
        """Blanks, line continuations and comments; False at the end."""
        while self.at < len(self.text):
            continued = _CONTINUED.match(self.text, self.at)
            if continued:
                self.at = continued.end()
            elif self.text[self.at] in _BLANK:
                self.at += 1
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return True
        return False

    def _operator(self) -> Operator | None:
        redirect = _REDIRECT.match(self.text, self.at)
        if redirect:
            self.at = redirect.end()
            return Operator(text=redirect["op"], redirects=True, fd=int(redirect["fd"]) if redirect["fd"] else -1)
        found = _OPERATOR.match(self.text, self.at)
        if not found:
            return None
        self.at = found.end()
        both = found[0].startswith("&>")
        return Operator(text=">" if both else found[0], redirects=both)

    def _word(self) -> Word:
        parts: list[Part] = []
        while self.at < len(self.text) and self.text[self.at] not in _ENDS_WORD:
            parts.extend(self._parts())
        return Word(parts=tuple(parts))

    def _parts(self) -> Iterator[Part]:
        """The piece at the cursor; a double-quoted string may be several."""
        char = self.text[self.at]
        if self.text.startswith("$'", self.at):
            yield self._ansi_c()
        elif char == "'":
            yield self._single()
        elif char == '"':
            yield from self._double()
        elif char == "\\":
            yield self._escaped()
        elif char in "$`":
            yield self._expansion(quoted=False)
        else:
            start = self.at
            self._skip_until(_ENDS_WORD + "'\"\\$`")
            yield Part(text=self.text[start : self.at])

    def _skip_until(self, marks: str) -> None:
        while self.at < len(self.text) and self.text[self.at] not in marks:
            self.at += 1

    def _escaped(self) -> Part:
        """A backslash keeps the next character; before a line's end both vanish."""
        continued = _CONTINUED.match(self.text, self.at)
        self.at = continued.end() if continued else self.at + 2
        return Part(text="" if continued else self.text[self.at - 1 : self.at], quoted=not continued)

    def _single(self) -> Part:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise _open_quote("'")
        start, self.at = self.at + 1, end + 1
        return Part(text=self.text[start:end], quoted=True)

    def _double(self) -> Iterator[Part]:
        self.at += 1
        yield Part(quoted=True)  # "" is a word too
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return
            if char in "$`":
                yield self._expansion(quoted=True)
            elif char == "\\":
                yield self._escaped_in_double()
            else:
                start = self.at
                self._skip_until('"\\$`')
                yield Part(text=self.text[start : self.at], quoted=True)
        raise _open_quote('"')

    def _escaped_in_double(self) -> Part:
        follower = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        kept = "" if follower == "\n" else follower if follower in '"\\$`' else "\\" + follower
        return Part(text=kept, quoted=True)

    def _expansion(self, *, quoted: bool) -> Part:
        found = _VARIABLE.match(self.text, self.at)
        if found is None:
            return self._computed(quoted=quoted)
        self.at = found.end()
        default = found["word"] if found["op"] in ("-", "=") else None
        return Part(variable=found["name"] or found["braced"], default=default, quoted=quoted)

    def _computed(self, *, quoted: bool) -> Part:
        """``$(...)``, ``${...%...}`` and backticks, kept as text; a lone ``$`` is itself."""
        opener = "`" if self.text[self.at] == "`" else self.text[self.at : self.at + 2]
        if opener not in _CLOSER:
            self.at += 1
            return Part(text="$", quoted=quoted)
        start, depth = self.at, 0
        self.at += len(opener)
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == _CLOSER[opener]:
                if not depth:
                    return Part(computed=self.text[start : self.at], quoted=quoted)
                depth -= 1
            elif char == opener[-1]:
                depth += 1
        raise _open_quote(opener)

    def _ansi_c(self) -> Part:
        self.at += 2
        text: list[str] = []
        while self.at < len(self.text) and self.text[self.at] != "'":
            char = self.text[self.at]
            if char == "\\":
                self.at += 1
                char = _ANSI_C.get(self.text[self.at : self.at + 1], "\\" + self.text[self.at : self.at + 1])
            text.append(char)
            self.at += 1
        if self.at >= len(self.text):
            raise _open_quote("'")
        self.at += 1
        return Part(text="".join(text), quoted=True)


def _open_quote(mark: str) -> UsageError:
    return UsageError(f"the launch line opens {mark} and does not close it", hint="paste the whole command")
