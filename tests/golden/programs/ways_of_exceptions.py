class E1(Exception):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code
class E2(E1):
    pass
log = []
class CM:
    def __init__(self, swallow):
        self.swallow = swallow
    def __enter__(self):
        log.append("in")
        return self
    def __exit__(self, t, v, tb):
        log.append("out")
        return self.swallow and t is not None
def f(n):
    try:
        if n == 1:
            raise E2(5)
        if n == 2:
            return "two_"
        if n == 3:
            1 / 0
    except E1 as e:
        return e.code
    except (ZeroDivisionError, KeyError):
        return "zero"
    else:
        return "else"
    finally:
        log.append(n)
    return "end"
def fin():
    try:
        return 1
    finally:
        return 2
def loop():
    for i in range(3):
        try:
            if i == 1:
                continue
            if i == 2:
                break
        finally:
            log.append(("fin", i))
    else:
        return "no"
    return "broke"
def nested():
    try:
        try:
            raise KeyError("a")
        except KeyError as k:
            raise ValueError("b") from k
    except ValueError as v:
        return type(v.__cause__).__name__, str(v), v.args
def reraise():
    try:
        try:
            raise E1(1)
        except E1:
            log.append("re")
            raise
    except Exception as e:
        return e.code


def run():
    if f(1) == 5:
        print("5")
    if f(2) == "two_":
        print("two_")
    if f(3) == "zero":
        print("zero")
    if f(4) == "else":
        print("else")
    if fin() == 2:
        print("fin 2")
    if loop() == "broke":
        print("broke")
    if nested() == ("KeyError", "b", ("b",)):
        print("nested")
    if reraise() == 1:
        print("reraise")
    with CM(True):
        raise ValueError("x")
    print("swallowed")
    try:
        with CM(False):
            raise ValueError("y")
    except ValueError:
        print("not swallowed")
    try:
        with CM(True) as a, CM(False) as b:
            raise KeyError
    except KeyError:
        print("no")
    print("after both")
    e = None
    try:
        raise E2(7)
    except E1 as e:
        pass
    try:
        e
        print("no: e is gone")
    except UnboundLocalError:
        print("e is gone")
    try:
        int("x")
    except ValueError as err:
        msg = str(err)
    if "invalid literal" in msg:
        print("msg")
    try:
        {}["k"]
    except KeyError as err:
        if err.args == ("k",):
            print("kargs")
    try:
        [].pop()
    except IndexError:
        print("index")
    try:
        None.foo
    except AttributeError:
        print("attr")
    try:
        "a" + 1
    except TypeError:
        print("type")
    try:
        a, b = [1, 2, 3]
    except ValueError:
        print("unpack")
    try:
        assert False, "no"
    except AssertionError as err:
        print("assert")
    try:
        raise SystemExit(3)
    except SystemExit as err:
        if err.code == 3:
            print("sysexit")
    try:
        import nonexist_zzz
    except ModuleNotFoundError as err:
        print("modnotfound")
    try:
        next(iter([]))
    except StopIteration:
        print("stopiter")
    try:
        open("/nonexistent/x")
    except FileNotFoundError as err:
        print("fnf")
    try:
        f(1, 2, 3)
    except TypeError:
        print("args")
    try:
        raise ExceptionGroup("g", [ValueError(1)])
    except* ValueError as eg:
        print("group")
