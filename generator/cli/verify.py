"""`emi verify`: check the signed record, recompute what is published of the Arena, and state what that proves."""

from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer


def verify(
    where: Annotated[str | None, typer.Argument(help="Folder of a published site; default SITE_DIR.")] = None,
    url: Annotated[str | None, typer.Option(help="Origin to read instead of a folder.")] = None,
    key: Annotated[
        str | None, typer.Option(help="The log's public key, as its operator gave it: name+hash+key.")
    ] = None,
    seen: Annotated[
        Path | None, typer.Option(help="Folder for what was seen on earlier visits; default STATE_DIR/seen.")
    ] = None,
) -> None:
    """Check the signed log and the published Arena record. Exits 1 naming the first thing that does not hold.

    Example: emi verify --url http://127.0.0.1:8402
    """
    from generator.cli._console import progress_bar
    from generator.cli._published import Published, read_json
    from generator.cli._settings import generator_settings
    from generator.record import verify as record
    from generator.record.audit.rows import check_rows

    settings = generator_settings()
    place: str | Path = url.rstrip("/") if url else Path(where) if where else settings.site_path
    site = Published(place)
    site.pin()
    file = record.SeenFile(seen or settings.state_dir / "seen", str(place) if url else str(Path(place).resolve()))
    before = file.load()
    report = check_rows(read_json(site))
    try:
        log = record.open_log(site.read, before, key)
        with progress_bar() as progress:
            found = record.verify_all(log, report.rows, site.read, progress)
    except record.NoLogError:
        _conclude(report.lines, report.complaint, record.ROWS_ONLY)
        return
    except record.VerifyError as error:
        _fail(str(error))
    _conclude([*found.lines, *report.lines], report.complaint, found.proves)
    found.remember(file)


def _conclude(lines: Any, complaint: str | None, proves: str) -> None:
    for line in lines:
        print(line)
    if complaint is not None:
        _fail(complaint)
    print(proves)


def _fail(complaint: str) -> NoReturn:
    typer.echo(f"emi: {complaint}", err=True)
    raise typer.Exit(1)
