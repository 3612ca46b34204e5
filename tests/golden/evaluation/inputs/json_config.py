# file: conf/config.json {"mode": "a", "nested": {"n": 2}, "list": [1, 2]}
import json
import os
from pathlib import Path


def main():
    with open("conf/config.json") as handle:
        config = json.load(handle)
    if config["mode"] == "a":
        x = 1  # always
    if config.get("absent"):
        x = 2  # never
    if config.get("nested", {}).get("n") == 2:
        x = 3  # always
    if len(config["list"]) != 2:
        x = 4  # never
    if os.path.exists("conf/none.json"):
        x = 5  # never
    if json.loads(Path("conf/config.json").read_text())["mode"] != "a":
        x = 6  # never
    try:
        open("conf/none.json")
        x = 7  # never
    except FileNotFoundError:
        x = 8  # always
    return x


def start():
    main()


start()
