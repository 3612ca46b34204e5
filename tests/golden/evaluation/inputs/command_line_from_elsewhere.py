import argparse

import outside


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="auto")
    args = parser.parse_args(["--mode=" + str(each) for each in outside.items])
    if args.mode == "auto":
        x = 1  # may
    if not hasattr(args, "mode"):
        return 2  # may
    x = 3  # may
    return x


main()
