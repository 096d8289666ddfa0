"""What writes a state while it is copied: sales into the ledger, ticks into memory and site, ballots into the inbox."""

import asyncio
import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Final

import structlog

from gateway.ledger.record import Settle
from gateway.ledger.store import Ledger
from generator.runtime.app import build
from generator.runtime.market import no_progress
from generator.runtime.startup import open_market
from generator.runtime.tick import tick
from generator.settings import GeneratorSettings
from tests.support.clock import ManualClock
from tests.support.intents import INTENT

SALE_PAUSE_S: Final = 0.05
TICK_PAUSE_S: Final = 0.2
MINUTE: Final = timedelta(minutes=1)


def start(work: Callable[..., None], *arguments: object) -> ForkProcess:
    """Run something in a process of its own until it is killed."""
    process = ForkProcess(target=work, args=arguments, daemon=True)
    process.start()
    return process


def sell(ledger_file: Path, journal: Path) -> None:
    """Sell on and on; note each payment once its settling is durable, with the wall time of that."""
    ledger = Ledger(ledger_file)
    number = 0
    with journal.open("a", buffering=1) as notes:
        while True:
            number += 1
            body = f"body {number}".encode() * 30
            txid = f"{os.getpid()}X{number}".ljust(52, "A")
            digest = hashlib.sha256(body).hexdigest()
            ledger.write_intent(replace(INTENT, txid=txid, sha256=digest, content=body, created_at=time.time()))
            ledger.apply(txid, Settle("facilitator"), datetime.now(UTC))
            notes.write(f"{txid} {time.time()!r}\n")
            time.sleep(SALE_PAUSE_S)


def play(state: Path, begin: datetime) -> None:
    """Tick on and on, a market minute each, and drop a file into the inbox before each tick."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    asyncio.run(_play(state, begin))


async def _play(state: Path, begin: datetime) -> None:
    settings = GeneratorSettings(state_dir=state)
    clock = ManualClock(begin)
    app = build(settings, clock)
    await open_market(app, clock.now(), no_progress)
    number = 0
    while True:
        number += 1
        settings.inbox_path.mkdir(exist_ok=True)
        (settings.inbox_path / f"{number}.ballot").write_bytes(b"not a ballot")
        await tick(app, clock.step(MINUTE))
        await asyncio.sleep(TICK_PAUSE_S)


def settled_before(journal: Path, cut: datetime) -> set[str]:
    """Return the payments that were durably settled before a time."""
    rows = [line.split() for line in journal.read_text().splitlines() if line.count(" ") == 1]
    return {txid for txid, at in rows if float(at) < cut.timestamp()}
