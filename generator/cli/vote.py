"""`emi vote`: sign one free ballot for the round that takes votes, and hand it in: to an origin, or into a folder."""

from pathlib import Path
from typing import Annotated

import typer


def vote(  # noqa: PLR0917  typer passes by name
    choice: Annotated[str | None, typer.Argument(help="up, down or small, for a small move.")] = None,
    chances: Annotated[
        str | None, typer.Option(help="Of up, small move and down in percent, such as 55,30,15, in place of a choice.")
    ] = None,
    word: Annotated[bool, typer.Option("--word", help="Send the word alone, which has no Brier score.")] = False,
    state_dir: Annotated[Path | None, typer.Option(help="State folder of the service; default: the setting.")] = None,
    inbox: Annotated[Path | None, typer.Option(help="Folder to drop the ballot into; default: the setting.")] = None,
    round_id: Annotated[str | None, typer.Option("--round", help="Round to vote in; default: the open one.")] = None,
    url: Annotated[str | None, typer.Option(help="Origin to vote at, over HTTP; default: the inbox here.")] = None,
    daily: Annotated[bool, typer.Option("--daily", help="Answer the daily question by two ranges.")] = False,
    r50: Annotated[str | None, typer.Option(help="With --daily: 50% range in 0.01 percent of base, -40,35.")] = None,
    r90: Annotated[str | None, typer.Option(help="With --daily: 90% range around it, -120,110.")] = None,
    key_file: Annotated[Path | None, typer.Option(help="Voter's key; default STATE_DIR/keys/voter.key.")] = None,
) -> None:
    """Vote in the Arena round that takes votes now: free, without a wallet.

    up, small and down say “a little more likely”, as one tap on the Arena page does: 40% for that side, 33% for a
    small move, 27% for the other side (small: 40%, and 30% on either side). A throwaway key is made on
    first use. The ballot is a signed payment of zero that no one can submit. To vote on chain, use the Arena page. The
    last vote before the close counts.

    With --daily it answers the daily question: between which moves of Bitcoin half of such days end, and nine in ten,
    counted from `base` in /arena/daily.json, the price when the question was asked.

    Example: emi vote up --url http://127.0.0.1:8402
    """
    from gateway.wire.algorand import DEMO_ARENA
    from gateway.wire.networks import NETWORKS
    from gateway.wire.notes import RoundVote, Vote
    from generator.catalog.links import ARENA, DAILY
    from generator.cli._settings import generator_settings
    from generator.cli._urls import origin_of, service_origin
    from generator.client.ballot import (
        answer_of,
        check_takes,
        count_change,
        drop,
        find_open_question,
        find_open_round,
        in_dollars,
        in_words,
        is_read,
        load_key,
        read_vote,
        sign_ballot,
        vote_over_http,
    )
    from generator.errors import GeneratorError

    if daily and not (choice is None and chances is None and round_id is None):
        raise GeneratorError("--daily takes --r50 and --r90, and neither a choice nor a round")

    settings = generator_settings(state_dir=state_dir)
    url = origin_of(url) if url else None
    if daily:
        voted, closes, base = find_open_question(url, settings.site_path)
        answer = answer_of(voted, r50, r90)
        vote: Vote = answer
        answered = f"{r50} and {r90} to {voted}"
        if base is not None:
            answered = f"{answered}: {in_dollars(answer, base)}"
    else:
        choice_word, given = read_vote(choice, chances, word=word)
        voted, closes = find_open_round(url, settings.site_path, round_id)
        vote = RoundVote.of(voted, choice_word, given)
        answered = f"{in_words(vote)} in round {voted}"
        if url is None or inbox is not None:
            check_takes(inbox or settings.inbox_path, vote)
    # Shown before it is sent: a ballot cannot be taken back, only replaced.
    print(f"{answered}; votes close {closes}")
    key_path = key_file or settings.state_dir / "keys" / "voter.key"
    key = load_key(key_path)
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

    result = f"{origin}{DAILY if daily else ARENA}"
    print(f"ballot {txid}: {done}")
    print(f"counted ballots, after the close: {origin}/files/ballots/{voted}.json; the result: {result}")
