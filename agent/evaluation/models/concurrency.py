"""Processes, threads, executors and event loops: what they are given to run may run, in a world of its own where it is a process."""

from __future__ import annotations

from agent.evaluation.attributes import class_attribute
from agent.evaluation.calls import perhaps
from agent.evaluation.frames import Dead
from agent.evaluation.iteration import iterate
from agent.evaluation.machine import Machine
from agent.evaluation.models.interface import Attribute, Callee, Kwargs, argument
from agent.evaluation.state import State
from agent.evaluation.suspended import at_any_moment, result
from agent.evaluation.values import AV, NONE, BoundV, ClassV, Const, DictObj, ExternV, FuncV, Instance, PartialV, Unk


def _target(m: Machine, args: list[AV], kwargs: Kwargs) -> tuple[AV | None, list[AV], Kwargs]:
    target = argument(args, kwargs, 1, "target")
    given, named = argument(args, kwargs, 3, "args"), argument(args, kwargs, 4, "kwargs")
    items = list(iterate(m, given)[0]) if given is not None else []
    extra: Kwargs = {}
    if isinstance(named, DictObj):
        extra = {str(k.v): v for k, v in m.entries(named).items.values() if isinstance(k, Const)}
    return target, items, extra


def _process(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``Process(target=f, args=...)``: f runs in a copy of the world; nothing it writes comes back."""
    target, given, named = _target(m, args[:1] + args[1:], kwargs)
    if target is not None:
        in_a_copy(m, target, given, named)
    return Instance(ExternV("multiprocessing.Process"), open_="a process object")


def in_a_copy(m: Machine, target: AV, args: list[AV], kwargs: Kwargs) -> None:
    """Runs a callable on a copy of the store that is thrown away."""
    if not isinstance(target, (FuncV, BoundV, PartialV)):
        return
    state, catchers, control, reads, exits, throws = m.state, m.catchers, m.control, m.reads, m.exits, m.throws
    m.state, m.catchers = State(state, certain=state.certain), []
    raised = len(m.raised)
    try:
        m.call(target, args, kwargs)
    except Dead:
        pass
    finally:
        m.state, m.catchers, m.control, m.reads, m.exits, m.throws = state, catchers, control, reads, exits, throws
        m.raised[raised:] = [item._replace(certain=False) for item in m.raised[raised:]]


def _thread(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``Thread(target=f)``: f may run at any time; what it writes may be there."""
    target, given, named = _target(m, args, kwargs)
    if isinstance(target, (FuncV, BoundV, PartialV)):
        _at_any_time(m, target, given, named)
    return Instance(ExternV("threading.Thread"), open_="a thread object")


def _timer(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``Timer(seconds, f, args, kwargs)``."""
    return _thread(m, [NONE, *args[1:2], NONE, *args[2:]], {("target" if name == "function" else name): v for name, v in kwargs.items()})


def _at_any_time(m: Machine, callee: AV, args: list[AV], kwargs: Kwargs) -> None:
    """What another thread runs: it may not have begun, or be over."""

    def run() -> None:
        base, catchers, dropped = m.state.parent, m.catchers, m.dropped
        m.catchers, m.dropped = [], []
        try:
            m.loosely(lambda: m.call(callee, args, kwargs))
            ends = [m.state, *m.dropped]
        except Dead:
            ends = m.dropped
            if not ends:
                raise
        finally:
            m.catchers, m.dropped = catchers, dropped
        if ends != [m.state]:
            assert base is not None
            m.resume(base, ends, untouched=False)
        at_any_moment(m, base)

    try:
        m.fork([lambda: None, run])
    except Dead:
        m.state = State(m.state, certain=False)


def _start_thread(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``thread.start()`` of a class with a ``run`` of its own."""
    own = _own_run(m, args)
    if own is not None:
        _at_any_time(m, own, [], {})
    return NONE


def _start_process(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """``process.start()`` of a class with a ``run`` of its own: it works on a copy of the object."""
    own = _own_run(m, args)
    if own is not None:
        in_a_copy(m, own, [], {})
    return NONE


def _own_run(m: Machine, args: list[AV]) -> BoundV | None:
    obj = args[0] if args else None
    if not isinstance(obj, Instance) or not isinstance(obj.cls, ClassV):
        return None
    found = class_attribute(m, obj.cls, "run")
    return BoundV(found[0], obj) if found is not None else None


def _submit(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    for value in args[1:]:
        perhaps(m, value)
    return Unk("the result of something submitted to an executor", "object")


def _run(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return result(m, args[0]) if args else NONE


def _task(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """A coroutine that somebody else runs, and that is awaited by this."""
    return args[0] if args else NONE


def _wait_for(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    m.may_raise("the time may be up", "TimeoutError")
    return _run(m, args, kwargs)


def _kill(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    m.may_raise("the process may be gone", "ProcessLookupError")
    return NONE


def _gather(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return m.new_list([result(m, each) for each in args])


def _context(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    return Instance(ExternV("multiprocessing.context"))


def _subprocess(m: Machine, args: list[AV], kwargs: Kwargs) -> AV:
    """A program that is run; ``nvidia-smi`` and its kin answer from the facts about memory."""
    command = args[0] if args else NONE
    if isinstance(command, (Unk, Const)):
        words = [str(getattr(command, "v", ""))]
    else:
        words = [str(i.v) for i in iterate(m, command)[0] if isinstance(i, Const)]
    result = Instance(ExternV("subprocess.CompletedProcess"))
    memory = m.facts.get("gpu_memory_mb")
    if words and "nvidia-smi" in words[0] and any("memory.total" in w for w in words) and memory:
        text = "".join(f"{memory}\n" for _ in range(int(m.facts.get("gpu_count") or 1)))
        m.store((result, "stdout"), Const(text))
        m.store((result, "returncode"), Const(0))
        m.store((result, "stderr"), Const(""))
        return result
    name = words[0].split()[0] if words and words[0].split() else "a program"
    m.may_raise(f"{name} may be missing", "FileNotFoundError")
    result.open = f"the output of {name} is not known"
    return result


_PROCESS: dict[str, Callee] = {name: (lambda m, a, k: NONE) for name in ("start", "join", "kill", "terminate", "close")}
FUNCTIONS: dict[str, Callee] = {
    "multiprocessing.Process": lambda m, a, k: _process(m, [NONE, *a[1:]] if a else [NONE], k),
    "torch.multiprocessing.Process": lambda m, a, k: _process(m, [NONE], k),
    "multiprocessing.context.Process": lambda m, a, k: _process(m, [NONE], k),
    "threading.Thread": lambda m, a, k: _thread(m, [NONE, *a[1:]] if a else [NONE], k),
    "threading.Timer": lambda m, a, k: _timer(m, a, k),
    "multiprocessing.get_context": _context,
    "torch.multiprocessing.get_context": _context,
    "multiprocessing.set_start_method": lambda m, a, k: NONE,
    "torch.multiprocessing.set_start_method": lambda m, a, k: NONE,
    "asyncio.run": _run,
    "uvloop.run": _run,
    "asyncio.create_task": _task,
    "asyncio.ensure_future": _task,
    "asyncio.wait_for": _wait_for,
    "asyncio.shield": _task,
    "asyncio.gather": _gather,
    "asyncio.sleep": lambda m, a, k: NONE,
    "time.sleep": lambda m, a, k: NONE,
    "asyncio.iscoroutinefunction": lambda m, a, k: Const(isinstance(a[0], FuncV) and bool(getattr(a[0].node, "is_async", False))),
    "inspect.iscoroutinefunction": lambda m, a, k: Const(isinstance(a[0], FuncV) and bool(getattr(a[0].node, "is_async", False))),
    "subprocess.run": _subprocess,
    "subprocess.check_output": lambda m, a, k: m.getattr(_subprocess(m, a, k), "stdout"),
    "os.kill": _kill,
}
CONSTANTS: dict[str, Attribute] = {}
METHODS: dict[str, dict[str, Callee]] = {
    **{name: {**_PROCESS, "start": _start_process} for name in ("multiprocessing.Process", "torch.multiprocessing.Process")},
    **{name: {**_PROCESS, "start": _start_thread} for name in ("threading.Thread", "threading.Timer")},
    "multiprocessing.context": {"Process": lambda m, a, k: _process(m, [NONE], k)},
    "concurrent.futures.ThreadPoolExecutor": {"submit": _submit, "map": _submit, "shutdown": lambda m, a, k: NONE},
    "concurrent.futures.ProcessPoolExecutor": {"submit": _submit, "map": _submit, "shutdown": lambda m, a, k: NONE},
}
