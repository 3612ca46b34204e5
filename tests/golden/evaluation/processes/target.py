# children
import multiprocessing as mp
import threading


class Worker:
    def __init__(self, flag):
        self.flag = flag

    def loop(self):
        if self.flag:
            return 1
        return 2


def serve(port, mode="a"):
    if mode == "a":
        x = port
    else:
        x = 0
    return x


def tick():
    return 1


def unused():
    return 1  # never


def main():
    process = mp.Process(target=serve, args=(80,), kwargs={"mode": "a"})
    process.start()
    thread = threading.Thread(target=Worker(True).loop)
    thread.start()
    process.join()
    return 1  # always


def start():
    main()


start()
