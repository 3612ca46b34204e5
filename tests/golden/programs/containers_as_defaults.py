def f(x, seen=[]):
    if seen:
        print("seen")
    seen.append(x)
def g(x, memo={}):
    if x in memo:
        print("memo")
    memo[x] = 1


def run():
    f(1)
    f(2)
    g(1)
    g(1)
