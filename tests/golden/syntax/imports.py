import a
import a.b.c
import a as b, c.d as e
from a import b
from a.b import c as d, e
from a import (b, c,)
from a import *
from . import a
from .a import b
from ... import a
from ...a.b import c
from __future__ import annotations
try:
    import a
except ImportError:
    a = None
if TYPE_CHECKING:
    from a import b
#= 1-1 Import([Alias(a, -)])
#= 2-2 Import([Alias(a.b.c, -)])
#= 3-3 Import([Alias(a, b), Alias(c.d, e)])
#= 4-4 ImportFrom(a, 0, [Alias(b, -)])
#= 5-5 ImportFrom(a.b, 0, [Alias(c, d), Alias(e, -)])
#= 6-6 ImportFrom(a, 0, [Alias(b, -), Alias(c, -)])
#= 7-7 ImportFrom(a, 0, [Alias(*, -)])
#= 8-8 ImportFrom('', 1, [Alias(a, -)])
#= 9-9 ImportFrom(a, 1, [Alias(b, -)])
#= 10-10 ImportFrom('', 3, [Alias(a, -)])
#= 11-11 ImportFrom(a.b, 3, [Alias(c, -)])
#= 12-12 ImportFrom(__future__, 0, [Alias(annotations, -)])
#= 13-16 Try([Import([Alias(a, -)])], [Handler(ImportError, -, [Assign([a], None)])], [], [])
#= 17-18 If(TYPE_CHECKING, [ImportFrom(a, 0, [Alias(b, -)])], [])
