import contextlib
class C:
    def __init__(self):
        self.on = False
    @contextlib.contextmanager
    def turned(self):
        self.on = True
        try:
            yield self
        finally:
            self.on = False
    def check(self):
        if self.on:
            print("c48")


def run():
    c = C()
    with c.turned():
        c.check()
    with contextlib.ExitStack() as st:
        st.enter_context(c.turned())
        c.check()
