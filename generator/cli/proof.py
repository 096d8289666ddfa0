"""`emi proof`: one file that proves one forecast to anyone, without this program and without the service."""

from pathlib import Path
from typing import Annotated

import typer


def proof(
    round_id: Annotated[str, typer.Argument(help="A finished round, e.g. BTC-20261124-130000.")],
    policy: Annotated[Path, typer.Option(help="Which witnesses are enough: a file in the form of C2SP tlog-policy.")],
    url: Annotated[str | None, typer.Option(help="Origin to read; default the site of this machine.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; default ROUND_ID.tlog-proof.")] = None,
) -> None:
    """Write a proof of one forecast: the sealing entry, the forecast with its salt, and the witnesses that saw it.

    Exits 1 where the round was never sealed or no witness saw it. docs/howto/audit.md has a program that reads it.

    Example: emi proof BTC-20261124-130000 --policy witnesses.txt --url http://127.0.0.1:8402
    """
    from generator.catalog.formats import iso
    from generator.cli._published import Published, published_json
    from generator.cli._settings import generator_settings
    from generator.cli._urls import origin_of
    from generator.record.proof import prove
    from generator.record.verify import VerifyError, open_log
    from generator.record.witness import policy_of

    site = Published(origin_of(url) if url else generator_settings().site_path)
    site.pin()
    try:
        made = prove(site.read, published_json(site), round_id, policy_of(policy), open_log(site.read).keys)
    except (VerifyError, ValueError) as error:
        typer.echo(f"emi: {error}", err=True)
        raise typer.Exit(1) from None

    target = out or Path(f"{round_id}.tlog-proof")
    target.write_bytes(made.data)
    when = "before" if made.in_time else "NOT before"
    print(f"{target}: {len(made.data):,} bytes; witnesses had seen the seal at {iso(1000 * made.seen_at)},")
    print(f"{when} the round started at {iso(1000 * made.start)}")
