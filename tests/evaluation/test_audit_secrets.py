"""No secret stands in an audit: of the command line, of a default in the tree, of a model's config.json."""

from __future__ import annotations

import json

from agent.domain.launch import Launch
from agent.domain.redaction import without_secrets
from agent.domain.source import Absent
from agent.evaluation.engine import open_engine
from agent.hosts.local_tree import MemoryTree

PROGRAM = """\
import argparse
import json
import os
from dataclasses import dataclass


@dataclass
class Args:
    api_key: str = "plainword"
    admin_api_key: str = "otherword"
    model: str = ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--api-key")
    parser.add_argument("--admin-api-key", default="otherword")
    parser.add_argument("--model")
    args = parser.parse_args()
    Args(args.api_key or "plainword", args.admin_api_key, args.model)
    if args.model == "none":
        print(json.load(open("model/config.json"))["vault"])


main()
"""
CONFIG = {"hub_token": "configword", "vault": {"password": "innerword", "rows": [1]}}


class Model:
    def read(self, path: str) -> bytes | Absent:
        return json.dumps(CONFIG).encode() if path == "model/config.json" else Absent(path=path)

    def is_dir(self, path: str) -> bool:
        return path == "model"


def test_nothing_secret_is_shown() -> None:
    argv = ("python3", "-m", "program", "--api-key", "givenword", "--model", "model")
    launch = without_secrets(Launch(argv=argv, env={"HF_TOKEN": "envword"}))
    answer = open_engine(MemoryTree({"program.py": PROGRAM}), launch, files=Model()).audit()
    shown = json.dumps(answer.as_dict(), default=str)
    found = [word for word in ("givenword", "plainword", "otherword", "configword", "innerword", "envword") if word in shown]
    assert found == []
    assert {row.name for row in answer.settings} >= {"api_key", "admin_api_key", "env:HF_TOKEN"}
    assert {key.key for key in (*answer.dead_config, *answer.unread_keys)} == {"vault", "hub_token", "HF_TOKEN"}
