"""`emi verify`: check the signed record, recompute what is published of the Arena, and state what that proves."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from generator.cli._urls import origin_of

if TYPE_CHECKING:
    from generator.client.published import Published


def verify(  # noqa: PLR0917  typer passes by name
    where: Annotated[str | None, typer.Argument(help="Folder of a published site; default SITE_DIR.")] = None,
    url: Annotated[str | None, typer.Option(help="Origin to read instead of a folder.")] = None,
    key: Annotated[
        str | None, typer.Option(help="The log's public key, as its operator gave it: name+hash+key.")
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(help="Witnesses that must have seen the log: a file in the form of C2SP tlog-policy."),
    ] = None,
    max_age: Annotated[
        float, typer.Option(min=0.1, help="Hours since enough witnesses saw the log, at most; with --policy.")
    ] = 48,
    seen: Annotated[
        Path | None, typer.Option(help="Folder for what was seen on earlier visits; default STATE_DIR/seen.")
    ] = None,
    receipt: Annotated[
        Path | None,
        typer.Option(help="Check a signed receipt instead: PAYMENT-RESPONSE, or a file that holds it; with --body."),
    ] = None,
    body: Annotated[Path | None, typer.Option(help="The paid answer of the receipt, byte for byte.")] = None,
    practice: Annotated[
        Path | None,
        typer.Option(help="Check a record that the practice page saved instead; --url is who published its months."),
    ] = None,
    prove: Annotated[
        str | None,
        typer.Option(help="Write a proof of this finished round instead; with --policy."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File of the proof; default ROUND_ID.tlog-proof.")] = None,
) -> None:
    """Check the signed log and the published Arena record. Exits 1 naming the first thing that does not hold.

    With --practice FILE: that hours and truths of a learner's record are the log's, and that its scores follow. The
    month that comes with this program needs no --url. With --prove ROUND_ID: write one file that proves that forecast;
    docs/howto/audit.md has a program that reads it.

    Example: emi verify --url http://127.0.0.1:8402
    """
    if practice is not None:
        if any(option is not None for option in (where, key, policy, seen, receipt, body, prove)):
            raise typer.BadParameter("--practice goes with --url alone: a record names the log that it is of")
        from generator.client.practice import verify_practice
        from generator.site.resources import ShippedMonth

        shipped = ShippedMonth.load()
        verify_practice(practice, origin_of(url) if url else None, shipped.items_path, shipped.files.get)
        return

    from generator.catalog.links import STATUS_JSON
    from generator.cli._console import progress_bar
    from generator.cli._settings import generator_settings
    from generator.client.published import Published, published_json
    from generator.clock import SystemClock
    from generator.errors import GeneratorError
    from generator.record import verify as record
    from generator.record.published import CHECKPOINT
    from generator.record.witness import policy_of

    settings = generator_settings()
    place: str | Path
    if url:
        place = origin_of(url)
    elif where:
        place = Path(where)
    else:
        place = settings.site_path

    site = Published(place)
    if not url and site.read(STATUS_JSON) is None and site.read(CHECKPOINT) is None:
        raise GeneratorError(f"there is no published site in {place}; --url reads the one of a service that runs")
    site.pin()

    if receipt is not None or body is not None:
        _verify_receipt(site, receipt, body, key)
        return

    if prove is not None:
        from generator.client.proof import write_proof

        write_proof(site, prove, policy, out)
        return

    name = str(place) if url else str(Path(place).resolve())
    file = record.SeenFile(seen or settings.state_dir / "seen", name)
    try:
        log = record.open_log(site.read, file.load(), key)
        witnessed = None
        if policy is not None:
            now = SystemClock().now().timestamp()
            witnessed = record.newest_witnessed(site.read, log, policy_of(policy), now, 3600 * max_age)
        with progress_bar() as progress:
            verified = record.verify_all(log, published_json(site), site.read, progress, witnessed)
    except record.VerifyError as error:
        typer.echo(f"emi: {error}", err=True)
        raise typer.Exit(1) from None

    print(*verified.lines, verified.proves, sep="\n")
    verified.remember(file)


def _verify_receipt(site: "Published", receipt: Path | None, body: Path | None, key: str | None) -> None:
    """Check one receipt against the keys and the log that a site publishes."""
    from generator.errors import GeneratorError
    from generator.record.published import CHECKPOINT
    from generator.record.receipt import receipt_in, verify_receipt
    from generator.record.verify import VerifyError, open_log

    if receipt is None or body is None:
        raise GeneratorError("--receipt and --body belong together: a receipt is checked with the bytes that it is for")
    try:
        text = receipt.read_text(encoding="utf-8")
        content = body.read_bytes()
    except (OSError, UnicodeDecodeError) as error:
        raise GeneratorError(f"the receipt or its body cannot be read: {error}") from error

    try:
        log = open_log(site.read, key=key) if site.read(CHECKPOINT) is not None else None
        verified = verify_receipt(site.read, log, receipt_in(text), content)
    except VerifyError as error:
        typer.echo(f"emi: {error}", err=True)
        raise typer.Exit(1) from None
    print(*verified.lines, verified.proves, sep="\n")
