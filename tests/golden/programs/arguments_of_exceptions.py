import threading


class Failure(RuntimeError):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


class Worker(threading.Thread):
    def __init__(self, args):
        super().__init__()
        self.args = args


class Options:
    def __init__(self, size):
        self.size = size


def run():
    worker = Worker(Options(2))
    if worker.args.size == 2:
        print("options")
    try:
        {}["key"]
    except KeyError as problem:
        if problem.args == ("key",):
            print("key")
    try:
        raise Failure(3)
    except RuntimeError as problem:
        if problem.args == (3,) and problem.code == 3:
            print("code")
