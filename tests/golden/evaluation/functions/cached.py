# launch: --size 2
import argparse
import functools

from outside import u0

calls = 0


@functools.lru_cache(maxsize=None)
def counted(size):
    global calls
    calls += 1
    return calls


@functools.cache
def perhaps():
    global calls
    calls = 10
    return calls


@functools.lru_cache
def kind(value):
    return type(value).__name__


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int)
    size = parser.parse_args().size
    first = counted(size)
    again = counted(size)
    if first != again:
        return "twice"  # never
    other = counted(size + 1)
    if other == first:
        return "merged"  # never
    counted.cache_clear()
    if counted(size) == first:
        return "kept"  # never
    if kind(1) == kind("1"):
        return "one key"  # never
    if u0:
        perhaps()
    perhaps()
    if calls != 10:
        return "skipped"  # never
    counted.cache_info()
    return "done"  # always


main()
