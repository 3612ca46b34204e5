from outside import items


def main():
    total = 0
    for i in range(3):
        total += i  # always
    if total != 3:
        total = 9  # never
    for x in items:
        total = 4  # may
    if total == 5:
        total = 6  # never
    if total == 3:
        total = 3  # may
    for _ in []:
        total = 7  # never
    count = 0
    while count < 3:
        count += 1  # always
    if count != 3:
        total = 8  # never
    for key, value in {"a": 1}.items():
        if key == "a" and value == 1:
            total = 10  # always
    for i, (a, b) in enumerate(zip("ab", "cd")):
        if a == "z":
            total = 11  # never
    return total


def start():
    main()


start()
