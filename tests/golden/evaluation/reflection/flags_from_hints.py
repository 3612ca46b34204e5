# launch: --no-eager --mode slow --limit 5
import argparse
import dataclasses
from typing import Annotated, Any, Dict, List, Literal, Optional, Union, get_args, get_origin

Mode = Literal["auto", "slow"]


class Later:
    pass


@dataclasses.dataclass
class Settings:
    name: str = "a"
    eager: bool = True
    mode: Literal[Mode, Literal["draft"]] = "auto"
    limit: Optional[int] = None
    table: Optional[Dict[str, int]] = None
    later: Optional["Later"] = None
    either: Union[Optional[int], Literal["none"]] = None
    marked: Annotated[Annotated[int, "inner"], "outer"] = 1


def members(hint):
    if get_origin(hint) is Annotated:
        return members(get_args(hint)[0])
    if get_origin(hint) is Union:
        return [each for part in get_args(hint) for each in members(part)]
    return [hint]


def has(hints, kind):
    return any(hint is kind or get_origin(hint) is kind for hint in hints)


def options(field):
    hints = members(field.type)
    if has(hints, bool):
        return {"action": argparse.BooleanOptionalAction}
    if has(hints, Literal) and len(hints) == 1:
        return {"choices": sorted(get_args(hints[0]))}
    if has(hints, int):
        return {"type": int}
    if any(hint.__module__ != "builtins" for hint in hints):
        return {"type": str}
    return {}


def unions():
    if get_origin(Optional[int]) is not Union or get_origin(int | None) is Union:
        return 1  # never
    if get_args(Union[int, Union[str, int], None]) != (int, str, type(None)):
        return 2  # never
    if Union[int, int] is not int:
        return 3  # never
    if isinstance("text", int | None) or not isinstance(None, Union[int, None]) or isinstance(Later(), Union[int, str]):
        return 4  # never
    if isinstance(get_args(List["Later"])[0], str) or get_args(list["Later"]) != ("Later",):
        return 5  # never
    if get_args(Annotated[int, "a text"])[1] != "a text":
        return 6  # never
    return 0  # always


def modules():
    if str.__module__ != "builtins" or list[int].__module__ != "builtins" or type(None).__module__ != "builtins":
        return 1  # never
    if List[int].__module__ != "typing" or Optional[int].__module__ != "typing" or Annotated[int, 1].__module__ != "builtins":
        return 2  # never
    if Any.__module__ != "typing" or Later.__module__ != __name__:
        return 3  # never
    return 0  # always


def main():
    parser = argparse.ArgumentParser()
    for field in dataclasses.fields(Settings):
        parser.add_argument("--" + field.name, default=field.default, **options(field))
    args = parser.parse_args()
    if args.eager:
        x = 1  # never
    if args.mode == "slow" and args.limit == 5:
        x = 2  # always
    if len(options(dataclasses.fields(Settings)[2])["choices"]) != 3:
        x = 3  # never
    if "type" not in options(dataclasses.fields(Settings)[5]):
        x = 4  # never
    x = unions() + modules()
    return x


main()
