"""`emi vote`: sign one free ballot for the round that takes votes, and hand it in: to an origin, or into a folder."""

from pathlib import Path
from typing import Annotated

import typer


def vote(  # noqa: PLR0917  typer passes by name
    choice: Annotated[str, typer.Argument(help="up, down or small, for a small move.")],
    state_dir: Annotated[Path | None, typer.Option(help="State folder of the service; default: the setting.")] = None,
    inbox: Annotated[Path | None, typer.Option(help="Folder to drop the ballot into; default: the setting.")] = None,
    round_id: Annotated[str | None, typer.Option("--round", help="Round to vote in; default: the open one.")] = None,
    url: Annotated[str | None, typer.Option(help="Origin to vote at, over HTTP; default: the inbox here.")] = None,
    key_file: Annotated[Path | None, typer.Option(help="Voter's key; default STATE_DIR/keys/voter.key.")] = None,
) -> None:
    """Vote in the Arena round that takes votes now: free, without a wallet.

    A throwaway key is made on first use. The ballot is a signed payment of zero that no one can submit. To vote on
    chain, use the Arena page. The last vote before the close counts.

    Example: emi vote up --url http://127.0.0.1:8402
    """
    from gateway.wire.algorand import DEMO_ARENA
    from gateway.wire.networks import NETWORKS
    from gateway.wire.notes import RoundVote
    from generator.catalog.words import Prediction
    from generator.cli._ballot import (
        WORDS,
        count_change,
        drop,
        find_open_round,
        is_read,
        load_key,
        sign_ballot,
        vote_over_http,
    )
    from generator.cli._published import service_origin
    from generator.cli._settings import generator_settings
    from generator.cli._urls import origin_of
    from generator.errors import GeneratorError

    word = WORDS.get(choice.lower())
    if word is None:
        raise GeneratorError(f"choice is {choice!r}; allowed: up, small, down (or {', '.join(Prediction)})")

    settings = generator_settings(state_dir=state_dir)
    url = origin_of(url) if url else None
    voted, closes = find_open_round(url, settings.site_path, round_id)
    key_path = key_file or settings.state_dir / "keys" / "voter.key"
    key = load_key(key_path)
    vote = RoundVote.of(voted, word)
    change = count_change(key_path, vote)
    origin = url or service_origin(settings)
    if url is not None and inbox is None:
        txid = vote_over_http(f"{origin}/x402-buyer/ballot", key, vote, change)
        done = f"{origin} has it, and counts it when votes close"
    else:
        folder = inbox or settings.inbox_path
        address = settings.arena.address or DEMO_ARENA
        network = NETWORKS[settings.network or "devnet"]
        txid, data = sign_ballot(key, vote, address, network.genesis_hash, change=change)
        done = f"dropped as {drop(folder, txid, data)}; "
        if is_read(folder, voted):
            done += "the service that reads this folder counts it with its next tick"
        else:
            done += "no service reads this folder now: it counts only if one does before the close (`emi up`)"

    print(f"{word} in round {voted}; votes close {closes}\nballot {txid}: {done}")
    print(f"counted ballots, after the close: {origin}/files/ballots/{voted}.json; the result: {origin}/arena/")
