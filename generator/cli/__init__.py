"""The `emi` command: the one place that knows both programs."""

import os
import sys
from functools import cache
from importlib.util import find_spec
from typing import Annotated, Final

import typer
from typer.core import TyperGroup
from typer.main import get_group

from generator.errors import GeneratorError

# What runs wherever Python does; the service itself locks files and sets rights as only Unix does.
OF_READERS: Final = ("buy", "doctor", "mcp", "read", "verify", "vote")
HELP = """Educational crypto market context as JSON, with endpoints paid per call.

Start with:  emi up          (everything on this machine, simulated market, play money)

Then:        curl http://127.0.0.1:8402/api/market-regime.php
"""


def _show_version(wanted: bool) -> None:
    """Print the version of the program and of the API that it serves."""
    if not wanted:
        return
    from gateway.wire.program import this_program
    from generator.catalog.discovery import CATALOG_VERSION

    print(f"{this_program()}, API {CATALOG_VERSION}")
    raise typer.Exit


def _show_help(context: typer.Context) -> None:
    """Print what `emi --help` does."""
    print(context.parent.get_help() if context.parent else HELP)


def application() -> typer.Typer:
    """Build the command line; command modules import what they need when they run."""
    from generator.cli import (
        adopt,
        backup,
        buy,
        devnet,
        doctor,
        export,
        gateway,
        generate,
        key,
        mcp,
        payments,
        read,
        restore,
        setup,
        up,
        verify,
        vote,
        watch,
    )

    app = typer.Typer(name="emi", help=HELP, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback()(_options)
    for command in (
        up.up,
        generate.tick,
        generate.schedule,
        generate.bootstrap,
        gateway.gateway,
        devnet.devnet,
        buy.buy,
        vote.vote,
        read.read,
        verify.verify,
        mcp.mcp,
        doctor.doctor,
        backup.backup,
        restore.restore,
        export.export,
        payments.payments,
        adopt.adopt,
        key.key,
        watch.watch,
        setup.setup,
    ):
        app.command()(command)
    app.command("version", hidden=True)(lambda: _show_version(wanted=True))
    app.command("help", hidden=True)(_show_help)
    return app


@cache
def command_line() -> TyperGroup:
    """Return what `application` builds, with the parameters of every command read from its signature."""
    return get_group(application())


def _options(
    context: typer.Context,
    *,
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show what runs, and end.")
    ] = False,
) -> None:
    """Take the options that come before a command, and end here with one that this system cannot run."""
    command = context.invoked_subcommand
    wants_words = command in {"help", "version"} or "--help" in sys.argv
    if command not in OF_READERS and not wants_words and find_spec("fcntl") is None:
        raise GeneratorError(f"emi {command} needs Linux or macOS (on Windows: WSL); here run {', '.join(OF_READERS)}")


def main() -> None:
    """Run `emi`; a failure is one clear line and exit code 1.

    What it writes is its user's alone, wherever it lies; the site and the vault get wider modes where they are written.
    """
    os.umask(0o077)
    try:
        command_line()()
    except Exception as error:
        from gateway.devnet.errors import DevnetError
        from gateway.errors import GatewayError

        if not isinstance(error, GeneratorError | GatewayError | DevnetError):
            raise
        print(f"emi: {error}", file=sys.stderr)
        sys.exit(1)
