"""The text of `rca audit`: nothing that only may happen is called certain, nothing is hidden silently, a pipe gets whole lines."""

from __future__ import annotations

from io import StringIO

import cmarkgfm
from rich.console import Console

from agent.domain.verdict import Asked, AuditAnswer, ChangedBy, Effective, Guard, Raise, Setting
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
