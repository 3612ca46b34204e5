"""The start-up record of the log beside the audit's own values, in both forms that servers print."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from agent import wiring
from agent.domain.redaction import placeholder
from agent.domain.verdict import Asked, AuditAnswer, Effective, Setting
from agent.probes.log import LogLine, read_log
from agent.reports.audit_text import audit_markdown, show_audit
from agent.subagents.observed import observed

REPR = (
    "[2026-05-01 15:16:08] server_args=ServerArgs(model_path='m', chunked_prefill_size=4096, disable_radix_cache=True, "
    "cuda_graph_bs=[1, 2, 4], lora_paths=(), kind=<Kind.A: 1>, max_running_requests=None, api_key='plainword', max_total_tokens=None)"
)
DICT = (
    "[2026-11-20 09:00:00] server_args={'model_path': 'm', 'chunked_prefill_size': 4096, 'disable_radix_cache': True, "
    "'cuda_graph_bs': [1, 2, 4], 'lora_paths': (), 'kind': <Kind.A: 1>, 'max_running_requests': None, 'api_key': 'plainword'}"
)
LIMITS = (
    "[2026-05-01 15:17:01] max_total_num_tokens=271231, chunked_prefill_size=8192, max_prefill_tokens=16384, "
    "max_running_requests=2048, context_len=131072"
)


def setting(name: str, value: Any, verdict: str = "as_asked") -> Setting:
    return Setting(
        name=name, flag="", asked=Asked(value=value, source="default"), effective=Effective(status="known", value=value), verdict=verdict
    )


AUDIT = AuditAnswer(
    settings=(
        setting("chunked_prefill_size", 4096),
        setting("disable_radix_cache", False),
        setting("cuda_graph_bs", (1, 2, 4)),
        setting("lora_paths", []),
        setting("kind", "Kind.A"),
        setting("max_running_requests", None),
        setting("api_key", placeholder("api_key")),
        setting("unlisted", 1),
    )
)


def seen(record: str, *more: str) -> AuditAnswer:
    (product,) = (product for product in wiring.products() if product.name == "sglang")
    lines = [LogLine(number=number, text=text) for number, text in enumerate([record, *more], 1)]
    return observed(AUDIT, read_log(lines, product.log))


@pytest.mark.parametrize("record", [REPR, DICT], ids=["repr", "dict"])
def test_both_forms(record: str) -> None:
    found = {row.name: row.observed for row in seen(record).settings}
    told = {name: (each.value, each.source) for name, each in found.items() if each is not None}
    assert told["chunked_prefill_size"] == (4096, "log")
    assert told["disable_radix_cache"] == (True, "log")
    assert told["cuda_graph_bs"] == ([1, 2, 4], "log")
    assert told["max_running_requests"] == (None, "log")
    assert "kind" not in told and "unlisted" not in told, "no literal, and not printed"
    assert "plainword" not in repr(found)


def test_a_limit_tells_what_the_record_left_open() -> None:
    found = {row.name: row.observed for row in seen(DICT, LIMITS).settings}
    limit, record = found["max_running_requests"], found["chunked_prefill_size"]
    assert limit is not None and (limit.value, limit.source) == (2048, "limits_log")
    assert record is not None and (record.value, record.source) == (4096, "log")


def test_only_the_last_start_counts() -> None:
    again = REPR.replace("chunked_prefill_size=4096", "chunked_prefill_size=512")
    found = {row.name: row.observed for row in seen(LIMITS, REPR, LIMITS, again).settings}
    record, limit = found["chunked_prefill_size"], found["max_running_requests"]
    assert record is not None and record.value == 512
    assert limit is not None and limit.value is None


def test_what_disagrees_is_shown_first_and_alone() -> None:
    text = StringIO()
    show_audit(seen(REPR, LIMITS), Console(file=text, width=100))
    shown = text.getvalue()
    first = shown.split("Said otherwise by the running server")[1].strip().splitlines()
    assert first[0].split() == ["disable_radix_cache", "effective", "False,", "observed", "True", "(log)"]
    assert "api_key" not in shown and "cuda_graph_bs" not in shown and "lora_paths" not in shown and "max_running_requests" not in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_without_a_record_nothing_is_observed() -> None:
    assert seen("ready to roll") is AUDIT


def test_markdown_holds_the_same_sections() -> None:
    shown = audit_markdown(seen(REPR), everything=True)
    assert shown.index("## Said otherwise by the running server") < shown.index("## As asked, or at their default")
    assert "plainword" not in shown
