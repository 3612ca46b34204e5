"""Hugging Face ``config.json``: loaded through AutoConfig or a class of the tree; a missing key may be a class default, hence unknown.

Format: the JSON that ``PretrainedConfig.save_pretrained`` writes. ``attribute_map`` of a class of the tree is honoured. What the classes of
the transformers library set by themselves stands in ``config_classes.json`` (made by ``scripts/config_class_table.py``); using it is an
assumption that answers name.
"""

from __future__ import annotations

import json
import os.path
from functools import cache
from importlib import resources
from typing import Any

from agent.analysis import ir
from agent.analysis.walk import walk
from agent.domain.source import Absent
from agent.evaluation import facts
from agent.evaluation.concrete import lift, reason_of
from agent.evaluation.machine import Machine
from agent.evaluation.models.files import path_text, read_file
from agent.evaluation.models.interface import Attribute, Callee, Kwargs
from agent.evaluation.state import Cell, Place
from agent.evaluation.subscripts import update_dict
from agent.evaluation.values import ABSENT, AV, NONE, ClassV, Const, DictObj, ExternV, Instance, ModuleV, Tup, Unk

CONFIG = "transformers.configuration_utils.PretrainedConfig"
CONFIG_CLASSES = frozenset({CONFIG, "transformers.PretrainedConfig", "transformers.PreTrainedConfig"})

BASE_DEFAULTS: dict[str, Any] = {
    "return_dict": True, "output_hidden_states": False, "output_attentions": False, "torchscript": False, "use_bfloat16": False,
    "tie_word_embeddings": True, "is_encoder_decoder": False, "is_decoder": False, "cross_attention_hidden_size": None,
    "add_cross_attention": False, "tie_encoder_decoder": False, "architectures": None, "finetuning_task": None, "id2label": None,
    "tokenizer_class": None, "prefix": None, "bos_token_id": None, "pad_token_id": None, "eos_token_id": None, "sep_token_id": None,
    "decoder_start_token_id": None, "task_specific_params": None, "problem_type": None,
}  # fmt: skip
"""Defaults that the base class of transformers 4 gives every configuration."""


def _from_pretrained(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``AutoConfig.from_pretrained(path)``."""
    return load(m, args[0] if args else kwargs.get("pretrained_model_name_or_path", NONE), kwargs)


def load(m: Machine, where: AV, kwargs: Kwargs, cls: AV | None = None) -> AV:
    """A configuration object from ``path/config.json``."""
    directory = path_text(m, where)
    if directory is None:
        return m.missing(reason_of(where), "object")
    name = kwargs.get("_configuration_file")
    path = os.path.join(directory, str(name.v) if isinstance(name, Const) else "config.json")
    content = read_file(m, path)
    if isinstance(content, Absent):
        m.throw_new("OSError", f"{directory} has no config.json")
    if not isinstance(content, bytes):
        return m.missing(f"{path} was not read", "object")
    try:
        values = json.loads(content)
    except ValueError as error:
        m.throw_new("OSError", f"{path} is not valid JSON: {error}")
    kind = values.get("model_type")
    if cls is None and isinstance(kind, str) and kind not in library_classes()["classes"]:
        own = _tree_class(m, kind)
        if own is not None:
            return _construct(m, own, values, path)
    return build(m, values, path, cls)


def build(m: Machine, values: dict[str, Any], path: str, cls: AV | None = None) -> AV:
    """An object with the file's keys as attributes; sections named ``..._config`` of known composite shape become objects too."""
    why_open = f"a key that {path} lacks may have a default in its configuration class"
    obj = Instance(cls if cls is not None else ExternV(CONFIG), path, why_open)
    for key, value in values.items():
        m.state.own[(obj, key)] = Cell(_value(m, key, value, path), Place(path, 0), (), m.control, None, f"{key} in {path}", key)
    seen: dict[str, set[str]] = m.singletons.setdefault("config files", {})
    seen.setdefault(path, set()).update(values)
    return obj


@cache
def library_classes() -> dict[str, Any]:
    """The table of the library's configuration classes by ``model_type``."""
    text = resources.files("agent.evaluation.models").joinpath("config_classes.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _described(m: Machine, obj: Instance) -> dict[str, Any] | None:
    """The library's class behind an object, unless the host is known to have a release that the table does not speak for."""
    cell = m.state.get((obj, "model_type"))
    if cell is None or not isinstance(cell.value, Const) or isinstance(obj.cls, ClassV):
        return None
    version = facts.table(m).packages.get("transformers")
    if isinstance(version, str) and not version.startswith("4."):
        return None
    row: dict[str, Any] | None = library_classes()["classes"].get(cell.value.v)
    if row is not None and version != library_classes()["transformers"]:
        m.assume(f"transformers {library_classes()['transformers']} class defaults of {row['class']} hold on the host")
    return row


def _library_default(m: Machine, obj: Instance, row: dict[str, Any], name: str) -> AV | None:
    """A default of the library's class; None where the class does not set the attribute."""
    if name in row["map"]:
        return m.getattr(obj, row["map"][name])
    if name in row["known"]:
        return _value(m, name, row["known"][name], "default")
    if name in row["computed"]:
        return m.missing(f"{name}: {row['class']} computes it where the file lacks it")
    return None


def all_attributes(m: Machine, obj: Instance) -> dict[str, AV] | None:
    """What the library's class sets where the file does not; None where the class is not known."""
    row = _described(m, obj)
    if row is None:
        return {name: lift(m, value) for name, value in BASE_DEFAULTS.items()} if isinstance(obj.cls, ClassV) and not obj.open else None
    found = {name: lift(m, value) for name, value in {**BASE_DEFAULTS, **row["known"]}.items()}
    found.update({name: Unk(f"{row['class']} computes {name}") for name in row["computed"]})
    return found


def _tree_class(m: Machine, model_type: str) -> ClassV | None:
    """A configuration class that the tree registers with AutoConfig for a type the library does not know."""
    registered: dict[str, AV] | None = m.singletons.get("registered configurations")
    if registered is None:
        registered = m.singletons["registered configurations"] = {}
        for path in m.index.tree.containing([b"AutoConfig.register("]):
            _run_registrations(m, path)
    found = registered.get(model_type)
    return found if isinstance(found, ClassV) else None


def _run_registrations(m: Machine, path: str) -> None:
    """Runs the top-level statements of a module that register configuration classes."""
    from agent.evaluation.modules import run_statements

    module = _module(m, path)
    if not isinstance(module, ModuleV) or module.ir is None:
        return
    due = [s for s in module.ir.body if not isinstance(s, (ir.FunctionDef, ir.ClassDef)) and any(_registers(node) for node in walk(s))]
    run_statements(m, module, due)


def _registers(node: ir.Node) -> bool:
    if not isinstance(node, ir.Call) or not isinstance(node.func, ir.Attribute) or node.func.attr != "register":
        return False
    return isinstance(node.func.value, ir.Name) and node.func.value.id == "AutoConfig"


def _register(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    if len(args) >= 2 and isinstance(args[0], Const):
        m.singletons.setdefault("registered configurations", {})[args[0].v] = args[1]
    return NONE


def library_class(m: Machine, dotted: str, kwargs: Kwargs) -> AV | None:
    """``transformers.LlamaConfig(hidden_size=...)``: an object of a class that the table describes."""
    name = dotted.rpartition(".")[2]
    if not dotted.startswith("transformers.") or not name.endswith("Config"):
        return None
    kind = next((kind for kind, row in library_classes()["classes"].items() if row["class"] == name), None)
    if kind is None:
        return None
    obj = Instance(ExternV(CONFIG), name, f"{name} may set more")
    m.store((obj, "model_type"), Const(kind))
    for key, value in kwargs.items():
        if key != "**":
            m.store((obj, key), value)
    return obj


def _module(m: Machine, path: str) -> AV:
    from agent.evaluation.modules import import_module

    return import_module(m, m.index.dotted(path))


_COMPOSITE = frozenset(
    {
        "text_config",
        "vision_config",
        "audio_config",
        "llm_config",
        "language_config",
        "thinker_config",
        "talker_config",
        "speech_config",
    }
)


def _value(m: Machine, key: str, value: Any, path: str) -> AV:
    if isinstance(value, dict) and key in _COMPOSITE:
        return build(m, value, f"{path}:{key}")
    if key in ("torch_dtype", "dtype") and isinstance(value, str):
        return ExternV(f"torch.{value}")
    return lift(m, value)


def _tree_from_pretrained(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``ConfigClass.from_pretrained(path)`` of a class of the tree: the file's keys are its constructor's arguments."""
    cls = args[0]
    if not isinstance(cls, ClassV):
        return _from_pretrained(m, args, kwargs)
    directory = path_text(m, args[1]) if len(args) > 1 else None
    if directory is None:
        return m.missing(reason_of(*args[1:]), "object")
    content = read_file(m, os.path.join(directory, "config.json"))
    if not isinstance(content, bytes):
        return m.missing(f"{directory}/config.json was not read", "object")
    return _construct(m, cls, json.loads(content), os.path.join(directory, "config.json"))


def _construct(m: Machine, cls: ClassV, values: dict[str, Any], path: str) -> AV:
    made = m.call(cls, [], {key: lift(m, value) for key, value in values.items()})
    if isinstance(made, Instance):
        made.open = ""
        for key, value in values.items():
            if m.state.get((made, key)) is None:
                m.state.own[(made, key)] = Cell(_value(m, key, value, path), Place(path, 0), (), m.control, None, f"{key} in {path}", key)
    return made


def _config_init(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``PretrainedConfig.__init__(**kwargs)``: every keyword becomes an attribute."""
    for name, value in kwargs.items():
        if name != "**":
            m.store((args[0], name), value)
    return NONE


def _config_attribute(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """What neither the file nor the class of the tree sets: a base-class default, or unknown."""
    obj, name = args
    if not isinstance(obj, Instance) or not isinstance(name, Const):
        return Unk("a configuration attribute")
    mapped = _mapped(m, obj, name.v)
    if mapped is not None:
        return mapped
    row = _described(m, obj)
    if row is not None:
        default = _library_default(m, obj, row, name.v)
        if default is not None:
            return default
    if name.v in BASE_DEFAULTS:
        return lift(m, BASE_DEFAULTS[name.v])
    if any(fact.endswith(f".{name.v}") for fact in facts.table(m).missing_attributes):
        return ABSENT
    if row is not None or (isinstance(obj.cls, ClassV) and not obj.open):
        return ABSENT
    if name.v.startswith("_"):
        return ABSENT if name.v.startswith("__") else m.missing(obj.open or f"attribute {name.v}")
    return m.missing(f"{name.v}: {obj.open}")


def _mapped(m: Machine, obj: Instance, name: str) -> AV | None:
    from agent.evaluation.attributes import class_attribute

    if not isinstance(obj.cls, ClassV):
        return None
    table = class_attribute(m, obj.cls, "attribute_map")
    if table is None or not isinstance(table[0], DictObj):
        return None
    entry = m.entries(table[0]).items.get(name)
    return m.getattr(obj, str(entry[1].v)) if entry is not None and isinstance(entry[1], Const) else None


def _update(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    obj, values = args[0], args[1] if len(args) > 1 else NONE
    if isinstance(obj, Instance) and isinstance(values, DictObj):
        content = m.entries(values)
        for key, value in content.items.values():
            if isinstance(key, Const):
                m.store((obj, str(key.v)), value)
        if content.open:
            obj.open = obj.open or content.open
    return NONE


def _to_dict(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    made = m.new_dict()
    update_dict(m, made, m.getattr(args[0], "__dict__"))
    return made


def _text_config(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    cell = m.state.get((args[0], "text_config"))
    return cell.value if cell is not None else args[0]


def _get_config_dict(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    directory = path_text(m, args[1]) if len(args) > 1 else path_text(m, args[0])
    content = read_file(m, os.path.join(directory, "config.json")) if directory is not None else None
    if not isinstance(content, bytes):
        return Tup((Unk("a configuration that was not read", "dict"), m.new_dict()))
    return Tup((lift(m, json.loads(content)), m.new_dict()))


def _from_dict(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    if isinstance(args[0], ClassV) and len(args) > 1:
        return _construct(m, args[0], _plain(m, args[1]), "a dict")
    return Unk("a configuration", "object")


_METHODS: dict[str, Callee] = {
    "__init__": _config_init,
    "__getattr__": _config_attribute,
    "from_pretrained": _tree_from_pretrained,
    "from_dict": _from_dict,
    "get_config_dict": _get_config_dict,
    "update": _update,
    "to_dict": _to_dict,
    "to_diff_dict": _to_dict,
    "get_text_config": _text_config,
}


def _plain(m: Machine, value: AV) -> dict[str, Any]:
    from agent.evaluation.concrete import NotConcrete, concrete

    try:
        found: dict[str, Any] = concrete(m, value)
        return found
    except NotConcrete:
        return {}


def _made_of_keywords(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``PretrainedConfig(**values)``: the values, and defaults that are not known."""
    obj = Instance(ExternV(CONFIG), "PretrainedConfig()", "a default of PretrainedConfig")
    for name, value in kwargs.items():
        if name != "**":
            m.store((obj, name), value)
    return obj


def _generation_config(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    directory = path_text(m, args[0]) if args else None
    if directory is None:
        return m.missing("a generation config", "object")
    content = read_file(m, os.path.join(directory, "generation_config.json"))
    if isinstance(content, Absent):
        m.throw_new("OSError", f"{directory} has no generation_config.json")
    return m.missing("a generation config", "object")


FUNCTIONS: dict[str, Callee] = {
    "transformers.AutoConfig.from_pretrained": _from_pretrained,
    "transformers.models.auto.configuration_auto.AutoConfig.from_pretrained": _from_pretrained,
    "transformers.PretrainedConfig.from_pretrained": _from_pretrained,
    "transformers.PretrainedConfig.get_config_dict": lambda m, a, k: _get_config_dict(m, [NONE, *a], k),
    "transformers.AutoConfig.register": _register,
    "transformers.PretrainedConfig": _made_of_keywords,
    CONFIG: _made_of_keywords,
    "transformers.GenerationConfig.from_pretrained": _generation_config,
}
CONSTANTS: dict[str, Attribute] = {
    name: (lambda m: Const("config.json"))
    for name in ("transformers.utils.CONFIG_NAME", "transformers.CONFIG_NAME", "huggingface_hub.constants.CONFIG_NAME")
}
METHODS: dict[str, dict[str, Callee]] = {CONFIG: _METHODS}
