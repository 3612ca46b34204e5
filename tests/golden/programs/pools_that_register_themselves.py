POOLS = {}


class Pool:
    def __init_subclass__(cls, kind=None):
        super().__init_subclass__()
        if kind:
            POOLS[kind] = cls

    def __init__(self, size):
        self.size = size
        self.closed = False

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.closed = True


class Inline(Pool, kind="inline"):
    def submit(self, function):
        return function()


class Base(Pool):
    pass


class Threads(Base, kind="thread"):
    def submit(self, function):
        return [function()]


def create(kind, size):
    cls = POOLS.get(kind)
    if cls is None:
        raise ValueError(kind)
    return cls(size)


def run():
    pool = create("thread", 1)
    with pool:
        if pool.submit(lambda: 1) == [1]:
            print("submitted")
    if pool.closed:
        print("closed")
    if sorted(POOLS) == ["inline", "thread"]:
        print("two pools")
