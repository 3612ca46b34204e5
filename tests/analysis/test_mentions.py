"""Files that may mean what another module calls so, by their text."""

from __future__ import annotations

import pytest

from agent.analysis.mentions import files_that_reach
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
