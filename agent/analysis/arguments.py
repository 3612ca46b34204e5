"""Which argument of a call goes to which parameter, where the call spreads nothing."""

from __future__ import annotations

from agent.analysis import ir


def arguments(call: ir.Call, function: ir.FunctionDef) -> dict[str, ir.Expr] | None:
    """Each argument by the name it is given under; a method's own object is left out. None where ``*`` or ``**`` may give any of them."""
    if any(isinstance(arg, ir.Starred) for arg in call.args) or any(keyword.name is None for keyword in call.keywords):
        return None
    names = [each.name for each in function.params if each.kind in ("posonly", "normal")]
    if names[:1] in (["self"], ["cls"]):
        names = names[1:]
    named = {keyword.name: keyword.value for keyword in call.keywords if keyword.name is not None}
    return {**dict(zip(names, call.args, strict=False)), **named}
