from outside import items


def first():
    for i in items:
        return 1  # may
    return 2  # may


def tidied():
    for i in items:
        try:
            return 1  # may
        finally:
            x = 2  # may
    return 3  # may


def main():
    first()
    tidied()
    return 1  # always


def start():
    main()


start()
