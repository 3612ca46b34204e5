"""The synthesiser: sentences about what was checked; each cites one and may say nothing that it does not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from agent.domain.visible import one_line
from agent.llm.interface import Message
from agent.subagents.model.briefing import Briefing
from agent.subagents.model.claims import Checked

MOST_SENTENCES = 8
_SENTENCE = re.compile(r"(?<=[.!?\]])\s+(?=[A-Z`\"'(]|\[?h\d)|\n+")
_CITATION = re.compile(r"\[((?:\s*h\d+\.\d+\s*,?)+)\]")
_ID = re.compile(r"h\d+\.\d+")
_QUOTED = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)|(?<!\w)'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
"""What a host or a model wrote, inside of a claim or of a sentence."""
_WORD = re.compile(r"[\w./:-]*\w|[^\w\s]")
_PUNCTUATION = frozenset(".,:;()")
_CONNECTING = frozenset(
    "a an and as at by condition for from in is it its line of on server setting that the this to value was which with".split()
)
"""Words that say nothing by themselves."""
_POLARITY = frozenset("always cannot false neither never no none nor not true unknown without".split())
"""Words that turn a claim around where one is added or left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """Sentences that may stand, and the bytes of those that may not."""

    sentences: tuple[str, ...] = ()
    cut: int = 0


def opening(briefing: Briefing, facts: Iterable[Checked]) -> tuple[Message, ...]:
    """The synthesiser's only messages."""
    rows = [f"[{one.id}] {one.said}" for one in facts]
    claims = briefing.fence.wrap("claims", "\n".join(rows))
    task = f"{briefing.task}\n\n{claims}"
    system = briefing.system("synthesiser", most=MOST_SENTENCES, example=rows[0][1 : rows[0].index("]")])
    return (system, Message(role="user", content=task))


def sift(text: str, facts: Iterable[Checked]) -> Synthesis:
    """Cuts every sentence that cites nothing that resolves, or that says more or other than its claim."""
    said = {one.id: one.said for one in facts}
    kept: list[str] = []
    cut = 0
    for sentence in _sentences(text):
        if len(kept) < MOST_SENTENCES and _stands(sentence, said):
            kept.append(sentence)
        else:
            cut += len(sentence.encode("utf-8", "replace"))
    return Synthesis(sentences=tuple(kept), cut=cut)


def _sentences(text: str) -> Iterator[str]:
    return (line for piece in _SENTENCE.split(text) if (line := one_line(piece)))


def _stands(sentence: str, said: Mapping[str, str]) -> bool:
    """Whether the sentence cites one claim, and says it over again in the claim's own words."""
    cited = {id_ for group in _CITATION.findall(sentence) for id_ in _ID.findall(group)}
    if len(cited) != 1 or not cited <= said.keys():
        return False
    (claim,) = (said[id_] for id_ in cited)
    ours, theirs = _words(claim), _words(_CITATION.sub("", sentence))
    turned = any(theirs.count(word) != ours.count(word) for word in _POLARITY)
    return not turned and _quotes(sentence) <= _quotes(claim) and set(theirs) <= {*ours, *_CONNECTING, *_PUNCTUATION}


def _quotes(text: str) -> set[str]:
    return {match.group() for match in _QUOTED.finditer(one_line(text))}


def _words(text: str) -> list[str]:
    """Words and signs that stand outside of quotations."""
    return [word.casefold() for word in _WORD.findall(_QUOTED.sub(" ", one_line(text)))]
