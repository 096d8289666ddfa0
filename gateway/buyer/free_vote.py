"""Free ballots: each is one file in the folder that the generator reads. Here files are added and none is read.

The generator says in the folder which round takes votes; where it has not done so for three minutes, no one reads what
is added, and the free vote is off. Each gateway counts what it added in the round by itself.
"""

import asyncio
import base64
import hashlib
import math
import os
import secrets
from pathlib import Path
from typing import Final

import structlog

from gateway.app.limits import share_of
from gateway.clock import Clock
from gateway.errors import GatewayError
from gateway.wire.ballots import OPEN_ROUND, OpenRound, SignedBallot

PER_ADDRESS: Final = 20
PER_ROUND: Final = 500
MARGIN_MS: Final = 2_000
"""Before the close: what is added must be there when the tick that locks the round reads the folder."""
RETRY_S: Final = 60
OFF: Final = "The free vote is off: no generator reads ballots from this gateway now."

log = structlog.get_logger("gateway")


class BallotAnswer(GatewayError):
    """An answer other than 200: status, one word for the page's script, one sentence."""

    def __init__(self, status: int, reason: str, text: str, retry_s: int | None = None) -> None:
        super().__init__(text)
        self.status, self.reason, self.text, self.retry_s = status, reason, text, retry_s


class FreeVote:
    """Add ballots to the generator's folder, which is never made here: nothing is added where no one looks."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._round_id = ""
        self._added: dict[str, tuple[str | None, asyncio.Future[None]]] = {}

    async def taking(self) -> OpenRound | None:
        """Return the round that takes votes, None where no generator reads what is added: the free vote is off."""
        try:
            found = OpenRound.of(await asyncio.to_thread((self._folder / OPEN_ROUND).read_bytes))
        except (OSError, ValueError):
            return None
        return found if found.is_read(self._clock.now().timestamp() * 1000) else None

    async def check_open(self, wanted: str) -> OpenRound:
        """Return the wanted round; raise BallotAnswer when it takes no votes, or the free vote is off."""
        taking = await self.taking()
        if taking is None:
            raise BallotAnswer(503, "off", OFF, RETRY_S)
        now_ms = int(self._clock.now().timestamp() * 1000)
        if wanted != taking.round_id or now_ms >= taking.closes_ms - MARGIN_MS:
            raise BallotAnswer(400, "locked", f"{wanted} takes no votes now.")
        return taking

    async def add(self, ballot: SignedBallot, address: str) -> None:
        """Add a ballot whose form and signature hold, from a client's address; the same one again is one file.

        Raises:
            BallotAnswer: the round takes no votes, the limits are reached, or nothing can be added.
        """
        taking = await self.check_open(ballot.round_id)
        if taking.round_id != self._round_id:
            self._round_id, self._added = taking.round_id, {}
        name = hashlib.sha256(ballot.raw).hexdigest()
        if name not in self._added:
            share = share_of(address)
            self._check_limits(share, taking)
            data = base64.b64encode(ballot.raw) + b"\n"
            self._added[name] = (share, asyncio.ensure_future(asyncio.to_thread(add_file, self._folder, name, data)))
        try:
            await asyncio.shield(self._added[name][1])
        except OSError as error:
            self._added.pop(name, None)
            log.warning("a free ballot cannot be added to the inbox", reason=error.strerror)
            raise BallotAnswer(503, "off", "The free vote is off: this ballot could not be stored.", RETRY_S) from None

    def _check_limits(self, share: str | None, taking: OpenRound) -> None:
        wait_s = max(1, math.ceil(taking.closes_ms / 1000 - self._clock.now().timestamp()))
        if share is not None and sum(by == share for by, _ in self._added.values()) >= PER_ADDRESS:
            text = f"{PER_ADDRESS} free ballots of this round came from your network address, which is the most."
            raise BallotAnswer(429, "too_many", text, wait_s)
        if len(self._added) >= PER_ROUND:
            text = (
                f"{PER_ROUND} free ballots of this round were taken, which is the most. A vote on chain still counts."
            )
            raise BallotAnswer(429, "full", text, wait_s)


def add_file(folder: Path, name: str, data: bytes) -> None:
    """Add a file in one step and keep one that is there; the folder may let this user neither list nor remove others."""
    draft = folder / f".{name}.{secrets.token_hex(4)}.tmp"
    try:
        with draft.open("xb") as file:
            os.fchmod(file.fileno(), 0o640)  # the generator of another user reads it by the folder's group
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            try:
                os.link(draft, folder / f"{name}.ballot")
            except FileExistsError:
                return
            os.fsync(file.fileno())  # with the name: the folder itself may not be opened
    finally:
        draft.unlink(missing_ok=True)
