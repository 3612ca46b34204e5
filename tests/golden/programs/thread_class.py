import threading
class T(threading.Thread):
    def __init__(self):
        super().__init__()
        self.res = None
        self.err = None
    def run(self):
        try:
            self.res = 1
            raise ValueError
        except ValueError as e:
            self.err = e


def run():
    t = T()
    if t.res is None:
        print("not yet")
    t.start()
    t.join()
    if t.res == 1:
        print("ran")
    if t.err:
        print("err")
    never = T()
    if never.res is None:
        print("never started")
