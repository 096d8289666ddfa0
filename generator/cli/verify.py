"""`emi verify`: check the signed record and recompute what is published of the Arena; say what that proves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from generator.cli._published import Published

ROUNDS = "/arena/rounds.json"


def verify(  # noqa: PLR0917  typer passes by name
    where: Annotated[str | None, typer.Argument(help="Folder of a published site; default SITE_DIR.")] = None,
    url: Annotated[str | None, typer.Option(help="Origin to read instead of a folder.")] = None,
    round_id: Annotated[
        str | None, typer.Option("--round", help="Check one finished round only, with few requests.")
    ] = None,
    anchor: Annotated[
        str | None, typer.Option(help="Transaction that carries an earlier head, looked up at INDEXER_URL.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="The log's public key, as its keeper told it: name+hash+key.")] = None,
    seen: Annotated[
        Path | None, typer.Option(help="Folder for what was seen on earlier visits; default STATE_DIR/seen.")
    ] = None,
) -> None:
    """Check the signed log and the published Arena record. Exits 1 naming the first thing that does not hold.

    Example: emi verify --url http://127.0.0.1:8402
    """
    from generator.cli._audit import audit
    from generator.cli._log_audit import NO_LOG, LogComplaint, open_log
    from generator.cli._proves import ROWS
    from generator.cli._published import Published, read_json
    from generator.cli._seen import SeenFile
    from generator.cli._settings import generator_settings

    settings = generator_settings()
    place: str | Path = url.rstrip("/") if url else Path(where) if where else settings.site_path
    site = Published(place)
    site.pin()
    file = SeenFile(seen or settings.state_dir / "seen", str(place) if url else str(Path(place).resolve()))
    before = file.load()
    body = read_json(site)
    report = audit(body)
    try:
        head = open_log(site, before, key, file.elsewhere())
    except LogComplaint as complaint:
        if str(complaint) != NO_LOG:
            _fail(str(complaint))
        _tell(report.lines, report.complaint, ROWS)
        return
    if anchor is not None:
        _anchored(anchor, head, settings)
    if round_id is not None:
        _one_round(round_id, report, body, site, head)
        return
    _whole(report, site, head, file, body)


def _anchored(txid: str, head: Any, settings: Any) -> None:
    from gateway.devnet.running import running_devnet
    from generator.cli._anchor import check, find

    devnet = running_devnet(settings.state_dir)
    indexer = settings.indexer_url or (f"{devnet}/indexer" if devnet else None)
    if indexer is None:
        _fail("no indexer to look the anchor up: set EMI_INDEXER_URL")
    try:
        print(check(head.reader, head.checkpoint.origin, find(indexer, txid)))
    except ValueError as error:
        _fail(f"anchor {txid}: {error}")


def _one_round(round_id: str, report: Any, body: Any, site: Published, head: Any) -> None:
    from generator.cli._log_audit import LogComplaint, check_round
    from generator.cli._proves import of_round
    from generator.cli._recount import real_votes, recount_one

    rows = [row for row in _rows(body) or () if row.get("round_id") == round_id]
    if not rows:
        _fail(report.complaint or f"round {round_id} is not published; {ROUNDS} lists the finished ones")
    try:
        lines, logged = check_round(head, rows[0])
        counted = recount_one(site, round_id, logged) if real_votes(logged) else None
    except LogComplaint as complaint:
        _fail(str(complaint))
    lines += [] if counted is None else [f"{counted} ballots counted again, every signature checked"]
    _tell([*lines, f"round {round_id}: sealed, locked and ended as published"], report.complaint, of_round(counted))


def _whole(report: Any, site: Published, head: Any, file: Any, body: Any) -> None:
    from generator.cli._log_audit import LogComplaint, audit_log, lines_of, remember
    from generator.cli._progress import progress_bar
    from generator.cli._proves import of_log
    from generator.cli._recount import recount_rounds

    rows = _rows(body)
    try:
        with progress_bar() as progress:
            whole = audit_log(head, rows, progress)
        with progress_bar() as progress:
            ballots = recount_rounds(site, whole.rounds, progress)
    except LogComplaint as complaint:
        _fail(str(complaint))
    lines = [*lines_of(head, whole, file.where), *ballots.lines, *report.lines]
    _tell(lines, report.complaint, of_log(rows or (), whole, ballots.rounds))
    remember(file, head, whole)


def _rows(body: Any) -> list[Mapping[str, Any]] | None:
    """Return the published rows; None where there is no list of them, which the report says."""
    rows = body.get("rounds") if isinstance(body, Mapping) else None
    return rows if isinstance(rows, list) and all(isinstance(row, Mapping) for row in rows) else None


def _tell(lines: Any, complaint: str | None, proves: str) -> None:
    for line in lines:
        print(line)
    if complaint is not None:
        _fail(complaint)
    print(proves)


def _fail(complaint: str) -> NoReturn:
    typer.echo(f"emi: {complaint}", err=True)
    raise typer.Exit(1)
