import functools
class C:
    def work(self, on=False):
        if on:
            print("c17")
    full = functools.partialmethod(work, on=True)
    again = work


def run():
    C().full()
