"""A kept record of practice, checked for `emi verify --practice`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from gateway.wire.foreign import read_json

if TYPE_CHECKING:
    from generator.arena.practice.record import Checked, Practised
    from generator.arena.practice.verdicts import Verdict

Read = Callable[[str], bytes | None]

MOST_BYTES: Final = 20_000_000
QUESTIONS: Final = {"how_far": "How far?", "will_it_move": "Will it move?", "which_way": "Three chances"}
PROVES: Final = """This proves: hours and truths are those of the signed log, and the scores follow from them.
It does not prove when the answers were given, nor that the truths were unknown then: only signed ballots prove that."""


def verify_practice(file: Path, origin: str | None, shipped_path: str, shipped: Read) -> None:
    """Prove that hours and truths of a record are the log's and that its scores follow; exit code 1 where not.

    Args:
        file: a record as the practice page saves it.
        origin: of who published the months of the record, but for the shipped one.
        shipped_path: of the items of the month that comes with the program.
        shipped: reads what comes with the program, None where nothing lies at a path.
    """
    from generator.arena.practice.record import RecordError, check
    from generator.record.verify import VerifyError

    record = _read(file)
    try:
        months = {str(answer["month"]) for answer in record["answers"]}
        practised = {month: _practised(month, origin, shipped_path, shipped) for month in sorted(months)}
        checked = check(record, practised)
    except (RecordError, VerifyError) as error:
        typer.echo(f"emi: {error}", err=True)
        raise typer.Exit(1) from None
    except (KeyError, TypeError) as error:
        typer.echo(f"emi: {file} does not hold a record of practice ({type(error).__name__}: {error})", err=True)
        raise typer.Exit(1) from None
    print(*_lines(checked), PROVES, sep="\n")


def _read(file: Path) -> dict[str, Any]:
    from generator.errors import GeneratorError

    try:
        if file.stat().st_size > MOST_BYTES:
            raise GeneratorError(
                f"{file} is larger than {MOST_BYTES // 1_000_000} MB: it does not hold a record of practice"
            )
        record = read_json(file.read_bytes())
    except (OSError, ValueError) as error:
        raise GeneratorError(f"{file} cannot be read: {error}") from None
    if not isinstance(record, dict):
        raise GeneratorError(f"{file} does not hold a record of practice")
    return record


def _practised(path: str, origin: str | None, shipped_path: str, shipped: Read) -> Practised:
    """Read the files of one month, make them again from the log, and compare; VerifyError where they differ."""
    from generator.client.published import Published
    from generator.errors import GeneratorError

    if path == shipped_path:
        # Its log is not the one of any origin, and lies below a folder of its own.
        return _from_log(path, shipped, lambda name: shipped(f"{_demo()}{name}"))
    if origin is None:
        raise GeneratorError(f"{path} does not come with this program: name the origin that published it with --url")
    site = Published(origin)
    return _from_log(path, site.read, site.read)


def _demo() -> str:
    from generator.catalog.links import PRACTICE_DEMO

    return PRACTICE_DEMO


def _from_log(path: str, read: Read, read_log: Read) -> Practised:
    from generator.arena.practice.hours import logged_hours
    from generator.arena.practice.items import month_of_practice
    from generator.arena.practice.record import Practised
    from generator.record.verify import VerifyError, entries, open_log

    log = open_log(read_log)
    hours = logged_hours(entries(read_log, log.head))
    items = _json(path, read(path))
    month = month_of_practice(hours, str(items.get("month")), log.head.origin, str(items.get("source_mode")))
    if month is None or month.items_path != path:
        raise VerifyError(f"{path} does not follow from the log {log.head.origin}")
    compare(month.files, read, log.head.origin)
    return Practised.of(items, read_json(month.truths))


def compare(follows: Mapping[str, bytes], read: Read, origin: str) -> None:
    """Compare what is published with what follows from the log; VerifyError where they differ.

    Args:
        follows: path -> content, as made again from the log.
        origin: of the log.
    """
    from generator.record.verify import VerifyError

    for name, content in follows.items():
        if read(name) != content:
            raise VerifyError(f"{name} is not what follows from the log {origin}")


def _json(path: str, data: bytes | None) -> Mapping[str, Any]:
    from generator.record.verify import VerifyError

    if data is None:
        raise VerifyError(f"{path}: nothing is published there")
    try:
        month = read_json(data)
    except ValueError as error:
        raise VerifyError(f"{path} is not JSON: {error}") from None
    if not isinstance(month, dict):
        raise VerifyError(f"{path} does not hold a month of practice")
    return month


def _lines(checked: Checked) -> list[str]:
    """Say what a record holds."""
    lines = []
    for question, answers in checked.answers.items():
        means = checked.means[question]
        lines.append(
            f"{QUESTIONS[question]}  {answers} answers, mean score {means.own:.4f}, "
            f"the brain's {means.brain:.4f}, usual {means.usual:.4f} (smaller is better)"
        )
    lines += [f"{name}: {_finding(verdict)}" for name, verdict in checked.verdicts.items()]
    return lines or ["the record has no answers yet"]


def _finding(verdict: Verdict) -> str:
    from generator.arena.practice.verdicts import Finding

    if verdict.finding is Finding.TOO_EARLY:
        return f"too early: {verdict.more} more answers"
    if verdict.finding is Finding.NOTHING:
        return f"no error shows in the last {verdict.answers} answers"
    if verdict.finding is Finding.BASE_RATE:
        return f"no skill: the last {verdict.answers} answers repeat the base rate, or a usual hour"
    return (
        f"{verdict.finding.replace('_', ' ')}, found at answer {verdict.answers}; "
        f"forgiven after {verdict.more} more without it"
    )
