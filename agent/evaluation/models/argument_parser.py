"""``argparse``, by the real thing: the analysed program's options are given to a real parser, whose errors are then the program's own.

A ``type=`` or action of the tree is called through the machine. Reference: the ``argparse`` documentation; prefix matching, ``nargs``,
``choices`` and error texts are those of this interpreter's standard library.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

from agent.evaluation.attributes import class_attribute
from agent.evaluation.concrete import NotConcrete, concrete, lift
from agent.evaluation.frames import Catcher, Dead
from agent.evaluation.iteration import iterate
from agent.evaluation.machine import Machine
from agent.evaluation.models.interface import Attribute, Callee, Kwargs
from agent.evaluation.render import to_text
from agent.evaluation.state import Cell, Place
from agent.evaluation.subscripts import get_item
from agent.evaluation.values import ABSENT, AV, NONE, BoundV, BuiltinV, ClassV, Const, ExternV, FuncV, Instance, Unk

PARSER = "argparse.ArgumentParser"


class Held:
    """An abstract value on its way through the real parser; two spellings of one constant stay equal to it."""

    def __init__(self, value: AV) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        mine = self.value.v if isinstance(self.value, Const) else self.value
        theirs = other.value if isinstance(other, Held) else other
        return bool(mine == (theirs.v if isinstance(theirs, Const) else theirs))

    def __hash__(self) -> int:
        return hash(self.value.v) if isinstance(self.value, Const) else id(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


class Rejected(Exception):
    """The parser refuses the command line."""


class _Parser(argparse.ArgumentParser):
    version = ""

    def error(self, message: str) -> NoReturn:
        raise Rejected(message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise Rejected(message or "the parser exits (help or version was asked for)")

    def _print_message(self, message: str, file: Any = None) -> None:
        return


class Option:
    """Where an option was declared and whether the command line gives it."""

    __slots__ = ("default", "flags", "given", "place")

    def __init__(self, flags: tuple[str, ...], place: Place) -> None:
        self.flags = flags
        self.place = place
        self.given = ""
        self.default: AV | None = None


class Refusal(NamedTuple):
    """A parser's refusal of a command line: what it raised, its own words, and the call that parsed or refused."""

    raised: Instance
    words: str
    place: Place


class CommandLine:
    """Every option by its destination, over all parsers of a launch."""

    def __init__(self) -> None:
        self.options: dict[str, Option] = {}
        self.unsure: dict[str, str] = {}
        """Destinations that are declared where a branch is undecided, and where that is."""
        self.refusals: list[Refusal] = []
        self.namespaces: list[Instance] = []


def command_line(m: Machine) -> CommandLine:
    """The launch's options as far as they are declared."""
    found = m.singletons.setdefault("command line", CommandLine())
    assert isinstance(found, CommandLine)
    return found


def refusal(m: Machine) -> Refusal | None:
    """The refusal that ends the launch; None where the program catches it or perhaps never comes to it."""
    refusals = command_line(m).refusals
    return next((found for item in m.raised if item.certain for found in refusals if found.raised is item.value), None)


def _real(m: Machine, obj: AV) -> Any:
    parsers: dict[AV, Any] = m.singletons.setdefault("parsers", {})
    if obj not in parsers:
        parsers[obj] = _Parser(prog="prog", add_help=True, conflict_handler="resolve")
    return parsers[obj]


def _init(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    options: dict[str, Any] = {}
    for name in ("prefix_chars", "add_help", "allow_abbrev", "prog", "fromfile_prefix_chars", "conflict_handler"):
        if name in kwargs and isinstance(kwargs[name], Const):
            options[name] = kwargs[name].v  # type: ignore[attr-defined]
    options.setdefault("prog", "prog")
    parents = kwargs.get("parents")
    if parents is not None:
        options["parents"] = [_real(m, p) for p in iterate(m, parents)[0]]
    m.singletons.setdefault("parsers", {})[args[0]] = parser = _Parser(**options)
    m.singletons.setdefault("parser forks", {})[parser] = m.forks
    return NONE


def _group(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    obj = Instance(ExternV("argparse._ArgumentGroup"))
    m.singletons.setdefault("parsers", {})[obj] = _real(m, args[0]).add_argument_group("group")
    return obj


def _exclusive(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    obj = Instance(ExternV("argparse._ArgumentGroup"))
    required = kwargs.get("required")
    group = _real(m, args[0]).add_mutually_exclusive_group(required=isinstance(required, Const) and bool(required.v))
    m.singletons.setdefault("parsers", {})[obj] = group
    return obj


def _subparsers(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    obj = Instance(ExternV("argparse._SubParsersAction"))
    options: dict[str, Any] = {}
    for name in ("dest", "required", "title", "metavar"):
        if name in kwargs and isinstance(kwargs[name], Const):
            options[name] = kwargs[name].v  # type: ignore[attr-defined]
    options["parser_class"] = _Parser
    m.singletons.setdefault("parsers", {})[obj] = _real(m, args[0]).add_subparsers(**options)
    return obj


def _add_parser(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    obj = Instance(ExternV(PARSER))
    options: dict[str, Any] = {"conflict_handler": "resolve"}
    aliases = kwargs.get("aliases")
    if aliases is not None:
        options["aliases"] = [a.v for a in iterate(m, aliases)[0] if isinstance(a, Const)]
    for name in ("add_help", "allow_abbrev"):
        if name in kwargs and isinstance(kwargs[name], Const):
            options[name] = kwargs[name].v  # type: ignore[attr-defined]
    parents = kwargs.get("parents")
    if parents is not None:
        options["parents"] = [_real(m, p) for p in iterate(m, parents)[0]]
    name_value = args[1] if len(args) > 1 else kwargs.get("name")
    if not isinstance(name_value, Const):
        return obj
    m.singletons.setdefault("parsers", {})[obj] = _real(m, args[0]).add_parser(str(name_value.v), **options)
    return obj


_PLAIN = ("dest", "nargs", "choices", "required", "metavar", "const", "default", "action", "type")


def _add_argument(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    real = _real(m, args[0])
    flags = tuple(a.v for a in args[1:] if isinstance(a, Const) and isinstance(a.v, str))
    options: dict[str, Any] = {}
    for name in _PLAIN:
        if name in kwargs:
            converted = _convert(m, name, kwargs[name])
            if converted is not None:
                options[name] = converted[0]
    if options.get("action") in ("store_true", "store_false", "count", "help", "version", "store_const", "append_const"):
        for name in ("type", "nargs", "choices", "metavar"):
            options.pop(name, None)
        if options["action"] not in ("store_const", "append_const"):
            options.pop("const", None)
    if options.get("action") == "version":
        options.pop("default", None)
    try:
        action = real.add_argument(*flags, **options)
    except (TypeError, ValueError, argparse.ArgumentError):
        options = {k: v for k, v in options.items() if k in ("dest", "default", "nargs")}
        try:
            action = real.add_argument(*flags, **options)
        except (TypeError, ValueError, argparse.ArgumentError):
            return NONE
    if m.forks > m.singletons.get("parser forks", {}).get(real, m.forks):
        command_line(m).unsure[action.dest] = f"{m.place().path}:{m.place().line}"
    known = command_line(m).options
    if action.dest not in known or not known[action.dest].given:
        known[action.dest] = Option(tuple(action.option_strings) or (action.dest,), m.place())
        known[action.dest].default = kwargs.get("default", NONE)
    _watch(m, action)
    described = Instance(ExternV("argparse.Action"))
    for name in ("dest", "option_strings", "nargs", "const"):
        raw = getattr(action, name, None)
        m.store((described, name), raw.value if isinstance(raw, Held) else lift(m, raw))
    m.store((described, "default"), kwargs.get("default", NONE))
    return described


def _watch(m: Machine, action: argparse.Action) -> None:
    """Notes when the command line gives the option."""
    line = command_line(m)
    kind = type(action)

    class Watched(kind):  # type: ignore[misc, valid-type]
        def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
            if self.dest in line.options:
                line.options[self.dest].given = option_string or "positional"
            super().__call__(parser, namespace, values, option_string)

    action.__class__ = Watched


def _convert(m: Machine, name: str, value: AV) -> tuple[Any] | None:
    """An option of ``add_argument`` for the real parser; None leaves it out."""
    row = {"default": _default, "const": _default, "type": _type, "action": _action, "choices": _choices}.get(name)
    if row is not None:
        return row(m, value)
    try:
        return (concrete(m, value),)
    except NotConcrete:
        return (argparse.SUPPRESS,) if isinstance(value, ExternV) and value.dotted == "argparse.SUPPRESS" else None


def _default(m: Machine, value: AV) -> tuple[Any] | None:
    if isinstance(value, ExternV) and value.dotted == "argparse.SUPPRESS":
        return (argparse.SUPPRESS,)
    return (value.v,) if isinstance(value, Const) and (value.v is None or isinstance(value.v, str)) else (Held(value),)


def _choices(m: Machine, value: AV) -> tuple[Any] | None:
    items, open_ = iterate(m, value)
    return None if open_ else ([i.v if isinstance(i, Const) else Held(i) for i in items],)


def _type(m: Machine, value: AV) -> tuple[Any] | None:
    if isinstance(value, Const) and value.v is None:
        return None
    if isinstance(value, BuiltinV) and value.name in ("int", "float", "str"):
        return ({"int": int, "float": float, "str": str}[value.name],)

    def converted(text: Any) -> Any:
        if isinstance(text, Held):
            return text
        return _through(m, value, [Const(text)])

    converted.__name__ = getattr(value, "name", "value")
    return (converted,)


def _through(m: Machine, func: AV, args: list[AV]) -> Any:
    """Calls the tree's converter; what it raises becomes the parser's error."""
    catcher = Catcher()
    m.catchers.append(catcher)
    try:
        result = m.call(func, args, {})
    except Dead:
        m.state = catcher.leaves[-1].state if catcher.leaves else m.state
        raise ValueError("the converter of the option refuses it") from None
    finally:
        m.catchers.remove(catcher)
    return result.v if isinstance(result, Const) else Held(result)


def _action(m: Machine, value: AV) -> tuple[Any] | None:
    if isinstance(value, Const):
        return (value.v,)
    if isinstance(value, ExternV):
        found = getattr(argparse, value.dotted.rpartition(".")[2], None)
        return (found,) if found is not None else None
    return (_tree_action(m, value),) if isinstance(value, ClassV) else None


def _tree_action(m: Machine, cls: ClassV) -> type[argparse.Action]:
    """An Action class of the tree: its ``__init__`` settles ``nargs`` as far as it is known, its ``__call__`` runs in the machine."""
    base = _known_base(cls)

    class Action(base):  # type: ignore[misc, valid-type]
        def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
            self.tree_action = _constructed(m, cls, option_strings, dest, options)
            for name in ("nargs", "const"):
                cell = m.state.get((self.tree_action, name))
                if cell is not None and isinstance(cell.value, Const):
                    options[name] = cell.value.v
            allowed = {"nargs", "const", "default", "type", "choices", "required", "help", "metavar"}
            super().__init__(option_strings=option_strings, dest=dest, **{k: v for k, v in options.items() if k in allowed})

        def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
            method = m.singletons.get("namespace")
            target = method if isinstance(method, Instance) else Instance(ExternV("argparse.Namespace"))
            if namespace is not None:
                for name, raw in vars(namespace).items():
                    m.store((target, name), _abstract(m, raw))
            action = self.tree_action
            hook = m.getattr(action, "__call__")
            m.call(hook, [Unk("the parser", "object"), target, _abstract(m, values), Const(option_string)], {})
            cell = m.state.get((target, self.dest))
            if cell is not None:
                setattr(namespace, self.dest, Held(cell.value))

    return Action


def _known_base(cls: ClassV) -> Any:
    for dotted in cls.opaque:
        found = getattr(argparse, dotted.rpartition(".")[2], None)
        if isinstance(found, type) and issubclass(found, argparse.Action):
            return found
    return argparse.Action


def _constructed(m: Machine, cls: ClassV, flags: Sequence[str], dest: str, options: dict[str, Any]) -> Instance:
    """Runs the ``__init__`` of the tree's class; what it hands to ``Action.__init__`` is stored on the object."""
    action = Instance(cls)
    m.store((action, "dest"), Const(dest))
    m.store((action, "option_strings"), lift(m, list(flags)))
    found = class_attribute(m, cls, "__init__")
    if found is not None and isinstance(found[0], FuncV):
        given = {"option_strings": lift(m, list(flags)), "dest": Const(dest)}
        given.update({name: _abstract(m, value) for name, value in options.items() if name != "type"})
        m.call(BoundV(found[0], action), [], given)
    return action


def _action_init(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    for name in ("nargs", "const", "default"):
        if name in kwargs:
            m.store((args[0], name), kwargs[name])
    return NONE


def _abstract(m: Machine, raw: Any) -> AV:
    if isinstance(raw, Held):
        return raw.value
    if isinstance(raw, list):
        return m.new_list([_abstract(m, item) for item in raw])
    if isinstance(raw, tuple):
        return m.new_list([_abstract(m, item) for item in raw])
    return lift(m, raw)


def _set_defaults(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    _real(m, args[0]).set_defaults(**{k: Held(v) for k, v in kwargs.items() if k != "**"})
    return NONE


def _words(m: Machine, value: AV | None) -> list[str] | None:
    if value is None or (isinstance(value, Const) and value.v is None):
        from agent.evaluation.models.environment import argv

        value = get_item(m, argv(m), Const(slice(1, None)))
    items, open_ = iterate(m, value)
    if open_ or not all(isinstance(i, Const) for i in items):
        return None
    return [str(i.v) for i in items]  # type: ignore[attr-defined]


def _parse(m: Machine, args: list[AV], kwargs: Kwargs, *, known: bool = False) -> tuple[AV, AV]:
    words = _words(m, args[1] if len(args) > 1 else kwargs.get("args"))
    given = args[2] if len(args) > 2 else kwargs.get("namespace")
    namespace = given if isinstance(given, Instance) else Instance(ExternV("argparse.Namespace"), "command line")
    if words is None:
        namespace.open = "the command line is not known"
        return namespace, Unk("the command line is not known", "list")
    real = _real(m, args[0])
    m.singletons["namespace"] = namespace
    try:
        parsed, rest = real.parse_known_args(words)
        if rest and not known:
            raise Rejected(f"unrecognized arguments: {' '.join(rest)}")
    except Rejected as error:
        declared = {each.dest for each in real._actions}
        if declared & set(command_line(m).unsure):
            m.may_raise("the command line may be refused", "SystemExit")
            _fill(m, namespace, dict.fromkeys(declared, Held(Unk("what the command line means depends on a branch that is undecided"))))
            return namespace, Unk("what is left of the command line", "list")
        _refuse(m, str(error), Const(f"argument error: {error}"), f"the command line is refused: {error}")
    _fill(m, namespace, vars(parsed))
    return namespace, lift(m, rest)


def _refuse(m: Machine, words: str, args: AV | None, message: str = "") -> NoReturn:
    """What ``ArgumentParser.error`` does. Raises Dead."""
    exc = Instance(ExternV("builtins.SystemExit"))
    if args is not None:
        m.store((exc, "args"), args)
    command_line(m).refusals.append(Refusal(exc, words, m.place()))
    m.throw(exc, message)


def _fill(m: Machine, namespace: Instance, values: dict[str, Any]) -> None:
    line = command_line(m)
    line.namespaces.append(namespace)
    here = m.place()
    for name, raw in values.items():
        option = line.options.get(name)
        if name in line.unsure:
            raw = Held(Unk(f"{name} is declared at {line.unsure[name]}, where a branch is undecided"))
        text = f"{option.given} on the command line" if option and option.given else "default"
        m.state.own[(namespace, name)] = Cell(_abstract(m, raw), option.place if option else here, (), m.control, None, text, name)


def _parse_args(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return _parse(m, args, kwargs)[0]


def _parse_known(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    from agent.evaluation.values import Tup

    return Tup(_parse(m, args, kwargs, known=True))


def _error(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    said = args[1] if len(args) > 1 else kwargs.get("message")
    words = to_text(m, said) if said is not None else None
    _refuse(m, words or "the program refuses its command line", said)


def _exit(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    exc = Instance(ExternV("builtins.SystemExit"))
    if len(args) > 1:
        m.store((exc, "args"), args[1])
    m.throw(exc)


def _actions(m: Machine) -> AV:
    return Unk("the parser's actions", "list")


def _namespace(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    for name, value in kwargs.items():
        m.store((args[0], name), value)
    return NONE


def _contains(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    cell = m.state.get((args[0], args[1].v)) if isinstance(args[1], Const) else None
    return Const(cell is not None and cell.value is not ABSENT)


_PARSER_METHODS: dict[str, Callee] = {
    "__init__": _init,
    "add_argument": _add_argument,
    "add_argument_group": _group,
    "add_mutually_exclusive_group": _exclusive,
    "add_subparsers": _subparsers,
    "add_parser": _add_parser,
    "set_defaults": _set_defaults,
    "parse_args": _parse_args,
    "parse_known_args": _parse_known,
    "parse_intermixed_args": _parse_args,
    "error": _error,
    "exit": _exit,
    "print_help": lambda m, a, k: NONE,
    "print_usage": lambda m, a, k: NONE,
    "format_help": lambda m, a, k: Unk("the help text", "str"),
}
FUNCTIONS: dict[str, Callee] = {}
_SIGNS = {name: getattr(argparse, name) for name in ("OPTIONAL", "ZERO_OR_MORE", "ONE_OR_MORE", "PARSER", "REMAINDER")}
CONSTANTS: dict[str, Attribute] = {f"argparse.{name}": lambda m, sign=sign: Const(sign) for name, sign in _SIGNS.items()}  # type: ignore[misc]
_ACTIONS = ("Action", "_StoreAction", "_AppendAction", "BooleanOptionalAction", "_StoreTrueAction")
METHODS: dict[str, dict[str, Callee]] = {
    PARSER: _PARSER_METHODS,
    "argparse._ArgumentGroup": _PARSER_METHODS,
    "argparse._SubParsersAction": _PARSER_METHODS,
    "argparse.Namespace": {"__init__": _namespace, "__contains__": _contains, "__closed__": _namespace},
    **{f"argparse.{name}": {"__init__": _action_init} for name in _ACTIONS},
}
