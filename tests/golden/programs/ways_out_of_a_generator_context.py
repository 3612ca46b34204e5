import contextlib
class S:
    on = False
@contextlib.contextmanager
def turned(s):
    s.on = True
    try:
        yield s
    finally:
        s.on = False
@contextlib.contextmanager
def swallow():
    try:
        yield
    except ValueError:
        pass
@contextlib.contextmanager
def plain(s):
    yield
    s.done = True
def f(s):
    with turned(s):
        return s.on
def g(s):
    with plain(s):
        return 5
def loop(s):
    for i in range(3):
        with turned(s):
            if i == 1:
                break
    return i
def h():
    with swallow():
        raise ValueError
    return "after"
def k():
    with contextlib.suppress(KeyError), swallow():
        raise ValueError
    return "after"
def ex():
    with contextlib.ExitStack() as st:
        s = S()
        st.enter_context(turned(s))
        if s.on:
            print("in stack")
        st.callback(setattr, s, "cb", 1)
    if getattr(s, "cb", 0) == 1:
        print("cb ran")
    if not s.on:
        print("stack closed")


def run():
    s = S()
    if f(s):
        print("on inside")
    if not s.on:
        print("off after return")
    if g(s) == 5:
        print("5")
    if s.done:
        print("done")
    if loop(s) == 1:
        print("loop 1")
    if not s.on:
        print("off after break")
    if h() == "after":
        print("h")
    if k() == "after":
        print("k")
    ex()
    @turned(s)
    def deco():
        if s.on:
            print("decorated")
    deco()
