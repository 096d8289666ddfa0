"""Votes from the hand to the record: by the inbox and on chain, once a voter, locked, published and counted again."""

import asyncio
import base64
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import typer
from algosdk.account import address_from_private_key
from algosdk.atomic_transaction_composer import AccountTransactionSigner
from algosdk.encoding import msgpack_decode, msgpack_encode
from algosdk.transaction import PaymentTxn, SuggestedParams
from typer.testing import CliRunner

from gateway.settings import GatewaySettings
from gateway.wire.algorand import DEMO_ARENA
from gateway.wire.notes import RoundVote
from generator.arena.ballots import note_of
from generator.catalog.words import Prediction
from generator.cli.verify import verify
from generator.client.ballot import drop, sign_ballot
from generator.record.audit.recount import path_of
from generator.record.inbox.box import BallotBox
from generator.record.inbox.chain import ChainBallots
from generator.record.inbox.folder import Inbox
from generator.runtime.tick import tick
from tests.devnet.test_ballots import asking
from tests.support.arena_inputs import GENESIS, voter
from tests.support.buyer_pages import ballot_desk, page_client
from tests.support.clock import NOON, ManualClock
from tests.support.databases import refused_ballots
from tests.support.devnet_app import DevnetApp, devnet_app
from tests.support.services import opened

ROUND = "BTC-20261120-130000"
CONSENSUS = "/api/human-consensus.php"


def by_inbox(inbox: Path, by: int, choice: Prediction, clock: ManualClock) -> None:
    path = drop(inbox, *sign_ballot(voter(by), RoundVote.of(ROUND, choice), DEMO_ARENA, GENESIS))
    os.utime(path, (clock.unix(), clock.unix()))


def by_gateway(inbox: Path, by: int, choice: Prediction, clock: ManualClock) -> None:
    """Vote as a browser does: ask what to sign, sign it, hand it in."""
    settings = GatewaySettings(state_dir=inbox.parent, arena={"inbox_url": str(inbox)})
    page = page_client(ballot_desk(settings, clock).show)
    asked = {"voter": address_from_private_key(voter(by)), "round": ROUND, "choice": str(choice)}
    unsigned = msgpack_decode(page.get("/b", params=asked).json()["transaction"])
    (signed,) = AccountTransactionSigner(voter(by)).sign_transactions([unsigned], [0])
    assert page.get("/b", headers={"X-Ballot": msgpack_encode(signed)}).status_code == 200


def chain_ballot(key: str, round_id: str, choice: Prediction, last_round: int) -> bytes:
    """Sign a ballot that a node accepts, as a wallet does."""
    params = SuggestedParams(1_000, last_round, last_round + 100, GENESIS, flat_fee=True)
    note = note_of(round_id, choice)
    payment = PaymentTxn(address_from_private_key(key), params, DEMO_ARENA, 0, note=note)
    return base64.b64decode(msgpack_encode(AccountTransactionSigner(key).sign_transactions([payment], [0])[0]))


def on_chain(devnet: DevnetApp, by: int, choice: Prediction) -> None:
    devnet.fund(address_from_private_key(voter(by)))
    last_round = devnet.client.get("/algod/v2/transactions/params").json()["last-round"]
    data = chain_ballot(voter(by), ROUND, choice, last_round)
    answer = devnet.client.post("/algod/v2/transactions", content=data)
    assert answer.status_code == 200, answer.text


def published(site: Path, path: str) -> Any:
    return json.loads((site / path.lstrip("/")).read_bytes())


def test_votes_by_every_way_are_locked_published_and_counted_once_a_voter(tmp_path: Path) -> None:
    site = tmp_path / "state" / "site"
    shown = asyncio.run(_votes(tmp_path, site))

    ballots = published(site / "once", path_of(ROUND))["ballots"]
    assert shown["round"]["round_id"] == ROUND
    assert shown["human_consensus"]["total"] - shown["simulated_votes"] == 4
    chosen = {row["voter"]: row["choice"] for row in ballots}
    assert chosen == {
        address_from_private_key(voter(by)): word
        for by, word in {0: "BEARISH", 1: "BULLISH", 2: "BULLISH", 4: "NEUTRAL"}.items()
    }
    app = typer.Typer()
    app.command()(verify)
    checked = CliRunner().invoke(app, [str(site), "--seen", str(tmp_path / "seen")])
    assert checked.exit_code == 0, checked.output
    assert "ballots counted again: 4 of 1 rounds" in checked.output


async def _votes(folder: Path, site: Path) -> Any:
    """Cast, lock and settle; return what was published while the round was live."""
    clock = ManualClock(NOON + timedelta(seconds=5))
    with devnet_app(folder, clock=clock) as devnet:
        async with opened(folder / "state", clock) as app:
            inbox = app.settings.inbox_path
            chain = ChainBallots(asking(devnet), DEMO_ARENA)
            way = Inbox(inbox)
            app.record.box = BallotBox([way, chain], way.announce)
            await tick(app, clock.now())
            by_inbox(inbox, 0, Prediction.BULLISH, clock)
            by_gateway(inbox, 4, Prediction.NEUTRAL, clock)
            on_chain(devnet, 1, Prediction.NEUTRAL)
            await tick(app, clock.step(timedelta(minutes=1)))
            on_chain(devnet, 0, Prediction.BEARISH)  # the same voter by the other way: the last counts
            by_inbox(inbox, 1, Prediction.BULLISH, clock)
            clock.step(timedelta(minutes=57, seconds=50))
            on_chain(devnet, 2, Prediction.BULLISH)  # read by the tick that locks, which waits for the indexer
            await tick(app, clock.step(timedelta(seconds=70)))
            on_chain(devnet, 3, Prediction.BULLISH)  # too late
            await tick(app, clock.step(timedelta(minutes=1)))
            assert refused_ballots(app.record.memory) == {"round is closed": 1}
            shown = published(site / "current", CONSENSUS)
            await tick(app, clock.step(timedelta(minutes=59)))
            return shown
