def make():
    n = 0
    def inc():
        nonlocal n
        n += 1
        if n > 1:
            print("nonlocal")
        return n
    return inc


def run():
    i = make()
    i()
    i()
