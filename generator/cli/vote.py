"""`emi vote`: sign one ballot for the round that takes votes, and drop it into the inbox."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from generator.cli._ballot import OpenRound
    from generator.settings import GeneratorSettings


def vote(  # noqa: PLR0917  typer passes by name
    choice: Annotated[str, typer.Argument(help="BULLISH, BEARISH or NEUTRAL.")],
    state_dir: Annotated[Path | None, typer.Option(help="State folder of the service; default: the setting.")] = None,
    inbox: Annotated[Path | None, typer.Option(help="Folder to drop the ballot into; default: the setting.")] = None,
    round_id: Annotated[str | None, typer.Option("--round", help="Round to vote in; default: the open one.")] = None,
    url: Annotated[str | None, typer.Option(help="Origin to read the open round from; default: STATE_DIR.")] = None,
    key_file: Annotated[Path | None, typer.Option(help="Voter's key; default STATE_DIR/keys/voter.key.")] = None,
) -> None:
    """Vote in the Arena round that takes votes now.

    A throwaway key is made on first use. The ballot is a signed payment of nothing that is never submitted: it costs
    nothing and moves nothing. Voting again before the close replaces your vote.

    Example: emi vote BULLISH
    """
    from generator.arena.signing import sign_ballot
    from generator.catalog.networks import NETWORKS
    from generator.cli._ballot import arena_address, check_choice, drop, find_open_round, load_key
    from generator.cli._settings import generator_settings

    word = check_choice(choice)
    settings: GeneratorSettings = generator_settings(state_dir=state_dir)
    found: OpenRound = find_open_round(url, settings.site_path, round_id)
    key = load_key(key_file or settings.state_dir / "keys" / "voter.key")
    genesis = NETWORKS[settings.network or "devnet"].genesis_hash
    txid, data = sign_ballot(key, found.round_id, word, arena_address(settings), genesis)
    path = drop(inbox or settings.inbox_path, txid, data)
    print(f"{word} in round {found.round_id} (votes close {found.closes})")
    print(f"ballot {txid} dropped as {path}")
    print("It is counted by the next tick; the split is published when the round goes live.")
