import contextlib


class Left(Exception):
    pass


class Held:
    def __enter__(self):
        return 7  # always

    def __exit__(self, *args):
        return False  # always


@contextlib.contextmanager
def managed():
    before = 1  # always
    yield before
    after = 1


def main():
    with contextlib.suppress(Left):
        raise Left  # always
        x = 1  # never
    x = 2  # always
    with Held() as held:
        x = held  # always
    if x == 7:
        y = 1  # always
    else:
        y = 2  # never
    with managed() as m:
        y = m  # always
    if y != 1:
        y = 3  # never
    return y  # always


def start():
    main()


start()
