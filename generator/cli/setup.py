"""`emi setup`: a Debian machine with nginx, set up and taken down again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from generator.errors import SetupError

if TYPE_CHECKING:
    from generator.operate.setup.journal import Journal
    from generator.operate.setup.machine import Machine
    from generator.operate.setup.plan import Choice

LETS_ENCRYPT: Final = "/etc/letsencrypt/live"


def setup(
    domain: Annotated[
        str | None, typer.Argument(help="Public host name. Default: the one of the last --apply, with its options.")
    ] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show each step, touch nothing. The default.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Make what is missing.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Remove what was made, put back what was there.")] = False,
    delete_data: Annotated[
        bool,
        typer.Option(
            "--delete-data",
            help="With --undo: also the record, who has paid, keys, what is published, edited settings.",
        ),
    ] = False,
    cert: Annotated[
        str | None, typer.Option(help=f"Certificate with its chain. Default: {LETS_ENCRYPT}/DOMAIN/fullchain.pem.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help=f"Its private key. Default: {LETS_ENCRYPT}/DOMAIN/privkey.pem.")
    ] = None,
    values: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting, not a secret one. Repeatable.")
    ] = None,
    play: Annotated[
        bool, typer.Option("--play", help="Sell play money, from a devnet on this machine: no account is needed.")
    ] = False,
    root: Annotated[Path, typer.Option(help="Root folder of the machine, for images that are being built.")] = Path(
        "/"
    ),
) -> None:
    """Set up a machine with Debian 12 or 13 and nginx, as root: users, folders, settings, units, the edge.

    Each step is noted in /var/lib/emi-setup before it is done, so that --undo cleans up after whatever ends it on the
    way. Settings in /etc/emi are yours once they are there: no --apply writes over them, and --undo leaves those that
    were edited. A second --apply changes nothing; after an upgrade it renews units and nginx's files.

    Example: emi setup api.example.org --dry-run
    """
    from generator.operate.setup.machine import Machine

    if sum((dry_run, apply, undo)) > 1:
        raise typer.BadParameter("choose one of --dry-run, --apply and --undo")
    if delete_data and not undo:
        raise typer.BadParameter("--delete-data goes with --undo")

    machine = Machine(root.absolute())
    if (apply or undo) and machine.is_this_one and os.geteuid() != 0:
        raise SetupError("emi setup changes the machine: run it as root")

    try:
        if undo:
            raise typer.Exit(_undo(machine, delete_data=delete_data))
        choice = _choice(machine, domain, (cert, key), values or [], play=play)
        raise typer.Exit(_apply(machine, choice) if apply else _show(machine, choice))
    except OSError as error:
        raise SetupError(f"{error.filename}: {error.strerror}; run it as root") from error


def _choice(
    machine: Machine, domain: str | None, pair: tuple[str | None, str | None], given: list[str], *, play: bool
) -> Choice:
    """Return what is asked for: on the command line, or by the last --apply where no name is given."""
    from generator.operate.setup.plan import PLAY, Choice, check_domain, check_path

    cert, key = pair
    if domain is None:
        if cert or key or given or play:
            raise typer.BadParameter("options need the DOMAIN again")
        with _journal(machine) as journal:
            if journal is None or journal.choice is None:
                raise typer.BadParameter("name the DOMAIN: nothing was set up here yet")
            return Choice(**journal.choice)

    name = check_domain(domain)
    folder = f"{LETS_ENCRYPT}/{name}"
    values = (PLAY if play else {}) | _values(given)
    choice = Choice(
        name, check_path(cert or f"{folder}/fullchain.pem"), check_path(key or f"{folder}/privkey.pem"), values
    )
    _check_settings(choice)
    return choice


def _values(given: list[str]) -> dict[str, str]:
    from generator.cli._settings import known_names
    from generator.operate.setup.settings import check_values

    known = known_names()
    values = {}
    for row in given:
        name, sign, value = row.partition("=")
        if not sign or (name not in known and name != "BACKUP_TARGET"):
            raise SetupError(f"--set {row!r} is not NAME=VALUE of a setting; see docs/reference/settings.md")
        if known.get(name):
            raise SetupError(f"{name} is a secret, and arguments are seen by all users: write it into /etc/emi")
        values[name] = value
    check_values(values)
    return values


def _check_settings(choice: Choice) -> None:
    """Let both programs read the settings as their units will; GeneratorError names what is wrong."""
    from generator.cli._settings import gateway_settings, generator_settings
    from generator.operate.setup.plan import settings_of
    from generator.site.resources import Resources

    # What the shell of root happens to set is not what a unit will read.
    ours = [name for name in os.environ if name.startswith("EMI_")]
    for name in ours:
        del os.environ[name]
    os.environ.update(settings_of(choice, Resources.locate().site / "edge"))
    generator_settings()
    gateway_settings()


@contextmanager
def _journal(machine: Machine) -> Iterator[Journal | None]:
    """Open the journal that is there, and make none."""
    from generator.operate.setup.journal import Journal

    if not Journal.exists(machine):
        yield None
        return
    journal = Journal.open(machine)
    try:
        yield journal
    finally:
        journal.close()


def _show(machine: Machine, choice: Choice) -> int:
    from generator.operate.setup.apply import shown
    from generator.operate.setup.plan import plan_of, unmet
    from generator.site.resources import Resources

    resources = Resources.locate()
    for line in shown(plan_of(choice, resources.site / "edge", resources.howto, machine), machine):
        print(line)
    missing = unmet(machine, choice)
    for line in missing:
        print(f"not yet: {line}")
    _print_advice(machine)
    print("= is there, + is to be made. Nothing was touched; --apply makes it.")
    return 1 if missing else 0


def _apply(machine: Machine, choice: Choice) -> int:
    from generator.operate.setup.apply import apply
    from generator.operate.setup.journal import Journal
    from generator.operate.setup.plan import plan_of, unmet
    from generator.operate.setup.settings import to_be_set
    from generator.site.resources import Resources

    if missing := unmet(machine, choice):
        raise SetupError("nothing was made: " + "; ".join(missing))

    journal = Journal.open(machine)
    try:
        # Before the first step, so that an --apply without a name resumes with the same choice.
        journal.remember(asdict(choice))
        resources = Resources.locate()
        plan = plan_of(choice, resources.site / "edge", resources.howto, machine)
        applied = apply(plan, machine, journal, print)
    except (OSError, SetupError) as error:
        raise SetupError(f"{error}. emi setup --undo removes what was made so far; --apply resumes") from error
    finally:
        journal.close()

    if not applied.count and not applied.failed:
        print("Nothing changed: all of it was there.")
        return 0
    print(f"{applied.count} steps done.")
    _print_next(machine, choice, to_be_set(machine))
    for failure in applied.failed:
        print(f"failed    {failure}")
    if applied.failed:
        raise SetupError(f"{len(applied.failed)} commands failed, the rest is done; --apply runs them again")
    return 0


def _print_next(machine: Machine, choice: Choice, to_set: list[str]) -> None:
    if not machine.is_running:
        print("Nothing was started: systemd does not run here. The units start with the machine.")
    for place in to_set:
        print(f"set       {place}")
    if to_set:
        print("then      systemctl restart emi-schedule emi-gateway")
    _print_advice(machine)
    print(f"look      emi doctor --url {choice.origin}   (the first release takes a minute or two)")


def _print_advice(machine: Machine) -> None:
    from generator.operate.setup.resolvers import advice

    if (step := advice(machine)) is not None:
        print(f"resolver  {step}")


def _undo(machine: Machine, *, delete_data: bool) -> int:
    from generator.operate.setup.apply import undo

    with _journal(machine) as journal:
        if journal is None:
            print("Nothing to undo: nothing was set up here.")
            return 0
        left, has_failed = undo(machine, journal, print, delete_data=delete_data)

    print(f"{left} left; emi setup --undo tries again." if left else "Everything is undone.")
    return 1 if has_failed else 0
