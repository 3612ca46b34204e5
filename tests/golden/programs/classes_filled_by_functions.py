import collections


class Kind:
    _by_name = {}
    _order = []
    _flags = collections.defaultdict(set)
    _next = 0

    def __init__(self, name, value):
        self.name = name
        self.value = value

    @classmethod
    def register(cls, name):
        kind = cls(name, cls._next)
        cls._next = cls._next + 1
        cls._by_name[name] = kind
        cls._order.append(kind)
        setattr(cls, name, kind)
        return kind

    @classmethod
    def from_string(cls, name):
        try:
            return cls._by_name[name.upper()]
        except KeyError as missing:
            raise ValueError(f"unknown kind {name}") from missing

    def has(self, flag):
        return self.value in type(self)._flags.get(flag, set())


MARKERS = {
    "DRAFT": lambda kind: Kind._flags["DRAFT"].add(kind.value),
    "WIDE": lambda kind: Kind._flags["WIDE"].add(kind.value),
}


def register_kind(name, flags=()):
    try:
        kind = Kind.from_string(name)
    except ValueError:
        kind = Kind.register(name)
    for flag in flags:
        MARKERS[flag](kind)
    return kind


def register_all(names):
    for name in names:
        register_kind(name)


class Registry:
    def __init__(self):
        self.rows = {}

    def add(self, name, row):
        self.rows[name] = row


REGISTRY = Registry()


def known(name):
    def add(function):
        REGISTRY.add(name, function)
        return function

    return add


Kind.register("NONE")

register_kind("EAGLE", flags=("DRAFT",))

EAGLE3 = register_kind(
    "EAGLE3",
    flags=("DRAFT", "WIDE"),
)

register_all(["NGRAM", "STANDALONE"])


@known("greet")
def greet():
    return "hello"


def look(name):
    kind = Kind.from_string(name)
    if kind.has("DRAFT"):
        print("a draft")
    else:
        print("no draft")
    if kind.has("WIDE"):
        print("wide")
    else:
        print("narrow")


def run():
    look("eagle")
    if len(Kind._order) == 5:
        print("all of them")
    if Kind._by_name["EAGLE3"] is EAGLE3:
        print("the same")
    if Kind.NGRAM.value == 3:
        print("counted")
    if "greet" in REGISTRY.rows:
        print(REGISTRY.rows["greet"]())
    try:
        Kind.from_string("late")
    except ValueError:
        print("not yet")
    register_kind("LATE", flags=("WIDE",))
    late = Kind.from_string("late")
    if late.has("WIDE"):
        print("late and wide")
