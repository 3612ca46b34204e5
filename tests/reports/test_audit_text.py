"""The text of `rca audit`: nothing that only may happen is called certain, nothing is hidden silently, a pipe gets whole lines."""

from __future__ import annotations

from io import StringIO

import cmarkgfm
from rich.console import Console

from agent.domain.verdict import (
    Asked,
    AuditAnswer,
    Change,
    ChangedBy,
    Counterfactual,
    DeadKey,
    Effective,
    Guard,
    Place,
    Raise,
    Reader,
    Setting,
)
from agent.reports.audit_text import audit_markdown, show_audit

TOPK = Guard(
    path="pkg/args.py", line=6, condition="self.topk > 1 and self.backend != 'x'", polarity=True, truth="unknown", function="check"
)
DEVICE = Guard(path="pkg/gpu.py", line=2, condition="is_cuda()", polarity=True, truth="unknown", function="memory")


def setting(name: str, value: object, source: str, verdict: str, effective: object = None) -> Setting:
    return Setting(
        name=name,
        flag=f"--{name}",
        asked=Asked(value=value, source=source),
        effective=Effective(status="known", value=value if effective is None else effective),
        verdict=verdict,
        changed_by=(ChangedBy(path="pkg/args.py", line=9, guards=(TOPK,)),) if verdict == "overridden" else (),
    )


AUDIT = AuditAnswer(
    settings=(
        setting("topk", 4, "flag", "as_asked"),
        setting("size", 8192, "flag", "overridden", 2048),
        setting("seed", 1, "default", "defaulted"),
        setting("layers", {"eagle ids": [1, 2]}, "file", "never_read"),
        setting("dtype", "auto", "default", "unknown"),
    ),
    raises=(
        Raise(path="pkg/gpu.py", line=3, type="RuntimeError", message="<stderr> of nvidia-smi @all", guards=(DEVICE,)),
        Raise(path="pkg/args.py", line=7, type="ValueError", message="topk > 1 | is unstable", guards=(TOPK,)),
    ),
)
CERTAIN = Raise(path="pkg/args.py", line=8, type="AssertionError", message="", certainty="always")


def shown(answer: AuditAnswer, *, everything: bool = False, width: int = 0) -> str:
    text = StringIO()
    show_audit(answer, Console(file=text, width=width or 80, force_terminal=bool(width), color_system=None), everything=everything)
    return text.getvalue()


def section(text: str, title: str) -> list[str]:
    return text.split(f"{title}\n")[1].split("\n\n")[0].splitlines()


def test_a_failure_that_cannot_be_ruled_out_is_not_called_certain() -> None:
    text = shown(AUDIT)
    assert text.splitlines()[0].endswith("no certain failure, 2 that cannot be ruled out")
    assert "Will fail" not in text
    (row,) = section(text, "May fail, for what this launch asks")
    assert row.split() == [
        *("ValueError", "pkg/args.py:7:", "`topk", ">", "1", "|", "is", "unstable`,", "under"),
        *("`self.topk", ">", "1", "and", "self.backend", "!=", "'x'`", "unknown"),
    ]
    assert "nvidia-smi" not in text, "it has nothing to do with what was asked"


def test_a_certain_failure_stands_first() -> None:
    text = shown(AuditAnswer(settings=AUDIT.settings, raises=(*AUDIT.raises, CERTAIN)))
    assert text.splitlines()[0].endswith("1 certain failure, 2 that cannot be ruled out")
    assert section(text, "Will fail") == ["  AssertionError  pkg/args.py:8"]
    assert text.index("Will fail") < text.index("Overridden")


def test_what_is_not_shown_is_counted_and_all_shows_it() -> None:
    for text in (shown(AUDIT), audit_markdown(AUDIT)):
        last = text.strip().splitlines()[-1]
        assert last.startswith(
            "Not shown: 2 settings as asked or at the default, 1 unknown setting that nobody asked for, 1 possible failure for"
        )
    for text in (shown(AUDIT, everything=True), audit_markdown(AUDIT, everything=True)):
        assert "Not shown" not in text
        assert "nvidia-smi" in text and "dtype" in text and "seed" in text


def test_a_pipe_gets_one_line_for_each_thing_and_no_padding() -> None:
    lines = shown(AUDIT, everything=True).splitlines()
    assert lines == [line.rstrip() for line in lines]
    assert sum("pkg/args.py:7" in line and "unknown" in line for line in lines) == 1


def test_a_terminal_gets_its_width() -> None:
    for width in (60, 100, 200):
        assert max(map(len, shown(AUDIT, everything=True, width=width).splitlines())) <= width


def test_markdown_keeps_values_and_messages_in_one_piece() -> None:
    page = cmarkgfm.github_flavored_markdown_to_html(audit_markdown(AUDIT, everything=True))
    assert "<code>&lt;stderr&gt; of nvidia-smi @all</code>" in page
    assert "<code>{'eagle ids': [1, 2]}</code>" in page
    assert "<code>topk &gt; 1 | is unstable</code>" in page


KIND = Guard(path="pkg/run.py", line=4, condition="kind == 'b'", truth="false", function="run")
READERS = tuple(Reader(path="pkg/run.py", line=line, verdict="never", decisive=KIND) for line in (5, 6))
OPENED = Counterfactual(change=(Change(name="--kind", from_="a", to="b"),), opens=(Place(path="pkg/run.py", line=5),))
DEPTH = DeadKey(file="command line", key="--depth", value=4, readers=READERS, counterfactuals=(OPENED,))
LONG = "SHOP_ALLOW_LONGER_NAMES_THAN_A_COLUMN"


def test_a_dead_flag_is_told_once_and_with_what_it_is_read() -> None:
    text = shown(AuditAnswer(settings=(setting("depth", 4, "flag", "never_read"),), dead_config=(DEPTH,)))
    assert section(text, "Dead config: provided, and no reader runs") == [
        "  --depth  4 in command line: pkg/run.py:5 and 1 more line would read it, and never run: pkg/run.py:4 `kind == 'b'` false; "
        "it is read with --kind b"
    ]
    assert "Never read" not in text


def test_what_nothing_names_is_shown_and_accuses_nobody() -> None:
    keys = (DeadKey(file="environment", key=LONG, value="1"), DeadKey(file="/m/config.json", key="vault", value=1))
    text = shown(AuditAnswer(settings=(), unread_keys=keys))
    (row,) = section(text, "Named by nothing in the tree: a typo, or read by another library")
    assert row.split() == [LONG, "'1'", "(environment)"]
    assert "Not shown: 1 config key that nothing in the tree reads" in text and "Never read" not in text


def test_a_long_name_stands_above_its_text() -> None:
    reader = READERS[:1]
    keys = (DeadKey(file="environment", key=LONG, value="1", readers=reader), DeadKey(file="/m", key="ids", value=2, readers=reader))
    rows = section(shown(AuditAnswer(settings=(), dead_config=keys), width=60), "Dead config: provided, and no reader runs")
    assert rows[:2] == [f"  {LONG}", "       '1' in environment: pkg/run.py:5 would read it, and"]
    assert next(row for row in rows if "ids" in row).startswith("  ids  2 in /m: pkg/run.py:5")


def test_what_is_perhaps_so_says_what_would_tell() -> None:
    changed = (ChangedBy(path="pkg/args.py", line=9, guards=(KIND, TOPK)),)
    row = Setting(
        name="size",
        flag="--size",
        asked=Asked(value=4, source="flag"),
        effective=Effective(status="candidates", values=(2, 4)),
        changed_by=changed,
        verdict="unknown",
    )
    assert section(shown(AuditAnswer(settings=(row,))), "Asked for, and not known what becomes of it") == [
        "  size  asked 4 (flag), is 2 or 4; pkg/args.py:9 changes it or not: `self.topk > 1 and self.backend != 'x'` unknown"
    ]
