import threading
class L(threading.local):
    on = False
    def __init__(self):
        self.two = False
loc = L()
def work():
    loc.on = True
    loc.two = True
    if loc.on:
        print("c45")
    if loc.two:
        print("c45b")


def run():
    t = threading.Thread(target=work)
    t.start()
    t.join()
