"""What this program would do to a database of an older version, found out on a copy: steps, seconds and disk."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from generator.operate.keep.databases import Database, copy, facts_of, unpack

Monotonic = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Program:
    """What this program knows of a database: a name for people, its newest schema, its migrations, how it upgrades."""

    what: str
    schema: str
    migrations: str  # the package
    upgrade: Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What was found out; seconds and bytes are None where the database is not a file."""

    what: str
    before: str
    after: str
    steps: tuple[str, ...]
    bytes: int | None = None
    seconds: float | None = None
    grows: int | None = None

    @property
    def lines(self) -> list[str]:
        """Say it to the operator."""
        if self.before == self.after:
            changes = f"schema {self.before} is this program's"
        else:
            changes = f"schema {self.before} becomes {self.after}, in one transaction at the first start"
        lines = [f"{self.what}: {changes}", *(f"  {step}" for step in self.steps)]

        if self.seconds is None or self.grows is None or self.bytes is None:
            lines.append("  not a file, so time and disk were not measured")
        else:
            disk = f"{self.bytes / 1e6:.1f} MB now, {self.grows / 1e6:+.1f} MB after it"
            lines.append(f"  on a copy {self.seconds:.1f} s; {disk}, and as much again while it runs")
        return lines


def rehearse(database: Database, program: Program, scratch: Path, monotonic: Monotonic) -> Rehearsal:
    """Upgrade a copy of a database, which both programs may be using, and measure it.

    Raises:
        GeneratorError, or the ledger's own: it cannot be copied, or is of a newer program.
    """
    if not database.is_file:
        with database.connected() as connection:
            before = facts_of(connection).schema
        return Rehearsal(program.what, before, program.schema, steps_after(program.migrations, before))

    copied = copy(database, scratch, "rehearsal")
    path = scratch / "copy.sqlite3"
    facts = unpack(copied.file, path, copied.plain)
    size = copied.plain

    began_s = monotonic()
    program.upgrade(path)
    seconds = monotonic() - began_s

    grown = sum(file.stat().st_size for file in scratch.glob("copy.sqlite3*")) - size
    copied.file.unlink()
    path.unlink()
    steps = steps_after(program.migrations, facts.schema)
    return Rehearsal(program.what, facts.schema, program.schema, steps, size, seconds, grown)


def steps_after(package: str, schema: str) -> tuple[str, ...]:
    """Return what the migrations after a schema do, each in a sentence: the first of its module."""
    versions = importlib.import_module(package)
    later: list[str] = []
    for module in pkgutil.iter_modules(versions.__path__):
        number = module.name.partition("_")[0]
        if number.isdecimal() and schema.isdecimal() and int(number) > int(schema):
            text = importlib.import_module(f"{package}.{module.name}").__doc__ or ""
            later.append(f"{int(number)}: {text.strip().splitlines()[0]}")
    return tuple(later)
