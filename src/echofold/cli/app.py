"""The group of commands: loaded when called, errors in one line, exit codes."""

from __future__ import annotations

import _thread
import difflib
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from echofold import __version__

COMMANDS = {
    "demo": "Search, compare and forecast on an embedded series.",
    "forecast": "Forecast a series of a CSV, Excel or Parquet file.",
    "update": "Move a model on over new values, and tell how its last forecast did.",
    "validate": "Forecast the end of a series from what is before it, and score that.",
    "schemes": "Draw how a scheme splits a series.",
    "reproduce": "Repeat the tables and figures of the paper.",
    "info": "Show versions, devices and memory.",
}
OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
INTERRUPT = "interrupted; run the command again to start over."


class Commands(click.Group):
    """Knows the names of commands without importing them, and ends every error in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands, in the order of the help page."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in COMMANDS:
            return None
        return getattr(import_module("echofold.cli.commands"), name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command named first, or suggest the nearest."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(COMMANDS)}."
            raise click.UsageError(f"no command {name!r}: {hint}", ctx)
        _, command, rest = found = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            _refuse_repeated(command, rest, click.Context(command, ctx, name))
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an interrupt becomes an error that click does not reword."""
        try:
            with _heard():
                return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise Interrupted(str(interrupt) or INTERRUPT) from interrupt

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> int:
        """Run and exit with a code: 0 done, 1 wrong data, 2 wrong usage, 130 interrupted."""
        args = sys.argv[1:] if args is None else list(args)
        try:
            code = super().main(args, prog_name or "echofold", standalone_mode=False, **extra)
            code = code if isinstance(code, int) else OK
        except Exception as error:
            if "--debug" in args and not isinstance(error, click.Abort):
                raise
            words, code = _words(error)
            click.echo(f"Error: {' '.join(words.split())}", err=True)
        if standalone_mode:
            sys.exit(code)
        return code


def _refuse_repeated(command: click.Command, args: list[str], ctx: click.Context) -> None:
    """Raise for an option that takes one value and was given several times."""
    given = command.make_parser(ctx).parse_args(list(args))[2]
    for option in given:
        if not isinstance(option, click.Option) or option.multiple or given.count(option) == 1:
            continue
        names, values = [*option.opts, *option.secondary_opts], []
        for arg, after in zip(args, [*args[1:], ""], strict=True):
            name, _, value = arg.partition("=")
            if name in names:
                values.append(arg if option.is_flag else value or after)
        if option.is_flag and len({value in option.opts for value in values}) < 2:
            continue  # said again, and not the opposite
        remedy = "leave out all but one"
        if "[," in (option.metavar or ""):
            remedy = f"for several, give {names[0]} {','.join(values)}"
        told = ", ".join(map(repr, values))
        raise click.UsageError(f"{names[0]} was given {len(values)} times, {told}: {remedy}.", ctx)


class Interrupted(click.ClickException):
    """Ctrl-C, with what to do next."""

    exit_code = INTERRUPTED


def _interrupt() -> None:
    """A Ctrl-C for the main thread, that wakes it where it waits."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


@contextmanager
def _heard() -> Iterator[None]:
    """Repeat a Ctrl-C that arrives where Python ignores errors, as in JAX's garbage collection."""
    before = sys.unraisablehook

    def hook(ignored: Any) -> None:
        if issubclass(ignored.exc_type, KeyboardInterrupt):
            threading.Timer(0.05, _interrupt).start()  # when this place is left
        else:
            before(ignored)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _words(error: Exception) -> tuple[str, int]:
    """What to say about an error, and the exit code."""
    if isinstance(error, click.Abort):
        return INTERRUPT, INTERRUPTED
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "echofold"
        return f"{error.format_message()} See '{path} --help'.", USAGE
    if isinstance(error, click.ClickException):
        return error.format_message(), error.exit_code
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}", FAILED
    if isinstance(error, MemoryError):
        return "not enough memory; use fewer --units or a smaller --grid.", FAILED
    if isinstance(error, ValueError | TypeError | ImportError | OSError):
        return str(error), FAILED
    return f"{type(error).__name__}: {error} (--debug shows where).", FAILED


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with 'echofold demo', then 'echofold forecast FILE --horizon 26'.",
)
@click.version_option(__version__, prog_name="echofold")
@click.pass_context
def app(ctx: click.Context) -> None:
    """Forecast time series with echo state networks, cross-validated."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
