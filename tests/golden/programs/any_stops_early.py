seen_ = []
def t_(x):
    seen_.append(x)
    if x == 2:
        print("no: two")
    return True


def run():
    if any(t_(x) for x in (1, 2)):
        print("any")
    if seen_ == [1]:
        print("short")
    if next((x for x in (1, 2, 3) if x > 1), None) == 2:
        print("next")
