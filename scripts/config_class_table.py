"""Regenerates ``agent/evaluation/models/config_classes.json`` from an unpacked transformers wheel.

    python scripts/config_class_table.py DIRECTORY_WITH_transformers agent/evaluation/models/config_classes.json

Per ``model_type``: attributes with their literal default, attributes that the constructor computes, and the attribute map. Names and
defaults are facts of the library's interface; no code is copied.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

BASES = {"PretrainedConfig", "PreTrainedConfig"}


def literal(node: ast.AST | None) -> tuple[bool, Any]:
    """(known, value) of a literal expression that JSON can hold."""
    if node is None:
        return False, None
    try:
        value = ast.literal_eval(node)
        json.dumps(value)
    except (ValueError, TypeError):
        return False, None
    return not isinstance(value, (bytes, set)) and len(json.dumps(value)) < 400, value


def constructor(node: ast.FunctionDef) -> tuple[dict[str, Any], set[str]]:
    """Attributes that ``__init__`` sets: those whose value is a literal or an untouched parameter's literal default, and the others."""
    args = node.args.args[1:] + node.args.kwonlyargs
    defaults = [None] * (len(node.args.args) - 1 - len(node.args.defaults)) + list(node.args.defaults) + list(node.args.kw_defaults)
    given = {a.arg: d for a, d in zip(args, defaults, strict=False)}
    known: dict[str, Any] = {}
    computed: set[str] = set()
    touched = {t.id for s in ast.walk(node) if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
    for statement in ast.walk(node):
        single = [statement.target] if isinstance(statement, ast.AnnAssign) else []
        targets = statement.targets if isinstance(statement, ast.Assign) else single
        for target in targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                value = statement.value
                if isinstance(value, ast.Name) and value.id in given and value.id not in touched:
                    value = given[value.id]
                ok, plain = literal(value)
                if not ok or target.attr in known or target.attr in computed or statement not in node.body:
                    known.pop(target.attr, None)
                    computed.add(target.attr)
                else:
                    known[target.attr] = plain
    for name in ("bos_token_id", "eos_token_id", "pad_token_id", "tie_word_embeddings", "is_encoder_decoder"):
        if name in given and name not in known and name not in computed:
            ok, plain = literal(given[name])
            if ok:
                known[name] = plain
            else:
                computed.add(name)
    return known, computed


def describe(classes: dict[str, ast.ClassDef], name: str) -> tuple[dict[str, Any], set[str], dict[str, str], bool]:
    """A class with what it inherits inside its file; the last item is False where a base is elsewhere."""
    node = classes[name]
    known: dict[str, Any] = {}
    computed: set[str] = set()
    mapping: dict[str, str] = {}
    closed = True
    for base in node.bases:
        text = ast.unparse(base)
        if text in classes:
            inherited = describe(classes, text)
            known.update(inherited[0])
            computed |= inherited[1]
            mapping.update(inherited[2])
            closed &= inherited[3]
        elif text not in BASES:
            closed = False
    for item in node.body:
        if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
            ok, value = literal(item.value)
            key = item.targets[0].id
            if key == "attribute_map" and ok:
                mapping.update(value)
            elif ok:
                known[key] = value
            else:
                computed.add(key)
        elif isinstance(item, ast.FunctionDef) and item.name == "__init__":
            own, more = constructor(item)
            known.update(own)
            computed = (computed - set(own)) | more
        elif isinstance(item, ast.FunctionDef):
            computed.add(item.name)
    return known, computed - set(known), mapping, closed


def main(root: str, target: str) -> None:
    """Writes the table."""
    table: dict[str, Any] = {}
    for path in sorted(Path(root).glob("transformers/models/*/configuration_*.py")):
        classes = {n.name: n for n in ast.parse(path.read_text()).body if isinstance(n, ast.ClassDef)}
        for name, node in classes.items():
            named = [i for i in node.body if isinstance(i, ast.Assign) and ast.unparse(i.targets[0]) == "model_type"]
            types = [i.value.value for i in named if isinstance(i.value, ast.Constant)]
            if types and types[0]:
                known, computed, mapping, closed = describe(classes, name)
                known = {k: v for k, v in known.items() if not k.startswith("base_model_")}
                if closed:
                    table[types[0]] = {"class": name, "known": known, "computed": sorted(computed), "map": mapping}
    version = next(Path(root).glob("transformers-*.dist-info")).name.split("-")[1].removesuffix(".dist")
    Path(target).write_text(json.dumps({"transformers": version, "classes": table}, sort_keys=True, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:3])
