"""Whether a line stands in a function of no class: the text says what the parsed file says, or nothing."""

from __future__ import annotations

import pytest

from agent.analysis.around_line import _by_text, in_function_of_no_class
from tests.analysis.trees import index_of

SAMPLES = {
    "a method": ("class A:\n    def go(self):\n        self.x = 1  # here\n", False),
    "a function": ("def go(self):\n    self.x = 1  # here\n", True),
    "a coroutine": ("async def go(self):\n    self.x = 1  # here\n", True),
    "a signature over lines": ("def go(\n    self,\n) -> None:\n    self.x = 1  # here\n", True),
    "below a class": ("class A:\n    pass\n\n\ndef go(self):\n    self.x = 1  # here\n", True),
    "a class in a function": ("def make():\n    class A:\n        def go(self):\n            self.x = 1  # here\n    return A\n", False),
    "beside a class in a function": ("def make(self):\n    class A:\n        pass\n    self.x = 1  # here\n", True),
    "a text that looks like a class": ('def go(self):\n    """Like\nclass A:\n    this.\n    """\n    self.x = 1  # here\n', True),
    "a text like a function": ('class A:\n    """Like\ndef go():\n    this."""\n    def go(self):\n        self.x = 1  # here\n', False),
    "under a condition": ("if True:\n    def go(self):\n        self.x = 1  # here\n", True),
    "in a class under a condition": ("if True:\n    class A:\n        def go(self):\n            self.x = 1  # here\n", False),
    "in no function": ("if True:\n    self.x = 1  # here\n", False),
    "at the top": ("self.x = 1  # here\n", False),
    "a comment at the margin": ("class A:\n    def go(self):\n# class B:\n        self.x = 1  # here\n", False),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_the_text_agrees_with_the_parsed_file_or_says_nothing(name: str) -> None:
    source, expected = SAMPLES[name]
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "# here" in text)
    assert in_function_of_no_class(index_of({"m.py": source}), "m.py", line) is expected
    assert _by_text(source.encode(), line) in (expected, None)


def test_most_lines_need_no_parsing() -> None:
    decided = [
        name
        for name, (source, _) in SAMPLES.items()
        if _by_text(source.encode(), source[: source.index("# here")].count("\n") + 1) is not None
    ]
    assert {"a method", "a function", "below a class", "a signature over lines"} <= set(decided)
