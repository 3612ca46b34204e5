# launch: --size 3 --name x
import argparse


def converter(example):
    kind = type(example)
    return kind


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=converter(1), default=0)
    parser.add_argument("--name", type=type("a"), default="")
    args = parser.parse_args()
    if args.size == 3:
        x = 1  # always
    if args.name != "x":
        x = 2  # never
    if type([])("ab") != ["a", "b"]:
        x = 3  # never
    if type({})() == {} and type(1.5)("2.5") == 2.5:
        x = 4  # always
    return x


main()
