# launch: --mode fast
import argparse

from outside import u0


def main():
    parser = argparse.ArgumentParser()
    if u0:
        parser.add_argument("--mode", action="store_true")
    else:
        parser.add_argument("--mode", default="slow")
    args, rest = parser.parse_known_args()
    if args.mode is True:
        print("a switch")  # may
    if args.mode == "fast":
        print("a value")  # may
    print("after")  # always


if __name__ == "__main__":
    main()
