"""Writers of the attribute ``size``; the mark at the end of a line names the kinds found on it."""


class A:
    size: int  #@ field
    size: int = 1  #@ field = 1
    size = 2  #@ field = 2
    other = size

    def __init__(self, size, a):
        self.size = size  #@ assign self = size
        self.size += 1  #@ augment self = 1
        self.size: int = 3  #@ assign self = 3
        self.a.size = a.size  #@ assign self.a = a.size
        self.size, b = 1, 2  #@ assign self
        self.b = self.size = 4  #@ assign self = 4
        for self.size in a:  #@ assign self
            pass
        with a as self.size:  #@ assign self
            pass
        del self.size  #@ delete self
        size = 3
        self.size[0] = 1
        self.size.x = 1
        print(self.size)

    @property
    def size(self):  #@ method
        return self._size

    @size.setter
    def size(self, size):  #@ method
        self._size = size


setattr(a, "size", 1)  #@ setattr a = 1
object.__setattr__(a, "size", 2)  #@ setattr a = 2
a.__setattr__("size", 3)  #@ setattr a = 3
msgspec.structs.force_setattr(a, "size", 4)  #@ setattr a = 4
delattr(a, "size")  #@ delete a
a.__dict__["size"] = 5  #@ setattr a = 5
vars(a)["size"] = 6  #@ setattr a = 6
getattr(a, "size")
a["size"] = 1
B(size=7)  #@ keyword = 7
dataclasses.replace(a, size=8)  #@ keyword = 8
f"{(lambda: A(size=9))}"  #@ keyword = 9
if a:
    A.size = 10  #@ assign A = 10
