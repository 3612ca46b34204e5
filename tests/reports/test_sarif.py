"""SARIF output against the OASIS schema and what code-scanning views ask for beyond it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from jsonschema import Draft7Validator

from agent.domain.investigation import Investigation
from agent.reports.sarif import SarifReport
from tests.npm import PackageUnavailable, npm_file
from tests.reports import samples

ALL = [samples.founding(), samples.nothing_found(), samples.failed(), *map(samples.hostile, samples.HOSTILE)]


@pytest.fixture(scope="module")
def oasis() -> Draft7Validator:
    """The schema of OASIS as a package of Microsoft's ships it."""
    try:
        file = npm_file("@microsoft/jest-sarif@1.0.0-beta.0", "lib/schemas/sarif-2.1.0-rtm.5.json")
    except PackageUnavailable as reason:
        pytest.skip(str(reason))
    return Draft7Validator(json.loads(file.read_text(encoding="utf-8-sig")))


def rendered(investigation: Investigation) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(SarifReport().render(investigation))
    return log


@pytest.mark.parametrize("investigation", ALL)
def test_it_fits_the_oasis_schema(oasis: Draft7Validator, investigation: Investigation) -> None:
    problems = [f"{error.json_path}: {error.message}" for error in oasis.iter_errors(rendered(investigation))]
    assert not problems, problems[:10]


@pytest.mark.parametrize("investigation", ALL)
def test_what_the_standard_says_beyond_its_schema(investigation: Investigation) -> None:
    (run,) = rendered(investigation)["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        assert [one["id"] for one in result["relatedLocations"]] == list(range(1, len(result["relatedLocations"]) + 1))
    for uri, base in locations(run):
        parts = urlsplit(uri)
        assert re.fullmatch(r"[A-Za-z0-9%/._~!$&'()*+,;=:@-]+", uri), uri
        assert base == "SRCROOT" or parts.scheme == "file"
        assert base is None or not uri.startswith("/")
    for base in run.get("originalUriBaseIds", {}).values():
        assert base["uri"].startswith("file:///")
        assert base["uri"].endswith("/")


def locations(node: Any) -> list[tuple[str, str | None]]:
    if isinstance(node, dict):
        here = [(node["artifactLocation"]["uri"], node["artifactLocation"].get("uriBaseId"))] if "artifactLocation" in node else []
        return here + [one for value in node.values() for one in locations(value)]
    return [one for value in node for one in locations(value)] if isinstance(node, list) else []


def test_the_founding_case() -> None:
    (run,) = rendered(samples.founding())["runs"]
    (result,) = run["results"]
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "sglang/srt/model_executor/model_runner.py", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 345},
    }
    assert result["level"] == "error"
    assert "--speculative-algorithm is EAGLE, needed EAGLE3." in result["message"]["text"]
    flow = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["kinds"][0] for step in flow] == ["config", "config", "call", "definition", "guard", "guard", "effect", "effect"]
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].startswith(
        "Not determined: what port 8000 answers now"
    )


def test_the_fingerprint_stays_when_lines_move() -> None:
    moved = samples.founding()
    finding = moved.findings[0]
    assert finding.guard
    moved = replace(moved, findings=(replace(finding, guard=replace(finding.guard, line=356)),))
    before, after = (rendered(one)["runs"][0]["results"][0]["partialFingerprints"] for one in (samples.founding(), moved))
    assert before == after


def test_links_and_placeholders_in_a_message_are_escaped() -> None:
    (run,) = rendered(samples.hostile("[click](https://evil.example) {0}"))["runs"]
    assert "\\[click\\](https://evil.example) {{0}}" in run["results"][0]["message"]["text"]
