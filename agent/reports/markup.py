"""Foreign text in Markdown: nothing in it can become markup, a link, a mention, a reference or a command of the tracker.

GitHub and GitLab act on more than Markdown: ``@name``, ``#12``, ``!3``, ``GH-8``, commit hashes, ``:smile:``, and a line that
starts with ``/close``. None of them acts inside a code span, so a word that could mean anything goes into one.
"""

from __future__ import annotations

import re

from agent.domain.visible import code_spans, in_backticks, one_line, visible

_ACTIVE = re.compile(
    r"[`*_{}\[\]<>#|~^$@&\\]"  # Markdown, HTML, mentions, references
    r"|://|^www\."  # links
    r"|^[-+=/%:]|^!."  # lists, rules, quick actions, milestones, emoji, merge requests
    r"|:\w+:|%\w|^[A-Za-z]{2,}-\d+$"  # emoji, milestones, keys of tickets
    r"|^(?=\w*\d)(?=\d*[a-fA-F])[0-9a-fA-F]{7,40}$"  # commits
)

_NO_COMMAND = re.compile(r"\s*(?:[`~]|/\w+(?![\w/]))")
_SIGNS = {"-": "–", "=": "="}
"""Signs that stand between words; a hyphen there would be a list at the start of a line."""
_STOP = re.compile(r"[:,;.!?](?=\s|$)")
_WORD = re.compile(r"[^\s\[\]]*\[[^\[\]]*\][^\s\[\]]*|\S+")
"""A word, or a list in brackets: its items belong together."""
_ORDERED = re.compile(r"^(\d+)([.)])")


def prose(text: str) -> str:
    """A sentence on one line: its own code spans are kept, every word that could act becomes one, the rest is plain."""
    parts = [code(part) if is_code else _between(part, at) for at, (is_code, part) in enumerate(code_spans(text))]
    return _ORDERED.sub(r"\1\\\2", _joined(parts))


def code(text: str) -> str:
    """A code span; its fence is longer than any run of backticks within."""
    return in_backticks(text) if one_line(text) else "(empty)"


def cell(span: str) -> str:
    """A code span or prose made fit for a table cell: a bar stands in code only, where a backslash keeps it from ending the cell."""
    return span.replace("|", "\\|")


def fence(text: str, language: str = "text") -> str:
    """A fenced block, longer than any run of backticks within; ``text`` must not start a line with / or a fence (see ``gutter``)."""
    body = visible(text)
    ticks = "`" * max(3, _longest_run(body) + 1)
    return f"{ticks}{language}\n{body}\n{ticks}"


def gutter(lines: list[tuple[str, str]]) -> str:
    """Numbered lines. The gutter also keeps GitLab from reading "/close" at the start of a log line as an order."""
    width = max((len(number) for number, _ in lines), default=0)
    return "\n".join(f"{number:>{width}} | {one}" for number, line in lines for one in visible(line).split("\n"))


def command(text: str) -> str:
    """A shell command to paste. One that holds a line break or a control character, or would be an order, is shown as a comment."""
    if visible(text) == text and "\n" not in text and not _NO_COMMAND.match(text):
        return text
    return f"# cannot be pasted as it stands, it holds control characters: {one_line(text)}"


def mermaid_text(text: str, limit: int = 90) -> str:
    """A Mermaid label: everything but plain characters as a character code."""
    flat = one_line(text)
    flat = flat if len(flat) <= limit else flat[: limit - 1] + "…"
    return re.sub(r"[^A-Za-z0-9 .,/:=+_()\[\]'!-]", lambda match: f"#{ord(match.group())};", flat)


def _joined(parts: list[str]) -> str:
    """Two code spans side by side would merge their fences: a space keeps them apart."""
    return re.sub("`\0`", "` `", "\0".join(part for part in parts if part)).replace("\0", "")


def _between(text: str, at: int) -> str:
    """The words of one part; what ends a clause right behind a code span is no word of its own."""
    stop = _STOP.match(text) if at else None
    return f"{stop.group()}{_words(text[stop.end() :])}" if stop else _words(text)


def _words(text: str) -> str:
    return _WORD.sub(lambda match: _word(match.group()), text)


def _word(word: str) -> str:
    if word in _SIGNS or not _ACTIVE.search(word):
        return _SIGNS.get(word, word)
    core = word.rstrip(".,;:!?")
    tail = word[len(core) :]
    head = ""
    while core.startswith("(") and core.count("(") > core.count(")"):
        head, core = head + "(", core[1:]
    while core.endswith(")") and core.count(")") > core.count("("):
        core, tail = core[:-1], ")" + tail
    return f"{head}{code(core)}{tail}" if core else code(word)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
