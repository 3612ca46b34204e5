"""By which names a tree can call what an attribute holds."""

from __future__ import annotations

import pytest

from agent.analysis.own_names import own_names
from tests.analysis.trees import index_of


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("a = self.cfg.size", "cfg"),
        ("self.cfg.size = 3", "cfg"),
        ("self.cfg = make()", "cfg"),
        ("other.cfg = self.cfg", "cfg"),
        ("run(cfg=self.cfg)", "cfg"),
        ("if self.cfg is not None and self.cfg.on: pass", "cfg"),
        ("if self.cfg: pass", "cfg"),
        ("isinstance(self.cfg, int)", "cfg"),
        ("short = self.cfg\n        return short.size", "cfg short"),
        ("short = self.cfg\n        return short", None),
        ("short = self.cfg\n        run(short)", None),
        ("short = self.cfg\n        self.kept = short", None),
        ("global short\n        short = self.cfg", None),
        ("other.kept = self.cfg", None),
        ("run(self.cfg)", None),
        ("run(config=self.cfg)", None),
        ("run(*self.cfg)", None),
        ("return self.cfg", None),
        ("items.append(self.cfg)", None),
        ("for each in self.cfg: pass", None),
        ("getattr(self, 'cfg')", None),
        ("hasattr(self, 'cfg')", "cfg"),
        ("x = self.cfg or other", None),
        ("x = [self.cfg]", None),
        ("yield self.cfg", None),
    ],
)
def test_own_names(use: str, expected: str | None) -> None:
    source = f"class A:\n    def f(self, other, items):\n        {use}\n\n\ndef g(cfg: int):\n    return cfg.size\n"
    found = own_names(index_of({"a.py": source}), "cfg", {"a.py"})
    assert (None if found is None else " ".join(sorted(found))) == expected


def test_other_files_do_not_count() -> None:
    index = index_of({"a.py": "x.cfg = 1\n", "b.py": "run(x.cfg)\n"})
    assert own_names(index, "cfg", {"a.py"}) == {"cfg"}
    assert own_names(index, "cfg", {"a.py", "b.py"}) is None
