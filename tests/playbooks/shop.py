"""A small program with a feature that a flag silently switches off, in releases between which its code moves."""

from __future__ import annotations

SERVE = """\
import argparse


class Runner:
    def __init__(self, args):
        self.fast = args.mode == "fast"

    def step(self):
        if self.fast:
            self.turbo()
        self.plod()

    def turbo(self):
        pass

    def plod(self):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="slow", choices=["slow", "fast"])
    args = parser.parse_args()
    Runner(args).step()


if __name__ == "__main__":
    main()
"""
MOVED = SERVE.replace("import argparse\n", "import argparse\nfrom shop import runner\n").replace(
    "Runner(args).step()", "runner.Runner(args).step()"
)
RUNNER = SERVE[SERVE.index("class Runner") : SERVE.index("def main")]

RELEASES: dict[str, dict[str, str]] = {
    "1.0": {"shop/__init__.py": "", "shop/serve.py": SERVE},
    "1.1": {"shop/__init__.py": "", "shop/serve.py": MOVED.replace(RUNNER, ""), "shop/runner.py": RUNNER},
    "1.2": {"shop/__init__.py": "", "shop/serve.py": SERVE.replace("self.fast = args.mode", "# a word\n        self.fast = args.mode")},
    "2.0": {
        "shop/__init__.py": "",
        "shop/serve.py": SERVE.replace("        if self.fast:\n            self.turbo()\n", "        self.turbo()\n"),
    },
}
"""1.1 moved the class to another file, 1.2 shifted its lines, 2.0 is free of the fault."""

PLAYBOOK = """\
schema: rca.playbook/1
id: no-turbo
title: Turbo never runs
summary: The mode leaves turbo out.
applies_to: [{package: shop}]
match: {symptom: [slow]}
targets:
  - {id: turbo, query: call:turbo, file: 'shop/**', why: runs fast}
hypotheses:
  - id: mode
    claim: The mode is {{ launch.flags.mode }}.
    role: cause
    checks:
      - guard: {target: turbo, condition: fast, truth: 'false'}
cause: {kind: flag, name: --mode, actual: launch.flags.mode, required: [fast]}
explanation: Turbo runs in the mode fast only, and the mode is {{ launch.flags.mode }}.
fix: {summary: Ask for the fast mode., changes: [{name: --mode, to: fast}]}
tests:
"""


def own_test(version: str, mode: str, expect: str) -> str:
    """One test with the release's files in it."""
    lines = [f"  - name: {version} {mode}", "    tree:"]
    for path, text in RELEASES[version].items():
        lines += [f"      {path}: |" if text else f"      {path}: ''", *(f"        {line}" for line in text.splitlines())]
    return "\n".join([*lines, "    symptom: slow", f"    launch: python3 -m shop.serve --mode {mode}", f"    expect: {expect}"]) + "\n"
