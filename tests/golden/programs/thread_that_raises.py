import threading
log = []
def bad():
    log.append(1)
    raise ValueError("in thread")
    log.append(2)
threading.excepthook = lambda a: None


def run():
    t = threading.Thread(target=bad)
    t.start()
    t.join()
    print("main goes on")
    if len(log) == 1:
        print("one")
