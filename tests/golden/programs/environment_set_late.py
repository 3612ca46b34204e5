import os
def set_it():
    os.environ["ADV_X"] = "1"
    os.environ.update({"ADV_Y": "1"})
    os.environ |= {"ADV_Z": "1"}
    for k in ("ADV_W",):
        os.environ.setdefault(k, "1")
    os.putenv("ADV_P", "1")
def look():
    if os.environ.get("ADV_X"):
        print("x")
    if os.getenv("ADV_Y"):
        print("y")
    if "ADV_Z" in os.environ:
        print("z")
    if os.environ.get("ADV_W", "0") == "1":
        print("w")


def run():
    set_it()
    look()
