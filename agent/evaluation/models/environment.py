"""``os``, ``sys``, ``platform``: the environment as it was at the start and as the program rewrites it."""

from __future__ import annotations

from collections.abc import Iterator

from agent.analysis.environment_writers import environment_writers
from agent.evaluation import facts
from agent.evaluation.concrete import lift
from agent.evaluation.machine import Machine
from agent.evaluation.models.interface import Attribute, Callee, Kwargs
from agent.evaluation.registries import importable
from agent.evaluation.state import Cell
from agent.evaluation.values import ABSENT, AV, NONE, Const, DictObj, ListObj, Map, Seq, Tup, Unk, one_of


def environ(m: Machine) -> AV:
    """``os.environ`` as one dict object; a name that was not read is unknown, absent only where all names that are set are known."""
    obj = m.singletons.get("environ")
    if obj is None:
        obj = m.singletons["environ"] = DictObj("dict")
        items: dict[object, tuple[AV, AV]] = {name: (Const(name), lift(m, value)) for name, value in m.launch.env.items()}
        hidden = m.launch.env_hidden
        items |= {name: (Const(name), Unk(f"the value of the environment variable {name} was not read", "str")) for name in hidden or ()}
        open_ = "" if m.launch.env_complete or hidden is not None else "this environment variable was not read from the process"
        for name, value in _set_at_import(m):
            before = items[name][1] if name in items else ABSENT
            items[name] = (Const(name), one_of([before, value]))
        m.root.own[(obj, "{}")] = Cell(Map(items, open_))
    assert isinstance(obj, DictObj)
    if m.demand is not None:
        m.demand.later.environment(obj)
    return obj


def _set_at_import(m: Machine) -> Iterator[tuple[str, AV]]:
    """Variables that modules of this launch set when they are imported: when that is, is not followed."""
    reachable = importable(m)
    for each in environment_writers(m.index):
        if not each.at_import or not each.name or each.path not in reachable or each.path == m.entry_path:
            continue
        if not (each.keeps and m.launch.env.get(each.name) is not None):
            known = each.value is not None
            yield each.name, Const(each.value) if known else Unk(f"{each.name} is set at {each.path}:{each.line}", "str")


def argv(m: Machine) -> AV:
    """``sys.argv``: the script's name and what follows it."""
    obj = m.singletons.get("argv")
    if obj is None:
        obj = m.singletons["argv"] = ListObj("list")
        m.root.own[(obj, "[]")] = Cell(Seq(tuple(Const(a) for a in m.singletons.get("argv values", ("",)))))
    assert isinstance(obj, ListObj)
    return obj


def _getenv(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return m.call(m.getattr(environ(m), "get"), args, kwargs)


def _putenv(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return NONE


def _exit(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    from agent.evaluation.values import ExternV, Instance

    exc = Instance(ExternV("builtins.SystemExit"))
    if args:
        m.store((exc, "args"), args[0])
    m.throw(exc)
    return NONE


def _fact(name: str, typ: str) -> Attribute:
    def read(m: Machine) -> AV:
        value = facts.table(m).named.get(name)
        return Const(value) if value is not None else Unk(f"{name} of the host is not known (give it with --assume {name}=...)", typ)

    return read


def _python_version(m: Machine) -> AV:
    version = facts.table(m).named.get("python") or facts.table(m).named.get("sys.version")
    if not isinstance(version, str):
        return Unk("the host's Python version is not known (give it with --assume python=3.x.y)", "tuple")
    numbers = [int(part) for part in version.split(".")[:3] if part.isdigit()]
    return Tup((*(Const(n) for n in numbers), Const("final"), Const(0)), ("major", "minor", "micro", "releaselevel", "serial"))


def _version_text(m: Machine) -> AV:
    version = facts.table(m).named.get("python")
    return Const(str(version)) if version is not None else Unk("the host's Python version is not known", "str")


def _called(row: Attribute) -> Callee:
    return lambda m, args, kwargs: row(m)


def _system(m: Machine) -> AV:
    value = facts.table(m).named.get("platform")
    if isinstance(value, str):
        return Const({"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}.get(value, value))
    return Unk("the host's platform is not known (give it with --assume platform=linux)", "str")


def _os_name(m: Machine) -> AV:
    value = facts.table(m).named.get("platform")
    return Const("nt" if value == "win32" else "posix") if isinstance(value, str) else Unk("the host's platform is not known", "str")


def _unsetenv(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return NONE


def _cpu_count(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    value = facts.table(m).named.get("cpu_count")
    return Const(value) if value is not None else Unk("the number of processors is not known", "int")


def _stream(m: Machine) -> AV:
    return Unk("a standard stream", "object")


FUNCTIONS: dict[str, Callee] = {
    "os.getenv": _getenv,
    "os.putenv": _putenv,
    "os.unsetenv": _unsetenv,
    "sys.exit": _exit,
    "os._exit": _exit,
    "os.abort": _exit,
    "exit": _exit,
    "quit": _exit,
    "platform.system": _called(_system),
    "platform.machine": _called(_fact("machine", "str")),
    "platform.python_version": _called(_version_text),
    "os.cpu_count": _cpu_count,
    "multiprocessing.cpu_count": _cpu_count,
    "os.getcwd": lambda m, a, k: Const(m.launch.cwd) if m.launch.cwd not in ("", ".") else Unk("the process's directory", "str"),
    "os.getpid": lambda m, a, k: Unk("a process id", "int"),
    "os.getppid": lambda m, a, k: Unk("a process id", "int"),
    "os.getuid": lambda m, a, k: Unk("a user id", "int"),
    "os.urandom": lambda m, a, k: Unk("random bytes", "bytes"),
    "sys.getsizeof": lambda m, a, k: Unk("a size", "int"),
    "sys.setrecursionlimit": lambda m, a, k: NONE,
    "sys.exc_info": lambda m, a, k: Unk("the exception that is being handled", "tuple"),
    "socket.gethostname": lambda m, a, k: Unk("the host's name", "str"),
}
CONSTANTS: dict[str, Attribute] = {
    "os.environ": environ,
    "sys.argv": argv,
    "sys.platform": _fact("platform", "str"),
    "sys.version_info": _python_version,
    "sys.version": _version_text,
    "sys.stdout": _stream,
    "sys.stderr": _stream,
    "sys.stdin": _stream,
    "sys.maxsize": lambda m: Const(2**63 - 1),
    "sys.byteorder": lambda m: Const("little"),
    "sys.executable": lambda m: Const(m.launch.argv[0]) if m.launch.argv else Unk("the interpreter", "str"),
    "sys.modules": lambda m: m.new_dict({name: (Const(name), module) for name, module in m.modules.items()}, "a loaded module"),
    "sys.path": lambda m: Unk("the import path", "list"),
    "sys.flags": lambda m: Unk("interpreter flags", "object"),
    "os.name": _os_name,
    "os.sep": lambda m: Const("/"),
    "os.linesep": lambda m: Const("\n"),
    "os.pathsep": lambda m: Const(":"),
    "os.devnull": lambda m: Const("/dev/null"),
}
METHODS: dict[str, dict[str, Callee]] = {}
