import argparse
from outside import unknown


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="a")
    mode = parser.parse_args().mode
    if mode == "b":  # always
        x = 1  # never
    elif mode == "a":  # always
        x = 2  # always
    else:
        x = 3  # never
    if unknown:  # always
        y = 1  # may
    else:
        y = 2  # may
    if x == 2 or unknown:
        z = 1  # always
    if x == 3 and unknown:
        z = 2  # never
    if x == 2 and unknown:
        z = 3  # may
    if not (x == 3 or y):
        z = 4  # never
    return z  # always


def start():
    main()


start()
