# launch: --size many
import argparse


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int)
    try:
        args = parser.parse_args()  # always
        return args.size  # never
    except SystemExit:
        return 0  # always


def start():
    size = main()
    if size:
        return size  # never
    return 1  # always


start()
