# launch: --name abc --names p q
import argparse


class Upper(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, values.upper())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", action=Upper)
    parser.add_argument("--names", nargs="+")
    args = parser.parse_args()
    if args.name == "abc":
        x = 1  # never
    if args.names == ["p", "q"]:
        x = 2  # always
    return x  # always


def start():
    main()


start()
