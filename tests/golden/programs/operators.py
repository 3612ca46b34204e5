class P:
    @property
    def x(self):
        return self._x
    @x.setter
    def x(self, v):
        self._x = v * 2
    @x.deleter
    def x(self):
        self._x = None
    @classmethod
    def make(cls, *a, **k):
        return cls(*a, **k)
    @staticmethod
    def st(a):
        return a
    def __getitem__(self, i):
        return i
    def __len__(self):
        return 0
    def __contains__(self, i):
        return i == 5
    def __eq__(self, o):
        return True
    def __call__(self, a=1):
        return a
    def __add__(self, o):
        return "add"
    def __radd__(self, o):
        return "radd"
    def __lt__(self, o):
        return True
    def __bool__(self):
        return True
    def __iter__(self):
        yield from (1, 2)
    def __format__(self, spec):
        return "fmt" + spec
    def __enter__(self):
        return 7
    def __exit__(self, *a):
        return True
    def __hash__(self):
        return 1
    def __neg__(self):
        return "neg"
    def __index__(self):
        return 2
    def __int__(self):
        return 3
    def __matmul__(self, o):
        return "mm"
    def __iadd__(self, o):
        self.i = o
        return self
    def __delitem__(self, i):
        self.d = i
    def __setitem__(self, i, v):
        self.s = (i, v)


def run():
    p = P()
    p.x = 4
    if p.x == 8:
        print("setter")
    del p.x
    if p.x is None:
        print("deleter")
    if P.make().st(3) == 3 and P.st(4) == 4:
        print("st")
    if p[5] == 5 and 5 in p and 4 not in p:
        print("items")
    if p:
        print("bool over len")
    if p == 3 and p != 3 or True:
        print("eq")
    if p(2) == 2 and p() == 1:
        print("call")
    if p + 1 == "add" and 1 + p == "radd":
        print("add")
    if p < 1 and 1 > p:
        print("lt")
    if list(p) == [1, 2] and [*p] == [1, 2] and sum(p) == 3:
        print("iter")
    if f"{p:abc}" == "fmtabc" and format(p, "z") == "fmtz" and "{:q}".format(p) == "fmtq":
        print("format")
    if -p == "neg" and p @ 1 == "mm":
        print("ops")
    if [1, 2, 3][p] == 3 and int(p) == 3 and hash(p) == 1:
        print("index")
    q = p
    p += 5
    if q is p and p.i == 5:
        print("iadd")
    del p[3]
    p[1] = 2
    if p.d == 3 and p.s == (1, 2):
        print("items2")
    with p as seven:
        if seven == 7:
            print("seven")
        raise ValueError
    print("after with")
    a, b = p
    if (a, b) == (1, 2):
        print("unpack")
    x, *y = [1, 2, 3]
    if y == [2, 3]:
        print("star")
    if (n := 10) > 5 and n == 10:
        print("walrus")
    if [n for n in range(3)] and n == 10:
        print("comp scope")
    if any((w := v) > 1 for v in (1, 2, 3)) and w == 2:
        print("walrus comp")
