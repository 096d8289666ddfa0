"""The outside of a year: the devnet's ledger, and facilitator and node before it, which fail when they are asked to."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import structlog

from gateway.devnet.app import build_devnet
from gateway.devnet.settings import DevnetSettings
from tests.faults.behaviours import SERVER_ERROR, after, reset
from tests.faults.proxy import Behaviour, FaultProxy
from tests.year.clock import YearClock
from tests.year.process import LOOK_S, Commands

FACILITATOR: Final = ("supported", "verify", "settle")
CHAIN: Final = ("algod", "indexer")
FAULTS: Final[Mapping[str, Mapping[str, Behaviour]]] = {
    "none": {},
    "facilitator dead": dict.fromkeys(FACILITATOR, reset),
    "facilitator answers 500": dict.fromkeys(FACILITATOR, SERVER_ERROR),
    "facilitator settles and hangs up": {"settle": after(reset)},
    "facilitator settles and answers 500": {"settle": after(SERVER_ERROR)},
    "node dead": dict.fromkeys(CHAIN, reset),
    "all dead": dict.fromkeys((*FACILITATOR, *CHAIN), reset),
}


def outside_of(folder: Path, clock: YearClock) -> Callable[[Commands], None]:
    """Return the work of the outside; its first answer is where it listens."""

    def work(commands: Commands) -> None:
        structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
        asyncio.run(_serve(commands, folder, clock))

    return work


async def _serve(commands: Commands, folder: Path, clock: YearClock) -> None:
    devnet = build_devnet(DevnetSettings(folder / "devnet.sqlite3"), now=clock.true)
    ledger = devnet.state.ledger
    proxy = FaultProxy(devnet)

    def do(name: str, *arguments: Any) -> Any:
        if name == "fault":
            proxy.fault(FAULTS[arguments[0]])
            return None
        if name == "fund":
            return ledger.fund(arguments[0], 1_000_000, 10**9)
        return ledger.rounds.current()

    async with devnet.router.lifespan_context(devnet), proxy.running():
        commands.done(proxy.url)
        ready = asyncio.Event()
        asyncio.get_running_loop().add_reader(commands.pipe.fileno(), ready.set)
        given = iter(commands)
        while not commands.is_orphan():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ready.wait(), LOOK_S)
            ready.clear()
            while commands.pipe.poll():
                command = next(given, None)
                if command is None:
                    return
                commands.done(do(*command))


def transfers(folder: Path, payee: str) -> list[str]:
    """Return the ids of the transfers that the chain has, each as often as it has it."""
    with sqlite3.connect(f"file:{folder / 'devnet.sqlite3'}?mode=ro", uri=True) as chain:
        rows = chain.execute("SELECT txid FROM participants WHERE address = ? AND role = 'receiver'", (payee,))
        return [txid for (txid,) in rows]
