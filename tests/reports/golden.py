"""Golden reports: ``python -m tests.reports.golden`` writes them anew; the difference is then read before it is committed."""

from __future__ import annotations

from pathlib import Path

from agent.domain.investigation import Investigation
from agent.reports.html import HtmlReport
from agent.reports.interface import Report
from agent.reports.json import JsonReport
from agent.reports.markdown import MarkdownReport
from agent.reports.sarif import SarifReport
from agent.reports.terminal import TerminalReport
from tests.reports import samples

DIRECTORY = Path(__file__).parent.parent / "golden" / "reports"
FORMATS: tuple[Report, ...] = (MarkdownReport(), JsonReport(), HtmlReport(), SarifReport(), TerminalReport())


def cases() -> dict[str, Investigation]:
    """Directory name to what is rendered into it."""
    return {
        "founding": samples.founding(),
        "nothing_found": samples.nothing_found(),
        "failed": samples.failed(),
        "hostile": samples.hostile("\n".join(samples.HOSTILE)),
    }


def files() -> dict[Path, str]:
    """What every golden file should hold."""
    return {
        DIRECTORY / name / f"report{report.suffix}": report.render(investigation)
        for name, investigation in cases().items()
        for report in FORMATS
    }


if __name__ == "__main__":
    for place, text in files().items():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
