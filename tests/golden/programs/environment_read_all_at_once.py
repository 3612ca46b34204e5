import os
def set_it():
    os.environ["READ_A"] = "1"
    os.environ["READ_B"] = os.environ.get("READ_A", "") + "2"
    os.environ.setdefault("READ_C", os.environ["READ_B"])
    name = "READ_" + "D"
    os.environ[name] = "4"
def look():
    for key in os.environ:
        if key == "READ_A":
            print("a among the keys")
    for key, value in os.environ.items():
        if key == "READ_B" and value == "12":
            print("b among the items")
    kept = dict(os.environ)
    if "READ_C" in kept:
        print("c in a copy")
    if kept.get("READ_C") == "12":
        print("with its value")
    if {**os.environ}.get("READ_A") == "1":
        print("spread")
    if os.environ.copy().pop("READ_A", None):
        print("taken out of a copy")
    before = os.environ.pop("READ_A", "")
    if before:
        print("taken out")
    if "READ_A" in os.environ:
        print("still there")
    os.environ["READ_B"] = "3"
    if os.environ["READ_B"] == "3":
        print("as it was just set")
    if os.environ.get("READ_C") is None:
        print("the other is gone")


def run():
    set_it()
    look()
