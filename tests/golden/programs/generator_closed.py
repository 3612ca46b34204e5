def gen_():
    try:
        yield 1
    finally:
        print("closed")
    print("no: after")


def run():
    for x in gen_():
        break
