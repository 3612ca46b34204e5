"""The Markdown report as GitHub renders it, and every format against its golden file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent.domain.investigation import Investigation, NumberExplained, UnknownThing
from agent.domain.verdict import Change, Operand, Place
from agent.reports.html import HtmlReport
from agent.reports.interface import Report
from agent.reports.markdown import MarkdownReport
from tests.reports import golden, samples
from tests.reports.gfm import render
from tests.reports.test_markup import assert_inert

FORMATS = {report.name: report for report in golden.FORMATS}
OBJECT = Operand(text="self", value="<ModelRunner object>")


@pytest.mark.parametrize("place", golden.files(), ids=lambda place: f"{place.parent.name}{place.suffix}")
def test_golden(place: Path) -> None:
    assert golden.files()[place] == place.read_text(encoding="utf-8"), "python -m tests.reports.golden writes them anew"


@pytest.mark.parametrize("text", [*samples.HOSTILE, "\n".join(samples.HOSTILE)])
def test_hostile_content_stays_text(text: str) -> None:
    page = render(MarkdownReport().render(samples.hostile(text)))
    assert_inert(page)
    assert page.links == []


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_hostile_content_changes_no_structure(text: str) -> None:
    """The same headings, tables and blocks as with a plain word in its place."""
    plain, hostile = (render(MarkdownReport().render(samples.hostile(one))) for one in ("word", text))
    assert hostile.tags == plain.tags
    assert hostile.cells == plain.cells


@pytest.mark.parametrize("text", ["/close\n/assign @me", "```\n/close", " /close"])
def test_no_line_is_an_order_to_gitlab(text: str) -> None:
    report = MarkdownReport().render(samples.hostile(text))
    assert not re.search(r"^\s*/\w+(?![\w/])", report, re.MULTILINE)


def test_the_first_screen() -> None:
    first = MarkdownReport().render(samples.founding()).split("## ")[0]
    assert first.index("**Cause**") < first.index("**Guard**") < first.index("**Confidence**") < first.index("**Fix**")
    assert samples.launch_command("EAGLE3") in first.split("\n")
    assert len(first) < 2600


def test_the_sections_in_order() -> None:
    headings = re.findall("^## (.*)$", MarkdownReport().render(samples.founding()), re.MULTILINE)
    assert headings == [
        "How it comes about",
        "The numbers",
        "After the fix",
        "Hypotheses",
        "See it yourself",
        "What could not be determined",
        "The launch",
        "Who looked at what",
        "Evidence",
        "This run",
    ]


def test_an_undecided_run_opens_with_what_is_missing() -> None:
    report = MarkdownReport().render(samples.failed())
    assert report.index("What could not be determined") < report.index("Symptom `hidden")
    assert report.count("What could not be determined") == 1


def test_every_piece_of_evidence_stands_with_its_hash() -> None:
    report = MarkdownReport().render(samples.founding())
    for evidence in samples.founding().evidence:
        assert evidence.sha256 in report
        assert f"### `{evidence.id}`" in report


def test_what_cannot_be_pasted_is_a_comment() -> None:
    report = MarkdownReport().render(samples.founding(reproduce=("cat /ok", "cat 'a\nrm -rf b'", "cat \x1b[31m")))
    section = report.split("## See it yourself")[1].split("##")[0]
    assert re.findall("^(?!#|```)(?!Read).+$", section, re.MULTILINE) == ["cat /ok"]


def test_a_long_excerpt_is_cut_and_says_so() -> None:
    long = samples.evidence(1, "log", "/log", 1, "\n".join(f"line {at}" for at in range(500)))
    report = MarkdownReport().render(samples.founding(evidence=(long,)))
    assert "... (440 more lines; the hash covers all of them)" in report
    assert "line 60\n" not in report


@pytest.mark.parametrize(("report", "limit"), [("md", 5), ("html", 20)])
def test_many_ways_to_a_line_are_counted_after_the_first(report: str, limit: int) -> None:
    """Closed ones first, none twice."""
    finding = samples.founding().findings[0]
    (path,) = finding.paths
    (first, *guards) = path.guards
    ways = [
        replace(path, open=True, calls=(replace(path.calls[0], line=at),), guards=(replace(first, line=at), *guards))
        for at in range(1000, 1030)
    ]
    many = samples.founding(findings=(replace(finding, paths=(*ways, *ways, path)),))
    text = FORMATS[report].render(many)
    shown = {at for at in range(1000, 1030) if f"launch_server.py:{at}" in text}
    assert shown == set(range(1000, 1000 + limit - 1))
    assert f"{31 - limit} more ways there, all in the JSON report" in text
    assert text.index("launch_server.py:35") < text.index("launch_server.py:1000")


@pytest.mark.parametrize(("report", "limit"), [("md", 1), ("html", 20)])
def test_ways_with_the_same_guards_stand_side_by_side(report: str, limit: int) -> None:
    finding = samples.founding().findings[0]
    (path,) = finding.paths
    ways = [replace(path, calls=(replace(path.calls[0], line=at),)) for at in range(1000, 1030)]
    text = FORMATS[report].render(samples.founding(findings=(replace(finding, paths=tuple(ways)),)))
    assert {at for at in range(1000, 1030) if f"launch_server.py:{at}" in text} == set(range(1000, 1000 + limit))
    assert f"{30 - limit} more ways with the same guards" in text
    assert "in the JSON report" not in text


@pytest.mark.parametrize("report", ["md", "html"])
def test_what_tells_nothing_is_left_out(report: str) -> None:
    """That self is an object, a value that repeats its line; of a value's many places the nearest stand in the text."""
    finding = samples.founding().findings[0]
    (path,) = finding.paths
    guard = replace(
        path.guards[-1], operands=(OBJECT, Operand(text="self.n", value="3", from_=tuple(Place(path="m.py", line=at) for at in range(6))))
    )
    step = replace(finding.chain[0], text="  self.flag = False", value="self.flag = False", role="call")
    told = replace(finding, chain=(step,), paths=(replace(path, guards=(guard,)),))
    text = FORMATS[report].render(samples.founding(findings=(told,)))
    assert "ModelRunner object" not in text
    assert "self.n" in text
    assert ("and 3 more" in text) == (report == "md"), "the page has room for all"
    assert text.count("self.flag = False") == (1 if report == "html" else 2), "in Markdown: the table and the graph"
    assert "✗ red" not in text, "a chain without marks needs no legend"


@pytest.mark.parametrize("report", ["md", "html"])
def test_words_are_prose_and_names_are_code(report: str) -> None:
    finding = samples.founding().findings[0]
    cause = replace(finding.cause, name="a package that it imports", actual=None, required=("a later release", "EAGLE3"), evidence=())
    text = FORMATS[report].render(samples.founding(findings=(replace(finding, cause=cause),)))
    said = {
        "md": "a package that it imports is not set, needed a later release or `EAGLE3`",
        "html": '<span class="closed">not set</span>, needed <span class="open">a later release</span> or <code class="open">EAGLE3</code>',
    }
    assert said[report] in text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("--flag", "`--flag`"),
        ("env:NAME", "environment variable `NAME`"),
        ("config:draft:eagle_config.layers", "`eagle_config.layers` in the draft's config.json"),
        ("Class.method", "`Class.method`"),
        ("device capability", "device capability"),
        ("env:", "`env:`"),
    ],
)
def test_a_cause_says_where_it_is_set(name: str, said: str) -> None:
    finding = samples.founding().findings[0]
    cause, change = replace(finding.cause, name=name), Change(name=name, from_=1, to=2)
    assert finding.counterfactual
    shown = replace(finding, cause=cause, counterfactual=replace(finding.counterfactual, change=(change,)))
    text = MarkdownReport().render(samples.founding(findings=(shown,)))
    assert f"**Cause**: {said} is `EAGLE`" in text
    assert f"with `{said.replace('`', '')} 1 -> 2`" in text


@pytest.mark.parametrize("report", ["md", "html"])
def test_the_command_says_where_it_is_run(report: str) -> None:
    """Relative paths and the environment are the process's; of a launch that was given neither is known."""
    founding = samples.founding()
    assert founding.launch
    given = replace(founding.launch, source="given", pid=None)
    where = "with the environment that the process has now"
    assert where in FORMATS[report].render(founding)
    assert where not in FORMATS[report].render(samples.founding(launch=given))
    assert "as it was given" in FORMATS[report].render(samples.founding(launch=given))


@pytest.mark.parametrize(("kept", "said"), [("undecided", "Nothing else was left open."), ("refuted", "Nothing was left open.")])
def test_an_undecided_hypothesis_is_open(kept: str, said: str) -> None:
    founding = samples.founding()
    hypotheses = tuple(one for one in founding.hypotheses if one.status == kept)
    for report in ("md", "html"):
        assert said in FORMATS[report].render(samples.founding(unknowns=(), hypotheses=hypotheses))


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (
            "len(config.draft.ids) * config.target.n = 3 x 7168: side by side",
            "`len(config.draft.ids) * config.target.n = 3 x 7168`: side by side",
        ),
        ("config.target.n", "`config.target.n`"),
        ("the sum: of both", "the sum: of both"),
    ],
)
def test_a_number_is_a_calculation_and_what_it_means(formula: str, said: str) -> None:
    number = NumberExplained(number=21504, formula=formula)
    assert f"| `21504` | {said} |" in MarkdownReport().render(samples.founding(numbers=(number,)))


def test_why_a_playbook_was_asked_stands_at_the_end() -> None:
    report = MarkdownReport().render(samples.founding())
    assert report.index("was asked because") > report.index("## This run")


def test_what_a_change_was_seen_to_do_is_told_and_nothing_else() -> None:
    finding = samples.founding().findings[0]
    assert finding.counterfactual
    place, setting = finding.counterfactual.opens[0], Change(name="size", from_=4, to=32)
    done = replace(finding.counterfactual, opens=(), closes=(place,), sets=(setting,))
    nothing = replace(done, closes=(), sets=())
    told, open_ = (MarkdownReport().render(samples.founding(findings=(replace(finding, counterfactual=one),))) for one in (done, nothing))
    assert f"`{place.path}:{place.line}` does not run any more" in told
    assert "`size` is `32` instead of `4`" in told
    assert "could not be shown" not in told
    assert "- ? It could not be shown that this changes the lines in question." in open_


def test_a_line_that_is_not_decided_under_the_change_is_named() -> None:
    finding = samples.founding().findings[0]
    assert finding.counterfactual
    place = Place(path="pkg/a.py", line=7)
    undecided = replace(finding, counterfactual=replace(finding.counterfactual, may=(place,)))
    for report, told in (
        (MarkdownReport(), "- ? `pkg/a.py:7` is not decided: it may run, or may not"),
        (HtmlReport(), '? not decided</span> <span class="where">pkg/a.py:7</span> may run, or may not'),
    ):
        assert told in report.render(samples.founding(findings=(undecided,)))
        assert told not in report.render(samples.founding())


@pytest.mark.parametrize("report", [MarkdownReport(), HtmlReport()], ids=["md", "html"])
def test_a_fix_that_was_not_evaluated_says_so_and_every_fix_says_how_to_see_what_it_did(report: Report) -> None:
    finding = samples.founding().findings[0]
    bare, none = (replace(finding, counterfactual=None, fix=fix) for fix in (finding.fix, None))
    assert "What it changes was not evaluated." in report.render(samples.founding(findings=(bare,)))
    for fixed in (finding, bare):
        assert "rca verify 20260501-152001-k3f9" in report.render(samples.founding(findings=(fixed,)))
    assert "After the fix" not in report.render(samples.founding(findings=(none,)))


def test_what_is_assumed_stands_by_itself_where_there_is_no_fix() -> None:
    bare = replace(samples.founding().findings[0], fix=None, counterfactual=None, assumptions=("that it is so",))
    assert "\n\nAssumed:\n\n- that it is so\n" in MarkdownReport().render(samples.founding(findings=(bare,)))


def test_the_same_lines_are_shown_once_however_often_they_were_read() -> None:
    run = samples.founding()
    cited = run.evidence[3]
    again = replace(cited, id="Z9", command="grep -n is_eagle3", observed_at="2026-05-01T15:21:00Z")
    changed = replace(again, id="Z10", sha256="0" * 64, excerpt="another line")
    founding = replace(run, evidence=(*run.evidence, again, changed))
    report = MarkdownReport().render(founding)
    assert f"### `{cited.id}`, `Z9` source:" in report
    assert "- command `grep -n is_eagle3`, observed `2026-05-01T15:21:00Z`" in report
    assert report.count(cited.sha256) == 1
    assert "### `Z10` source:" in report, "another text of the same place is another exhibit"
    page = HtmlReport().render(founding)
    assert f"<strong>{cited.id}, Z9</strong>" in page
    assert page.count('id="evidence-4"') == 1


def test_what_would_settle_an_unknown_reads_as_a_sentence_or_as_a_command() -> None:
    unknowns = tuple(UnknownThing(what="x", why="y", settle_by=text) for text in ("give the file with --log FILE", "rca run --pid 4242"))
    report = MarkdownReport().render(replace(samples.founding(), unknowns=unknowns))
    assert "- x: y; to settle it: give the file with `--log` FILE" in report
    assert "- x: y; to settle it: `rca run --pid 4242`" in report


def test_a_version_that_is_not_known_and_a_launch_without_a_process_are_said_in_words() -> None:
    run = samples.founding()
    assert run.subject and run.launch
    given = replace(run, subject=replace(run.subject, version=""), launch=replace(run.launch, pid=None, source="given"))
    report = MarkdownReport().render(given)
    assert "sglang of unknown version in" in report and "(empty)" not in report
    assert "A command, no process, in `/srv`, as it was given." in report
    assert "sglang of unknown version" in HtmlReport().render(given)


def test_two_findings_are_told_apart() -> None:
    finding = samples.founding().findings[0]
    report = MarkdownReport().render(samples.founding(findings=(finding, replace(finding, id="F2", title="Another one"))))
    assert "## Finding 2: Another one" in report
    assert "## How it comes about: Another one" in report


def observed_later(investigation: Investigation) -> Investigation:
    """The same investigation, run at another time."""
    evidence = tuple(replace(one, observed_at="2027-01-01T00:00:00Z") for one in investigation.evidence)
    return replace(investigation, run=samples.run(id="ANOTHER-RUN", started_at="2027-01-01T00:00:00Z", duration_s=9.9), evidence=evidence)


@pytest.mark.parametrize("report", FORMATS.values(), ids=FORMATS)
def test_only_run_and_observed_at_differ(report: Report) -> None:
    first, second = report.render(samples.founding()), report.render(observed_later(samples.founding()))
    assert first != second
    for text in ("ANOTHER-RUN", "2027-01-01T00:00:00Z", "9.9"):
        second = second.replace(text, "X")
    for text in ("20260501-152001-k3f9", "2026-05-01T15:20:01Z", "2026-05-01T15:20:03Z", "1.84", "1.8"):
        first = first.replace(text, "X")
    assert first == second


def test_two_processes_write_the_same_bytes() -> None:
    program = "import sys; from tests.reports import golden; sys.stdout.write(''.join(golden.files().values()))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, env={"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_the_golden_json_is_a_published_document() -> None:
    from tests.reports.schema import assert_valid

    for place in golden.DIRECTORY.glob("**/*.json"):
        assert_valid(json.loads(place.read_text(encoding="utf-8")))
