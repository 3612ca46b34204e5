"""``torch.nn.Module`` and the transformers library's model base: what they give every model, and which names they do not have.

Names of ``torch.nn.Module``: its documented interface. Those of ``PreTrainedModel`` stand in ``model_classes.json`` (made by
``scripts/model_class_table.py``); using them is an assumption that answers name.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from agent.analysis import ir
from agent.analysis.attribute_names import may_write
from agent.analysis.occurrences import occurrences
from agent.analysis.writers import receivers_by_text, reflective_by_text
from agent.evaluation.machine import Machine
from agent.evaluation.models.interface import Attribute, Callee
from agent.evaluation.values import ABSENT, AV, ClassV, Instance, Unk

MODULE = frozenset({"torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module"})
PRETRAINED = frozenset({"transformers.PreTrainedModel", "transformers.modeling_utils.PreTrainedModel"})
_PLAIN = frozenset({"abc.ABC", "typing.Generic", "typing.Protocol", "builtins.object"})
_NAMES = frozenset(
    "add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches eval extra_repr float forward "
    "get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict modules mtia named_buffers named_children "
    "named_modules named_parameters parameters register_backward_hook register_buffer register_forward_hook register_forward_pre_hook "
    "register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook register_load_state_dict_pre_hook "
    "register_module register_parameter register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ set_extra_state "
    "set_submodule share_memory state_dict to to_empty train training type xpu zero_grad T_destination".split()
)
_ITSELF = (
    "eval",
    "train",
    "to",
    "cuda",
    "cpu",
    "half",
    "float",
    "double",
    "bfloat16",
    "requires_grad_",
    "apply",
    "share_memory",
    "to_empty",
)


def _itself(m: Machine, args: list[AV], kwargs: dict[str, AV]) -> AV:
    """Methods that give the module itself."""
    return args[0]


def lacks(m: Machine, obj: Instance, name: str) -> bool:
    """Whether a model of the tree has no such attribute: no base outside the tree has the name, and no code could have given it."""
    cls = obj.cls
    if not isinstance(cls, ClassV) or not cls.opaque or name.startswith("_"):
        return False
    outside = set(cls.opaque) - _PLAIN
    if not outside or not outside <= MODULE | PRETRAINED or name in _NAMES:
        return False
    if outside & PRETRAINED:
        if name in _pretrained()["PreTrainedModel"]:
            return False
        m.assume(f"PreTrainedModel has on the host what it has in transformers {_pretrained()['transformers']}")
    return not _may_be_given(m, cls, name)


@cache
def _pretrained() -> dict[str, Any]:
    text = resources.files("agent.evaluation.models").joinpath("model_classes.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _may_be_given(m: Machine, cls: ClassV, name: str) -> bool:
    """``x.name = ...`` anywhere, a text that may register it, or a ``setattr`` in the model's own classes whose name is worked out."""
    if receivers_by_text(m.index, name) or any(_registers(m, path, name) for path in m.index.files_with(name)):
        return True
    own = {base.module.path for base in cls.mro}
    return any(path in own and may_write(m.index, path, line, name) for path, line, _ in reflective_by_text(m.index, "setattr"))


def _registers(m: Machine, path: str, name: str) -> bool:
    """A string of the name that is given to anything but a question."""
    parents = m.index.outline(path).parents
    for each in occurrences(m.index.module(path), name):
        if isinstance(each.node, ir.Constant) and each.node.value == name:
            call = parents.get(each.node)
            asked = isinstance(call, ir.Call) and isinstance(call.func, ir.Name) and call.func.id in ("hasattr", "getattr", "delattr")
            if not asked:
                return True
    return False


def _other(m: Machine, args: list[AV], kwargs: dict[str, AV]) -> AV:
    """An attribute that is neither written nor defined in the tree."""
    obj, name = args
    text = str(getattr(name, "v", ""))
    if isinstance(obj, Instance) and lacks(m, obj, text):
        return ABSENT
    if isinstance(obj, Instance) and obj.open:
        return m.missing(f"{text}: {obj.open}")
    return m.missing(f"attribute {text!r} may come from a class outside the tree") if text not in _NAMES else Unk(text, "object")


_ROWS: dict[str, Callee] = {**dict.fromkeys(_ITSELF, _itself), "__getattr__": _other}

FUNCTIONS: dict[str, Callee] = {}
CONSTANTS: dict[str, Attribute] = {}
METHODS: dict[str, dict[str, Callee]] = dict.fromkeys((*MODULE, *PRETRAINED), _ROWS)
