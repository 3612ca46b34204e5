"""Writers that hide the attribute's name; a mark says that the line is one, and to what."""


def f(a, name, values, **kw):
    setattr(a, name, 1)  #@ a
    setattr(a, "fixed", 1)
    setattr(a, f"w_{name}", 1)  #@ a
    setattr(*values)  #@
    delattr(a, name)  #@ a
    object.__setattr__(a, name, 1)  #@ a
    a.__setattr__(name, 1)  #@ a
    a.__setattr__("fixed", 1)
    a.__dict__.update(kw)  #@ a
    a.__dict__.update(x=1)  #@ a
    a.__dict__[name] = 1  #@ a
    a.__dict__["fixed"] = 1
    a.__dict__ = kw  #@ a
    vars(a).update(kw)  #@ a
    vars(a)[name] = 1  #@ a
    del a.__dict__[name]  #@ a
    for key in a.__dict__:
        print(a.__dict__[key])
    for key, value in vars(a).items():
        print(key)
    copy = dict(a.__dict__)
    copy = {**a.__dict__}
    b = A(**vars(a))
    fill(a.__dict__)  #@ a
    if name in a.__dict__:
        return a.__dict__.get(name)
    msgspec.structs.force_setattr(a, name, 1)  #@ a
