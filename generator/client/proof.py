"""`emi verify --prove`: one file that proves one forecast to anyone, without this program and without the service."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from generator.client.published import Published


def write_proof(site: Published, round_id: str, policy: Path | None, out: Path | None) -> None:
    """Write the sealing entry, the forecast with its salt, and the witnesses that saw it; `site` is pinned.

    Raises:
        typer.Exit: the round was never sealed, or no witness saw it.
    """
    if policy is None:
        raise typer.BadParameter("--prove needs --policy: which witnesses are enough")
    from generator.catalog.formats import iso
    from generator.client.published import published_json
    from generator.record.proof import prove
    from generator.record.verify import VerifyError, open_log
    from generator.record.witness import policy_of

    try:
        proof = prove(site.read, published_json(site), round_id, policy_of(policy), open_log(site.read).keys)
    except (VerifyError, ValueError) as error:
        typer.echo(f"emi: {error}", err=True)
        raise typer.Exit(1) from None

    target = out or Path(f"{round_id}.tlog-proof")
    target.write_bytes(proof.data)
    when = "before" if proof.in_time else "NOT before"
    print(f"{target}: {len(proof.data):,} bytes; witnesses had seen the seal at {iso(1000 * proof.seen_at)},")
    print(f"{when} the round started at {iso(1000 * proof.start)}")
