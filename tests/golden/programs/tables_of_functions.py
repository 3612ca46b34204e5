TABLE = {}
KEPT = {}
SEEN = []
GIVEN = {}


def register(name):
    def put(fn):
        TABLE[name] = fn
        return fn

    return put


def keep(fn):
    KEPT[fn.__name__] = fn
    return fn


def tell(name):
    def put(fn):
        GIVEN[name] = fn
        SEEN.append(fn)
        return fn

    return put


@register("a")
def make_a(size=None):
    if size is not None:
        print("a with", size)
    return "a"


@register("b")
def make_b(size=None):
    if size is not None:
        print("b with", size)
    return "b"


@register("c")
def make_c(size=None):
    if size == 7:
        print("c with", size)
    return "c"


@keep
def left(size=None):
    if size is not None:
        print("left")


@tell("d")
def make_d(size=None):
    if size is not None:
        print("d from a list")


def chosen(name):
    return TABLE[name]


def pick(name):
    maker = TABLE.get(name)
    if maker is None:
        raise ValueError(name)
    return maker(3)


def pass_on(maker):
    maker(4)


def run():
    pick("a")
    chosen("c")(7)
    for each in KEPT.values():
        each(1)
    for each in SEEN:
        each(2)
    GIVEN["d"]()
    if "b" in TABLE and len(TABLE) == 3:
        print("all there")
    pass_on(lambda size: left(size))
