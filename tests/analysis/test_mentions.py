"""Files that may mean what another module calls so, by their text."""

from __future__ import annotations

import pytest

from agent.analysis.mentions import files_that_derive, files_that_reach
from tests.analysis.trees import index_of

REACHES = {
    "imported": "from m import main\n",
    "among others": "from m import other, main, more\n",
    "over lines": "from m import (\n    other,\n    main,\n)\n",
    "over lines with remarks": "from m import (  # noqa: F401 (re-exported)\n    other,  # why: because\n    import_all,\n    main,\n)\n",
    "after a line's end": "from m import other, \\\n    main\n",
    "by another name": "from m import main as go\n",
    "of a module": "import m\nm.main()\n",
    "by its text": "getattr(m, 'main')()\n",
    "with all names": "from m import *\nmain()\n",
    "a module of that name": "import main\nmain.go()\n",
    "behind a semicolon": "import m; from m import main\n",
}
STAYS = {
    "its own": "def main():\n    pass\n\n\nmain()\n",
    "a variable": "main = 1\nprint(main)\n",
    "prose": '"""The main loop.\n\nHere all that one wants to import is done; then\nmain begins.\n"""\n',
    "a parameter": "from m import other\n\n\ndef go(main):\n    return other(main)\n",
}


@pytest.mark.parametrize("name", REACHES)
def test_reaches_the_other_module(name: str) -> None:
    assert files_that_reach(index_of({"a.py": REACHES[name]}), "main") == {"a.py"}


@pytest.mark.parametrize("name", STAYS)
def test_means_its_own(name: str) -> None:
    assert files_that_reach(index_of({"a.py": STAYS[name]}), "main") == frozenset()


DERIVES = {
    "a base": "from m import Base\nclass A(Base): pass\n",
    "of a module": "import m\nclass A(m.Base): pass\n",
    "among others, over lines": "class A(\n    Other[int],  # a remark\n    make(1, (2)),\n    Base,\n    metaclass=M,\n):\n    pass\n",
    "with type parameters": "class A[T](Base[T]): pass\n",
    "inside of a class": "class B:\n    class A(Base): pass\n",
    "imported by another name": "from m import Base as B\nclass A(B): pass\n",
    "imported so over lines": "from m import (\n    Base as B,\n)\nclass A(B): pass\n",
    "given another name": "import m\nB = m.Base\nclass A(B): pass\n",
    "given one with a remark": "B = Base  # kept\nclass A(B): pass\n",
    "given one in brackets": "B = (\n    Base\n)\nclass A(B): pass\n",
}
USES = {
    "made": "from m import Base\nx = Base()\n",
    "an annotation": "from m import Base\ndef go(x: Base) -> Base: ...\n",
    "asked for": "from m import Base\nif isinstance(x, Base):\n    x.go()\n",
    "behind a class": "class A(Other):\n    def go(self, x):\n        return Base(x)\n",
}


@pytest.mark.parametrize("name", DERIVES)
def test_may_derive_a_class(name: str) -> None:
    assert files_that_derive(index_of({"a.py": DERIVES[name]}), "Base") == {"a.py"}


@pytest.mark.parametrize("name", USES)
def test_derives_none(name: str) -> None:
    assert files_that_derive(index_of({"a.py": USES[name]}), "Base") == frozenset()
