import dataclasses
from typing import Optional


@dataclasses.dataclass
class Args:
    name: str = "x"
    size: int = 1
    fast: bool = False
    kind: Optional[str] = None


def kind_of(field):
    return {"int": int, "bool": bool}.get(getattr(field.type, "__name__", ""), str)


def run():
    kinds = [kind_of(field) for field in dataclasses.fields(Args)]
    if kinds[0] is str and kinds[3] is str:
        print("text")
    if kinds[1] is int:
        print("number")
    if kinds[2] is bool:
        print("switch")
    if len.__name__ == "len" and Args.__name__ == "Args" and Args.__module__ == "__main__":
        print("names")
