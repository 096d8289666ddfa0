"""`emi vote`: sign one ballot for the round that takes votes, and drop it into the inbox or send it on chain."""

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
    on_chain: Annotated[
        bool, typer.Option("--submit", help="Send it on chain, for a fee; on the devnet that is play money.")
    ] = False,
) -> None:
    """Vote in the Arena round that takes votes now.

    A throwaway key is made on first use. The ballot is a signed payment of nothing. It is dropped into the inbox and
    never submitted, which costs nothing; with --submit it goes on chain instead. The last vote before the close counts.

    Example: emi vote BULLISH
    """
    from generator.cli._ballot import VoteError, check_choice, find_open_round, is_made_here, load_key
    from generator.cli._settings import generator_settings

    word = check_choice(choice)
    if on_chain and inbox is not None:
        raise VoteError("--inbox and --submit are two ways to vote: use one of them")
    settings: GeneratorSettings = generator_settings(state_dir=state_dir)
    found: OpenRound = find_open_round(url, settings.site_path, round_id)
    if url is not None and not is_made_here(found, settings.site_path):
        _refuse_a_stray(settings, inbox, url, on_chain=on_chain)
    key = load_key(key_file or settings.state_dir / "keys" / "voter.key")
    lines = _submit(settings, key, found, word) if on_chain else _drop(settings, inbox, key, found, word)
    print(f"{word} in round {found.round_id} (votes close {found.closes})")
    for line in lines:
        print(line)


def _refuse_a_stray(settings: GeneratorSettings, inbox: Path | None, url: str, *, on_chain: bool) -> None:
    """Refuse a ballot that the service at another origin would never see."""
    from generator.cli._ballot import VoteError

    elsewhere = f"{url} is not the service of {settings.state_dir}"
    if on_chain and settings.arena.address is None:
        raise VoteError(f"{elsewhere}: set EMI_ARENA__ADDRESS and EMI_NETWORK to those of its Arena page")
    if not on_chain and inbox is None and settings.inbox_bucket is None:
        raise VoteError(
            f"{elsewhere}, and reads no ballot that is dropped there: vote on its Arena page, run this with its "
            "--state-dir on its machine, or name its inbox with --inbox"
        )


def _submit(settings: GeneratorSettings, key: str, found: OpenRound, word: str) -> tuple[str, str]:
    from generator.catalog.words import Prediction
    from generator.cli._ballot import arena_address, chain_of, submit

    chain = chain_of(settings)
    txid, fee, block = submit(chain, key, found, Prediction(word), arena_address(settings))
    state = f"confirmed in block {block}" if block is not None else "sent, not confirmed yet"
    return (
        f"ballot {txid} on {chain.network}: {state}; fee {fee} micro-ALGO",
        "It counts if its block comes before the close; the split is published when the round goes live.",
    )


def _drop(settings: GeneratorSettings, inbox: Path | None, key: str, found: OpenRound, word: str) -> tuple[str, str]:
    import secrets

    from gateway.wire.networks import NETWORKS
    from generator.arena.signing import sign_ballot
    from generator.catalog.words import Prediction
    from generator.cli._ballot import arena_address, drop, drop_into_store

    genesis = NETWORKS[settings.network or "devnet"].genesis_hash
    lease = secrets.token_bytes(32)  # who returns to an earlier choice signs another ballot, not the same again
    txid, data = sign_ballot(key, found.round_id, Prediction(word), arena_address(settings), genesis, lease=lease)
    store = settings.inbox_bucket if inbox is None else None
    place = drop_into_store(store, txid, data) if store else drop(inbox or settings.inbox_path, txid, data)
    counts = "It is counted by the next tick" if inbox is None else "It counts if the service reads that inbox in time"
    return (f"ballot {txid} dropped as {place}", f"{counts}; the split is published when the round goes live.")
