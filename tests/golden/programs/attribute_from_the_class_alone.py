import contextlib


class Switch:
    on = False


@contextlib.contextmanager
def turned(switch):
    switch.on = True
    try:
        yield
    finally:
        switch.on = False


def inside(switch):
    with turned(switch):
        if switch.on:
            print("while it lasts")


def flip(switch):
    switch.on = True


def after(switch):
    if switch.on:
        print("as the call before has left it")


class Late(dict):
    def __getattr__(self, name):
        return None


def own(table):
    if table.keys is not None:
        print("the builtin type has it")
    if table.missing is None:
        print("nobody has it")


class Meta(type):
    def __getattr__(cls, name):
        return "none"

    def named(cls):
        if cls.__name__ == "Named":
            print("every class has a name")


class Named(metaclass=Meta):
    pass


def run():
    inside(Switch())
    switch = Switch()
    flip(switch)
    after(switch)
    own(Late())
    Named.named()
