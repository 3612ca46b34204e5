import threading
class C:
    def __init__(self):
        self.on = False
        self.go_ev = threading.Event()
        self.done_ev = threading.Event()
    def busy(self):
        self.on = True
        self.go_ev.set()
        self.done_ev.wait()
        self.on = False
    def look(self):
        self.go_ev.wait()
        if self.on:
            print("threads")
        self.done_ev.set()


def run():
    c = C()
    t = threading.Thread(target=c.busy)
    t.start()
    c.look()
    t.join()
