# launch: --flag --size 3 --color red train --lr 0.5
import argparse


class Upper(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, values.upper())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flag", action="store_true")
    parser.add_argument("--no-cache", dest="cache", action="store_false")
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--color", choices=["red", "blue"])
    parser.add_argument("--names", nargs="*", default=["n"])
    parser.add_argument("--name", action=Upper, default="low")
    commands = parser.add_subparsers(dest="command")
    train = commands.add_parser("train")
    train.add_argument("--lr", type=float)
    commands.add_parser("serve").add_argument("--port", type=int)
    args = parser.parse_args()
    if args.flag:
        x = 1  # always
    if not args.cache:
        x = 2  # never
    if args.size == 3:
        x = 3  # always
    if args.size == "3":
        x = 4  # never
    if args.color != "red":
        x = 5  # never
    if args.names == ["n"]:
        x = 6  # always
    if args.name == "low":
        x = 7  # always
    if args.command == "train":
        x = args.lr  # always
    if hasattr(args, "port"):
        x = 8  # never
    if x != 0.5:
        x = 9  # never
    return x


def start():
    main()


start()
