"""The HTML report: one file, no script, no network; folds, colours and light or dark come from plain HTML and CSS."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from agent.domain.investigation import Investigation
from agent.domain.source import Evidence
from agent.domain.visible import code_spans, visible
from agent.reports import markup, wording

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_LANGUAGES = {"source": "python", "config": "json"}


class HtmlReport:
    """Everything foreign is escaped; a content security policy forbids scripts and requests all the same."""

    name = "html"
    media_type = "text/html"
    suffix = ".html"

    def render(self, investigation: Investigation) -> str:
        shown = wording.exhibits(investigation.evidence)
        anchors = {evidence.id: f"evidence-{at}" for at, same in enumerate(shown, 1) for evidence in same}
        text = _environment().get_template("report.html.j2").render(x=investigation, anchors=anchors)
        return text.rstrip("\n") + "\n"


def highlighted(evidence: Evidence) -> list[tuple[str, Markup]]:
    """The excerpt's lines with their numbers, as coloured HTML where the language is known."""
    from markupsafe import Markup, escape

    lines = list(wording.numbered(evidence))
    language = _LANGUAGES.get(evidence.kind, "")
    if not language or (evidence.kind == "source" and not evidence.path.endswith(".py")):
        return [(number, escape(visible(line))) for number, line in lines]
    coloured = _coloured([visible(line) for _, line in lines], language)
    return [(number, Markup(line)) for (number, _), line in zip(lines, coloured, strict=True)]


def _coloured(lines: list[str], language: str) -> list[str]:
    """Pygments escapes what it marks up; one HTML line comes back for each line given.

    Quotes need no escape between tags, and releases of Pygments differ in it: they are put back, for the same bytes everywhere.
    """
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import JsonLexer, PythonLexer

    lexer = {"python": PythonLexer, "json": JsonLexer}[language](stripnl=False, ensurenl=False)
    html: str = highlight("\n".join(lines), lexer, HtmlFormatter(nowrap=True, classprefix="t-"))
    return html.replace("&quot;", '"').replace("&#39;", "'").split("\n")[: len(lines)]


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("agent.reports"),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_inert,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(_FILTERS)
    return environment


def _inert(value: Any) -> Any:
    """Control characters are made visible in everything that is put out; escaping is autoescape's part."""
    return visible(value) if type(value) is str else value


def _sentence(text: str) -> Markup:
    """Prose whose own code spans become code."""
    from markupsafe import Markup, escape

    parts = [Markup("<code>{}</code>").format(part) if is_code else escape(part) for is_code, part in code_spans(text)]
    return Markup("").join(parts)


def _codes(texts: Iterable[str]) -> Markup:
    from markupsafe import Markup

    return Markup(", ").join(Markup("<code>{}</code>").format(visible(text)) for text in texts if text)


_FILTERS: dict[str, Callable[..., Any]] = {
    "change": wording.change,
    "changes_nothing": wording.changes_nothing,
    "codes": _codes,
    "confidence": lambda word: wording.CONFIDENCE.get(word, word),
    "afterwards": wording.afterwards,
    "evidence_place": wording.evidence_place,
    "exhibits": wording.exhibits,
    "formula": wording.formula,
    "guard_mark": wording.guard_mark,
    "guard_state": wording.guard_state,
    "headline": wording.headline,
    "highlighted": highlighted,
    "is_prose": wording.is_prose,
    "kind": lambda word: wording.KINDS.get(word, word),
    "launch_line": wording.launch_line,
    "launched": wording.launched,
    "legend": lambda finding: wording.LEGEND if wording.marked(finding) else "",
    "named": wording.named,
    "next_event": lambda word: wording.NEXT.get(word, word),
    "nothing_open": wording.nothing_open,
    "outcome": lambda word: wording.OUTCOMES.get(word, word),
    "pasted": markup.command,
    "place": lambda at: wording.place(at.path, at.line),
    "run_in": wording.run_in,
    "sentence": _sentence,
    "settled": wording.settled,
    "shown": wording.shown,
    "shown_ways": wording.shown_ways,
    "software": wording.software,
    "spent": wording.spent,
    "status": lambda word: wording.STATUS.get(word, word),
    "told_value": wording.told_value,
    "told_operands": wording.told_operands,
    "words": lambda text: text.split(" "),
    "step_state": wording.step_state,
}
