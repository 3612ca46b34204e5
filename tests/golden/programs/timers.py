import threading
ev = threading.Event()
def tick(n):
    if n == 2:
        print("tick")
    ev.set()


def run():
    t = threading.Timer(0.01, tick, [2])
    t.start()
    if ev.wait(5):
        print("set")
    t2 = threading.Timer(100, tick, [3])
    t2.daemon = True
    t2.start()
    t2.cancel()
