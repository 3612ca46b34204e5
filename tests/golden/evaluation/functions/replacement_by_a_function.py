# launch: --no_color --log.level=max_value
import re
import sys

import outside

FLAG = re.compile(r"(?<=--)[^.=]*")


def dashes(match):
    return match.group(0).replace("_", "-")


def guessed(match):
    return outside.ask() and match.group(0) or ""


def main():
    words = [FLAG.sub(dashes, each, count=1) for each in sys.argv[1:]]
    if "--no-color" in words:
        x = 1  # always
    if "--log.level=max_value" in words:
        x = 2  # always
    if re.sub("[a-c]", lambda found: found.group(0).upper(), "abcd") != "ABCd":
        x = 3  # never
    if re.sub("[a-c]", guessed, "abcd") == "abcd":
        x = 4  # may
    if re.sub("[x-z]", guessed, "abcd") == "abcd":
        x = 5  # always
    return x


main()
