"""What a model wrote as arguments, read against a tool's schema: forgiving in form, strict in content."""

from __future__ import annotations

import json
from typing import Any

from agent.domain.errors import UsageError
from agent.llm.interface import ToolSpec


def read_arguments(spec: ToolSpec, raw: str) -> dict[str, Any]:
    """The arguments, or a UsageError that tells the model what to write instead."""
    given = _loaded(spec, raw)
    known = spec.parameters["properties"]
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise UsageError(f"{spec.name} has no argument {', '.join(unknown)}", hint=_usage(spec))
    read = {name: _value(spec, name, known[name], value) for name, value in given.items() if value is not None}
    missing = [name for name in spec.parameters["required"] if name not in read]
    if missing:
        raise UsageError(f"{spec.name} needs {', '.join(missing)}", hint=_usage(spec))
    return read


def _loaded(spec: ToolSpec, raw: str) -> dict[str, Any]:
    try:
        given = json.loads(raw or "{}")
        if isinstance(given, str):
            # Some models encode twice.
            given = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the arguments of {spec.name} are no JSON: {error}", hint=_usage(spec)) from None
    if not isinstance(given, dict):
        raise UsageError(f"the arguments of {spec.name} are no JSON object", hint=_usage(spec))
    return given


def _value(spec: ToolSpec, name: str, schema: dict[str, Any], value: Any) -> Any:
    wanted = schema.get("type")
    if wanted == "string" and isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    if wanted == "integer" and isinstance(value, (str, float)):
        value = _integer(value)
    if wanted in _TYPES and (not isinstance(value, _TYPES[wanted]) or (wanted == "integer" and isinstance(value, bool))):
        raise UsageError(f"{spec.name}: {name} must be of type {wanted}", hint=_usage(spec))
    if isinstance(value, str):
        return _string(spec, name, schema, value)
    if isinstance(value, int) and not schema.get("minimum", value) <= value:
        raise UsageError(f"{spec.name}: {name} must be at least {schema['minimum']}")
    return min(value, schema["maximum"]) if isinstance(value, int) and "maximum" in schema else value


def _string(spec: ToolSpec, name: str, schema: dict[str, Any], value: str) -> str:
    if len(value) > schema.get("maxLength", 2000) or "\x00" in value:
        raise UsageError(f"{spec.name}: {name} is too long or no text")
    if "enum" in schema and value not in schema["enum"]:
        raise UsageError(f"{spec.name}: {name} must be one of {', '.join(schema['enum'])}")
    return value


def _integer(value: str | float) -> Any:
    try:
        return int(value) if isinstance(value, str) or value.is_integer() else value
    except (ValueError, OverflowError):
        return value


_TYPES: dict[str, type | tuple[type, ...]] = {"string": str, "integer": int, "array": list, "object": dict, "boolean": bool}


def _usage(spec: ToolSpec) -> str:
    fields = {name: schema.get("type", "any") for name, schema in spec.parameters["properties"].items()}
    return f"arguments: {json.dumps(fields)}, required: {', '.join(spec.parameters['required']) or 'none'}"
