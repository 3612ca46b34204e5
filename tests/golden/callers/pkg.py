"""References to ``target`` and to ``Thing``; the mark at the end of a line names the kinds found on it."""
from mod import target  #@ import
from mod import target as other  #@ import
import functools
import mod.target  #@ import
import operator

target()  #@ call
target(target)  #@ call, value argument
other(1)  #@ call
x = target  #@ value assigned
x = y = (target, 1)  #@ value list
x = {"a": target, "b": other}  #@ value dict, value dict
x = [target]  #@ value list
x = lambda: target  #@ value lambda
x = lambda: target()  #@ call
x = functools.partial(target, 1)  #@ value argument
x = Process(target=target)  #@ value argument
x = target if y else other  #@ value assigned, value assigned
x = target or None  #@ value assigned
getattr(obj, "target")()  #@ getattr
if hasattr(obj, "target"): pass  #@ getattr
x = operator.methodcaller("target")  #@ getattr
x = {"target": 1}  #@ string dict
x = load("mod.target")  #@ string argument
x = load("mod:target")  #@ string argument
x = "a target in prose"
x = f"{target()}"  #@ call
# target in a comment


@target  #@ decorator
def f(a=target, b: target = 1) -> target:  #@ value default, annotation, annotation
    return target  #@ value return


@target(1)  #@ decorator
class A(mod.target):  #@ base
    def target(self):
        self.target()  #@ call
        super().target()  #@ super
        A.target(self)  #@ call
        cb = self.target  #@ value assigned
        self.target = None
        del self.target
        return (await_(self).target)  #@ value return


for target in xs:
    pass
[1 for target in xs]
