# env: MODE=fast LIMIT=3 EMPTY=
import os


def main():
    if os.environ.get("MODE") == "fast":
        x = 1  # always
    if os.getenv("ABSENT") is not None:
        x = 2  # never
    if int(os.environ["LIMIT"]) > 3:
        x = 3  # never
    if "ABSENT" in os.environ:
        x = 4  # never
    os.environ["ABSENT"] = "1"
    if os.environ.get("ABSENT", "0") == "1":
        x = 5  # always
    os.environ.setdefault("MODE", "slow")
    if os.environ["MODE"] == "slow":
        x = 6  # never
    del os.environ["LIMIT"]
    if os.getenv("LIMIT", "none") == "none":
        x = 7  # always
    if os.environ.get("EMPTY"):
        x = 8  # never
    try:
        os.environ["NEVER_SET"]
        x = 9  # never
    except KeyError:
        x = 10  # always
    return x


def start():
    main()


start()
