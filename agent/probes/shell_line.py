"""Reads a pasted shell line as a launch: the server's argv, its environment, directory and log, behind whatever wraps it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from agent.domain.errors import UsageError
from agent.domain.launch import Launch
from agent.probes.products import Product, server_command
from agent.probes.shell_words import Operator, Part, Word, split_shell

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)\Z", re.DOTALL)
_PROMPT = re.compile(r"\A\s*(?:\([\w.-]+\)\s*)?(?:[\w.-]+@[\w.-]+[:\s][^\s$#]*)?\s*(?:[$>]|#(?=\s+\S*(?:python|[A-Z_]+=)))\s+")
_DURATION = re.compile(r"[\d.]+[smhd]?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellLaunch:
    """A launch and what stood around it: ``stdout`` is the file that standard output went to, empty for none."""

    launch: Launch
    stdout: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """A program that runs another: which of its options take a value, and how many words stand before the command."""

    valued: frozenset[str] = frozenset()
    operands: int = 0


def _wrapper(valued: str = "", operands: int = 0) -> Wrapper:
    return Wrapper(valued=frozenset(valued.split()), operands=operands)


WRAPPERS: Mapping[str, Wrapper] = {
    "chrt": _wrapper("-T -P -D", 1),
    "command": _wrapper(),
    "dumb-init": _wrapper("-r --rewrite"),
    "exec": _wrapper("-a"),
    "gosu": _wrapper(operands=1),
    "ionice": _wrapper("-c -n -p -P -u --class --classdata"),
    "nice": _wrapper("-n --adjustment"),
    "nohup": _wrapper(),
    "numactl": _wrapper(
        "-i -w -N -m -C -p -P --interleave --weighted-interleave --cpunodebind --membind --physcpubind --preferred --preferred-many"
    ),
    "prlimit": _wrapper(),
    "setsid": _wrapper(),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "sudo": _wrapper("-u -g -h -p -C -r -t -T -U -D --user --group --host --prompt --chdir"),
    "taskset": _wrapper("-c --cpu-list"),
    "time": _wrapper("-f -o --format --output"),
    "timeout": _wrapper("-k -s --kill-after --signal", 1),
    "tini": _wrapper("-p -e"),
}
"""Programs that leave argv and environment of what they start alone; options as in their manual pages."""

_CONTAINERS = frozenset({"docker", "podman", "nerdctl", "kubectl", "singularity", "apptainer"})
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ash", "ksh"})
_SILENT = frozenset({"set", "source", ".", "ulimit", "mkdir", "echo", "sleep", "conda", "unset", "trap", "tee", "wait", "module", "true"})
"""Commands that may stand beside the server's and are never meant when another one is there."""


@dataclass(slots=True)
class _Shell:
    """What a running shell would remember between commands; ``exported`` reaches the programs it starts."""

    variables: dict[str, str] = field(default_factory=dict)
    exported: dict[str, str] = field(default_factory=dict)
    cwd: str = "."


@dataclass(slots=True)
class _Simple:
    """A simple command: expanded words, its own assignments, its redirections."""

    words: list[str]
    env: dict[str, str]
    cwd: str
    stdout: str = ""
    own_env: bool = False
    """It runs in a container, whose image sets variables of its own."""


def parse_launch(text: str, products: Sequence[Product], *, env: Mapping[str, str] | None = None, cwd: str = ".") -> ShellLaunch:
    """The launch meant by a pasted shell line.

    ``env``: variables given besides, which also answer ``$NAME``. Raises UsageError for text that is no command,
    for an open quote and for values that only a running shell could give.
    """
    shell = _Shell(variables=dict(env or {}), exported=dict(env or {}), cwd=cwd)
    commands = list(_simple_commands(text, shell))
    chosen = _choose([_unwrap(command, products) for command in commands], products)
    if chosen is None:
        raise UsageError("the launch line holds no command", hint='give it as --launch "python3 -m package.module --flag value"')
    _require_known(chosen.words)
    known = {name: value for name, value in chosen.env.items() if "\0" not in value}
    launch = Launch(
        argv=tuple(chosen.words),
        env=known,
        cwd=chosen.cwd,
        source="given",
        env_complete=len(known) == len(chosen.env) and not chosen.own_env,
    )
    return ShellLaunch(launch=launch, stdout="" if "\0" in chosen.stdout else chosen.stdout)


def _choose(commands: Sequence[_Simple], products: Sequence[Product]) -> _Simple | None:
    """The server's command; without one the last that does something."""
    candidates = [command for command in commands if command.words]
    for command in candidates:
        if server_command(command.words, products):
            return command
    meant = [command for command in candidates if command.words[0] not in _SILENT]
    return meant[-1] if meant else None


# --- from tokens to simple commands


def _simple_commands(text: str, shell: _Shell) -> Iterator[_Simple]:
    """Each command of the text in order; assignments, ``export`` and ``cd`` act on ``shell``."""
    words: list[Word] = []
    redirects: list[tuple[Operator, Word]] = []
    pending: Operator | None = None
    for token in (*split_shell(_PROMPT.sub("", text, count=1)), Operator(text="\n")):
        if isinstance(token, Word) and pending:
            redirects.append((pending, token))
            pending = None
        elif isinstance(token, Word):
            words.append(token)
        elif token.redirects:
            pending = token
        else:
            if words:
                yield _command(words, redirects, shell)
            words, redirects, pending = [], [], None


def _command(words: Sequence[Word], redirects: Sequence[tuple[Operator, Word]], shell: _Shell) -> _Simple:
    env, rest = _leading_assignments(words, shell)
    if not rest:
        shell.variables.update(env)
        shell.exported.update({name: value for name, value in env.items() if name in shell.exported})
        return _Simple(words=[], env={}, cwd=shell.cwd)
    expanded = [text for word in rest for text in _expand(word, shell.variables)]
    builtin = _BUILTINS.get(expanded[0]) if expanded else None
    if builtin:
        builtin(expanded[1:], shell)
        return _Simple(words=[], env={}, cwd=shell.cwd)
    stdout = ""
    for operator, target in redirects:
        if operator.text in (">", ">>", ">|") and operator.fd in (-1, 1):
            stdout = "".join(_expand(target, shell.variables))
    return _Simple(words=expanded, env={**shell.exported, **env}, cwd=shell.cwd, stdout=stdout)


def _leading_assignments(words: Sequence[Word], shell: _Shell) -> tuple[dict[str, str], Sequence[Word]]:
    env: dict[str, str] = {}
    for index, word in enumerate(words):
        first = word.parts[0]
        found = None if first.quoted or first.variable else _ASSIGNMENT.match(first.text)
        if not found:
            return env, words[index:]
        value = (Part(text=found[2]), *word.parts[1:])
        env[found[1]] = "".join(_text(part, {**shell.variables, **env}) for part in value)
    return env, ()


def _expand(word: Word, variables: Mapping[str, str]) -> list[str]:
    """The words that one word becomes: an unquoted variable splits at blanks and vanishes when empty."""
    out: list[str] = [""]
    started = False
    for part in word.parts:
        text = _text(part, variables)
        pieces = text.split() if part.variable and not part.quoted and "\0" not in text else [text]
        if part.variable and not part.quoted and not pieces:
            continue
        started = True
        out[-1] += pieces[0]
        out.extend(pieces[1:])
    return out if started else []


def _text(part: Part, variables: Mapping[str, str]) -> str:
    """The part's value; what only a running shell knows becomes a mark that `_require_known` finds later."""
    if part.computed:
        return f"\0{part.computed}\0"
    if not part.variable:
        return part.text
    value = variables.get(part.variable)
    if value is None or (not value and part.default is not None):
        value = part.default
    return f"\0${part.variable}\0" if value is None else value


def _require_known(words: Sequence[str]) -> None:
    """Raises UsageError for the first word with an unknown value in it: a guess would be judged as if it were the truth."""
    for word in words:
        if "\0" in word:
            unknown = word.split("\0")[1]
            name = unknown[1:] if re.fullmatch(r"\$[A-Za-z_]\w*", unknown) else ""
            fix = f"add --env {name}=VALUE, or write" if name else "write"
            raise UsageError(f"the launch line uses {unknown}, which it does not set", hint=f"{fix} the value in its place")


def _export(arguments: Sequence[str], shell: _Shell) -> None:
    for word in arguments:
        name, assigned, value = word.partition("=")
        if assigned:
            shell.variables[name] = value
        if name in shell.variables:
            shell.exported[name] = shell.variables[name]


def _change_directory(arguments: Sequence[str], shell: _Shell) -> None:
    target = next((word for word in arguments if not word.startswith("-")), "")
    if target:
        shell.cwd = target if target.startswith("/") or shell.cwd == "." else f"{shell.cwd.rstrip('/')}/{target}"


def _unset(arguments: Sequence[str], shell: _Shell) -> None:
    for name in arguments:
        shell.variables.pop(name, None)
        shell.exported.pop(name, None)


_BUILTINS: Mapping[str, Callable[[Sequence[str], _Shell], None]] = {
    "export": _export,
    "cd": _change_directory,
    "unset": _unset,
}


# --- from a wrapped command to the command inside


def _unwrap(command: _Simple, products: Sequence[Product]) -> _Simple:
    """Peels wrappers off until the words begin with the program itself."""
    while command.words:
        peeled = _peel(command, products)
        if peeled is None:
            break
        command = peeled
    return _inside(command, products)


def _peel(command: _Simple, products: Sequence[Product]) -> _Simple | None:
    name = command.words[0].rpartition("/")[2]
    if name == "env":
        return _peel_env(command)
    if name in _SHELLS and _script_text(command.words) is not None:
        return _peel_shell(command, products)
    wrapper = WRAPPERS.get(name)
    if wrapper is None:
        return None
    rest = _after_options(command.words[1:], wrapper.valued)
    rest = rest[_operand_count(name, command.words, wrapper) :]
    found = next((i for i, word in enumerate(rest) if not _ASSIGNMENT.match(word)), len(rest))
    own = {match[1]: match[2] for word in rest[:found] if (match := _ASSIGNMENT.match(word))}
    return replace(command, words=list(rest[found:]), env={**command.env, **own})


def _operand_count(name: str, words: Sequence[str], wrapper: Wrapper) -> int:
    """``taskset MASK cmd`` has an operand only without ``-c LIST``."""
    if name == "taskset":
        return 0 if any(word in ("-c", "--cpu-list") or word.startswith(("-c", "--cpu-list=")) for word in words[1:2]) else 1
    return wrapper.operands


def _after_options(words: Sequence[str], valued: frozenset[str]) -> Sequence[str]:
    index = 0
    while index < len(words) and words[index].startswith("-") and words[index] != "-":
        if words[index] == "--":
            return words[index + 1 :]
        index += 2 if words[index] in valued else 1
    return words[index:]


def _peel_env(command: _Simple) -> _Simple:
    """``env [-i] [-u NAME] [-C DIR] [NAME=VALUE ...] cmd``."""
    env, cwd, words = dict(command.env), command.cwd, list(command.words[1:])
    while words and words[0].startswith("-"):
        flag = words.pop(0)
        if flag in ("-i", "-", "--ignore-environment"):
            env = {}
        elif flag in ("-u", "--unset") and words:
            env.pop(words.pop(0), None)
        elif flag in ("-C", "--chdir") and words:
            cwd = words.pop(0)
        elif flag in ("-S", "--split-string") and words:
            words[:1] = words[0].split()
    while words and (found := _ASSIGNMENT.match(words[0])):
        env[found[1]] = found[2]
        words.pop(0)
    return replace(command, words=words, env=env, cwd=cwd)


def _script_text(words: Sequence[str]) -> str | None:
    """The text of ``bash -lc "text"``."""
    for index, word in enumerate(words[1:], start=1):
        if not word.startswith("-"):
            return None
        if re.fullmatch(r"-[a-z]*c", word):
            return words[index + 1] if index + 1 < len(words) else None
    return None


def _peel_shell(command: _Simple, products: Sequence[Product]) -> _Simple:
    inner = parse_launch(_script_text(command.words) or "", products, env=command.env, cwd=command.cwd)
    launch = inner.launch
    return replace(command, words=list(launch.argv), env=dict(launch.env), cwd=launch.cwd, stdout=inner.stdout or command.stdout)


def _inside(command: _Simple, products: Sequence[Product]) -> _Simple:
    """A runner whose options are not known (torchrun, accelerate launch, uv run, docker run): the first server command inside it."""
    if server_command(command.words, products):
        return command
    for index in range(1, len(command.words)):
        for words in _readings(command.words, index):
            if server_command(words, products):
                return replace(_container(command, command.words[:index]), words=words)
    return command


def _container(command: _Simple, runner: Sequence[str]) -> _Simple:
    """Inside a container nothing of the shell's environment is left but what ``-e NAME=VALUE`` hands over."""
    if runner[0].rpartition("/")[2] not in _CONTAINERS:
        return command
    given = [after for word, after in pairwise(runner) if word in ("-e", "--env")]
    given += [word.removeprefix("--env=") for word in runner if word.startswith("--env=")]
    return replace(command, env={found[1]: found[2] for text in given if (found := _ASSIGNMENT.match(text))}, own_env=True)


def _readings(words: Sequence[str], index: int) -> Iterator[list[str]]:
    """The rest as a command of its own; after ``-m`` or for a script path, as what the runner's Python is given."""
    rest = list(words[index:])
    yield rest
    if rest[0] in ("-m", "--module") and len(rest) > 1:
        yield ["python3", "-m", *rest[1:]]
    if rest[0].endswith(".py"):
        yield ["python3", *rest]
