"""The command group: knows every command by name and loads its module only when it is used."""

from __future__ import annotations

import errno
import gc
import importlib
import logging
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from agent import __version__
from agent.domain.errors import RcaError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS: Mapping[str, str] = {
    "run": "Investigate a symptom on a host and write a report.",
    "why": "Say why a line, symbol or call does not run.",
    "audit": "Show every setting: asked, effective, observed, overridden.",
    "reach": "Show which statements of a file can run under a launch.",
    "capture": "Save all that a run needs as one redacted bundle.",
    "playbook": "List, check, test, run and save playbooks.",
    "report": "Show a stored report or attach it to a ticket.",
    "runs": "List, show and compare stored runs.",
    "verify": "After the fix: read guards and logs again.",
    "demo": "Run the founding case on an embedded SSH server.",
    "doctor": "Say what is missing on this machine and on the host.",
}
"""Name to one line of help: ``rca --help`` reads this table, not the modules."""

EXIT_ERROR = 2
_NO_ROOM = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO))
"""Of whoever takes the output: whatever else is written, its own errors say where."""


class LazyGroup(click.Group):
    """A group whose commands live in ``agent.cli.NAME`` as ``command``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = importlib.import_module(f"agent.cli.{cmd_name}").command
        return found

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"there is no command {args[0]!r}{_near(args[0])}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """From the table too; fish ends a description at its first comma."""
        from click.shell_completion import CompletionItem

        names = [name for name in COMMANDS if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=COMMANDS[name].replace(",", ";")) for name in names]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _near(word: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, COMMANDS, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="rca", message="%(prog)s %(version)s")
def cli() -> None:
    """Find out why a model server silently does not do what it was started for.

    Reads the host over SSH and changes nothing on it. Start with: rca demo
    """


def main(arguments: list[str] | None = None) -> None:
    """The console script: runs one command and exits with its code; every expected error becomes one clear line."""
    code = run(sys.argv[1:] if arguments is None else arguments)
    gc.freeze()  # the interpreter's last collection would walk through everything that was read, for a second and more
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """The exit code of one command line; this is the one place where errors end. ``RCA_DEBUG`` shows what happened inside."""
    gc.set_threshold(50_000, 20, 20)  # syntax trees are many objects and little garbage: collecting as often as usual costs a seventh
    logging.basicConfig(level=logging.WARNING if os.environ.get("RCA_DEBUG") else logging.CRITICAL + 1, format="%(name)s: %(message)s")
    try:
        result: Any = cli.main(args=arguments, prog_name="rca", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except RcaError as problem:
        return _fail(str(problem))
    except click.UsageError as problem:
        where = problem.ctx.command_path if problem.ctx else "rca"
        return _fail(f"{problem.format_message()} (see: {where} --help)")
    except click.ClickException as problem:
        return _fail(problem.format_message())
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted", code=130)
    except BrokenPipeError:
        _give_up_output()
        return EXIT_ERROR
    except Exception as problem:
        if isinstance(problem, OSError) and problem.errno in _NO_ROOM:
            _give_up_output()
            return _fail(f"cannot write the output: {problem.strerror}")
        if os.environ.get("RCA_DEBUG"):
            raise
        return _fail(f"internal error: {type(problem).__name__}: {problem} (RCA_DEBUG=1 shows where; please report it)")


def _give_up_output() -> None:
    """Nothing more is written there, neither by the interpreter when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, *, code: int = EXIT_ERROR) -> int:
    from agent.domain.visible import visible

    click.echo(f"rca: {visible(message)}", err=True)  # it may hold what a host said
    return code


if __name__ == "__main__":
    main()
