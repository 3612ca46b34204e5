_it = None
def get_():
    global _it
    if _it is not None:
        print("global cached")
        return _it
    _it = object()
    return _it


def run():
    get_()
    get_()
