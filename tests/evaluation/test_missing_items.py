"""Items, keys and attributes that only some paths put there: what is certain stays certain, what may be missing is never taken as there."""

from __future__ import annotations

import pytest

from agent.domain.launch import Launch
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_files import LocalFiles
from agent.hosts.local_tree import MemoryTree
from tests.evaluation.test_reach_law import program, wrong

HOLD = {
    "a dict that one branch fills": """
d = {}
if u0:
    d['a'] = ask()
if d:
    x = 1
else:
    y = 2
e = {'a': 1}
e.update(d)
for k, v in d.items():
    e[k] = v
if e['a'] == 1:
    x = 2
try:
    d['a']
    x = 3
except KeyError:
    x = 4
""",
    "a filter that is not decided": """
xs = [v for v in (1, 2) if ask()]
if xs:
    x = 1
for b in xs:
    x = 2
    if b == 2:
        break
else:
    y = 3
if 1 in {1, 2} - set(xs):
    x = 4
if len(xs) == 2:
    x = 5
if any(xs):
    x = 6
if all(xs):
    x = 7
if (xs + [3])[-1] == 3:
    x = 8
""",
    "in another order": """
xs = [1, 2]
if u0:
    xs.append(3)
for v in reversed(xs):
    if v == 3:
        x = 1
        break
    if v == 1:
        x = 2
if sorted(xs)[0] == 1:
    x = 3
if sorted(xs, key=lambda v: -v)[0] == 3:
    x = 4
if list(filter(lambda v: v > 1, xs)) == [2]:
    x = 5
def careful(v):
    if v == 3:
        raise ValueError
    return v
try:
    list(filter(careful, xs))
    x = 6
except ValueError:
    x = 7
""",
    "the last word of several that may have spoken": """
said = []
said.append(('a', {'size': 1}))
if u0:
    said.append(('b', {'size': 2}))
if u1:
    said.append(('c', {'name': 3}))
def asked(name, default):
    for _, words in reversed(said):
        if name in words:
            return words[name]
    return default
if asked('size', 0) == 1:
    x = 1
if asked('size', 0) == 0:
    x = 2
if asked('colour', 4) == 4:
    x = 3
if asked('name', 5) == 3:
    x = 4
""",
    "arguments that a dictionary may not give": """
def plain(size=1, **more):
    global x
    if size == 2:
        x = 1
    if size == 1:
        x = 2
    if 'name' in more:
        x = 3
    else:
        x = 4
def strict(size):
    return size
given = {}
if u0:
    given['size'] = 2
if u1:
    given = {'name': 3}
plain(**given)
try:
    if strict(**given) == 2:
        x = 5
    x = 6
except TypeError:
    x = 7
if dict(**given).get('size', 9) == 9:
    x = 8
""",
    "a loop that may not turn": """
for i in enumerate(many):
    box.w = 1
if hasattr(box, 'w'):
    x = 1
for i in many:
    q = i
try:
    q
    y = 1
except NameError:
    y = 5
""",
    "a loop that returns has an else": """
for i in enumerate(many):
    return x
else:
    x = 1
while ask():
    return x
else:
    x = 2
""",
    "one of several to go through is none": """
row = None if u0 else [1]
try:
    for i in row:
        x = 1
    x = 2
except TypeError:
    x = 3
""",
    "an operation that one of several values does not have": """
level = {0: None, 1: 5, 2: 'x'}[1 if u0 else 0]
try:
    y = max(1, level)
    x = 1
except TypeError:
    x = 2
word = 'a' if u1 else 3
try:
    'abc'.startswith(word)
    x = 3
except TypeError:
    x = 4
import json
try:
    json.loads('[1]' if u0 else 'x')
    x = 5
except ValueError:
    x = 6
""",
    "a loop whose test or body may raise": """
try:
    x = many and many[-1]
    while x < 3:
        x = 5
        break
    y = 1
except Exception:
    y = 2
try:
    for i in (1, 2):
        if u1:
            continue
        x = int('a' if u0 else '1')
        continue
    y = 3
except ValueError:
    y = 4
""",
    "an inner table by an unknown key": """
tables = {'a': {}, 'b': {}}
for k in many:
    if k in tables:
        tables[k]['on'] = True
for name in tables['a']:
    x = 1
if tables['b']:
    x = 2
""",
    "a name that hasattr denies": """
for k in many:
    if not hasattr(box, str(k)):
        setattr(box, str(k), 1)
if box.v == 0:
    x = 1
""",
}


@pytest.mark.parametrize("name", HOLD)
def test_no_run_contradicts(name: str) -> None:
    found = wrong(program(["x = 1"], HOLD[name].strip().splitlines()), ())
    assert not found


OVERLAYS = """
import argparse
import dataclasses
from outside import ask


@dataclasses.dataclass
class Args:
    backend: str = None
    size: int = 1
    dtype: str = "auto"
    path: str = ""

    def __post_init__(self):
        self.declared = []
        for step in STEPS:
            given = step(View(self, overlay(self)))
            if given:
                self.declared.append((step.__name__, dict(given)))
        for _, given in self.declared:
            for field, value in given.items():
                setattr(self, field, value)


class View:
    def __init__(self, args, values):
        self.args, self.values = args, values

    def __getattr__(self, name):
        return self.values[name] if name in self.values else getattr(self.args, name)


def overlay(args):
    values = {}
    for _, given in getattr(args, "declared", None) or ():
        values.update(given)
    return values


STEPS = []


def step(function):
    STEPS.append(function)
    return function


@step
def backend(view):
    return {"backend": "fast"} if ask() else {}


@step
def size(view):
    return {"size": 8} if view.path == "m" else {}


@step
def dtype(view):
    return {"dtype": "half"} if view.size == 8 else {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--path")
    args = Args(path=parser.parse_args().path)
    if args.backend == "slow":
        print("never")
    if args.dtype == "half":
        print("always")


main()
"""


def engine_of(source: str, *argv: str) -> LaunchEngine:
    launch = Launch(argv=("python3", "-m", "sample", *argv))
    return open_engine(MemoryTree({"sample.py": source}), launch, files=LocalFiles("/nonexistent"), facts={})


def line_of(source: str, text: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)


def test_settings_that_steps_declare_are_known_though_one_step_is_not() -> None:
    engine = engine_of(OVERLAYS, "--path", "m")
    assert engine.why(f"sample.py:{line_of(OVERLAYS, 'never')}").verdict == "never"
    assert engine.why(f"sample.py:{line_of(OVERLAYS, 'always')}").verdict == "always"
