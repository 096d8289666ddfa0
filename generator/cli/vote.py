"""`emi vote`: sign one free ballot for the round that takes votes, and drop it into the inbox."""

from pathlib import Path
from typing import Annotated

import typer

from generator.errors import GeneratorError


def vote(  # noqa: PLR0917  typer passes by name
    choice: Annotated[str, typer.Argument(help="BULLISH, BEARISH or NEUTRAL.")],
    state_dir: Annotated[Path | None, typer.Option(help="State folder of the service; default: the setting.")] = None,
    inbox: Annotated[Path | None, typer.Option(help="Folder to drop the ballot into; default: the setting.")] = None,
    round_id: Annotated[str | None, typer.Option("--round", help="Round to vote in; default: the open one.")] = None,
    url: Annotated[str | None, typer.Option(help="Origin to read the open round from; default: STATE_DIR.")] = None,
    key_file: Annotated[Path | None, typer.Option(help="Voter's key; default STATE_DIR/keys/voter.key.")] = None,
) -> None:
    """Vote in the Arena round that takes votes now.

    A throwaway key is made on first use. The ballot is a signed payment of zero that is dropped into the inbox and never
    submitted, which costs nothing. To vote on chain, use the Arena page. The last vote before the close counts.

    Example: emi vote BULLISH
    """
    import secrets

    from gateway.wire.algorand import DEMO_ARENA
    from gateway.wire.networks import NETWORKS
    from generator.cli._ballot import (
        check_choice,
        drop,
        find_open_round,
        is_made_here,
        load_key,
        sign_ballot,
    )
    from generator.cli._settings import generator_settings

    word = check_choice(choice)
    settings = generator_settings(state_dir=state_dir)
    found = find_open_round(url, settings.site_path, round_id)
    if url is not None and inbox is None and not is_made_here(found, settings.site_path):
        raise GeneratorError(
            f"{url} is not the service of {settings.state_dir}, and reads no ballot that is dropped there: vote on its "
            "Arena page, run this with its --state-dir on its machine, or name its inbox with --inbox"
        )
    key = load_key(key_file or settings.state_dir / "keys" / "voter.key")
    txid, data = sign_ballot(
        key,
        found.round_id,
        word,
        settings.arena.address or DEMO_ARENA,
        NETWORKS[settings.network or "devnet"].genesis_hash,
        lease=secrets.token_bytes(32),  # who returns to an earlier choice signs another ballot, not the same again
    )
    place = drop(inbox or settings.inbox_path, txid, data)
    counts = "It is counted by the next tick" if inbox is None else "It counts if the service reads that inbox in time"
    print(f"{word} in round {found.round_id} (votes close {found.closes})")
    print(f"ballot {txid} dropped as {place}\n{counts}; the split is published when the round goes live.")
