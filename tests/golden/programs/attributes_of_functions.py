def f():
    f.calls += 1
    if f.calls > 1:
        print("calls")
f.calls = 0


def run():
    f()
    f()
