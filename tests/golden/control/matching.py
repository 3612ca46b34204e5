"""match: earlier cases, patterns, guards, cases that leave."""


def cases(a, b):
    match a:
        case 1:
            x = 1  #@ match: a matches 1
        case [y, *_] if y > b:
            x = 2  #@ match: not a matches case 1; match: a matches [y, *_]; match: y > b
        case {"k": z}:
            x = z  #@ match: not a matches case 1; match: not a matches case [y, *_]; match: a matches {"k": z}
        case _:
            x = 0  #@ match: not a matches case 1; match: not a matches case [y, *_]; match: not a matches case {"k": z}; match: a matches _
    return x  #@


def guard(a, b):
    match a:
        case 1 if here():  #@ match: a matches 1
            return 1


def leaving(a):
    match a:
        case 1:
            return 1
        case 2:
            x = 2
        case 3:
            return 3
    return x  #@ early_exit: not a matches case 1; early_exit: a matches case 2 unless not a matches case 3


def all_leave(a):
    match a:
        case 1:
            return 1
        case _:
            return 2
    return 3  #@ early_exit: not a matches case 1; early_exit: never
