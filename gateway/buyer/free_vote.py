"""Free ballots: each is one file in the folder that the generator reads. Here files are added and none is read.

The generator says in the folder which round takes votes; where it has not done so for three minutes, no one reads what
is added, and nothing is. It also names the voters that it counted before, for whom places are kept (`places`).
"""

import asyncio
import base64
import hashlib
import math
import os
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import structlog

from gateway.buyer.places import (
    FOR_NEW_NETWORKS,
    FOR_NEWCOMERS,
    FREED_BEFORE_CLOSE_MS,
    PER_ADDRESS,
    PER_NETWORK,
    PER_ROUND,
    Claim,
    NoPlace,
    Places,
)
from gateway.clock import Clock
from gateway.errors import GatewayError
from gateway.http.limits import network_of, share_of
from gateway.wire.ballots import SignedBallot
from gateway.wire.daily import DailyAnswer
from gateway.wire.inbox import EARLIER_VOTERS, OPEN_DAILY, OPEN_ROUND, AnnouncedRound, unpack_voters
from gateway.wire.notes import RoundVote, Vote

MARGIN_MS: Final = 2_000
"""Before the close: what is added must be there when the tick that locks the round reads the folder."""
RETRY_S: Final = 60
FORGET_EVERY_S: Final = 10.0
OFF: Final = "The free vote is off: no generator reads ballots from this gateway now."
STALE: Final = (
    "The service has stopped: it last read votes at {:%Y-%m-%d %H:%M} UTC. Nothing was taken; vote again once it runs."
)
WORDS_ALONE: Final = (
    "{} opened before the service took chances, so it takes a word alone: BULLISH, NEUTRAL or BEARISH. "
    "The next round takes chances."
)
NO_PLACE: Final = {
    NoPlace.ADDRESS: "Free ballots of {per_address} voters came from your network address for this {what}, the most.",
    NoPlace.NETWORK: "Free ballots of {per_network} voters came from the network around your address for this {what}, "
    "the most.",
    NoPlace.NEWCOMERS: f"Free ballots of {FOR_NEWCOMERS} new voters came for this {{what}}. The places that are left "
    "are kept until {freed:%H:%M} UTC for voters of earlier rounds; then they are everybody's. A vote on chain still "
    "counts.",
    NoPlace.NEW_NETWORKS: f"The last {FOR_NEW_NETWORKS} places of this {{what}} are kept for networks from which no "
    "free ballot came. A vote on chain still counts.",
    NoPlace.ROUND: f"Free ballots of {PER_ROUND} voters were taken for this {{what}}, which is the most. "
    "A vote on chain still counts.",
}
Value = TypeVar("Value")
TOO_MANY: Final = frozenset({NoPlace.ADDRESS, NoPlace.NETWORK})

log = structlog.get_logger("gateway")


class BallotAnswer(GatewayError):
    """An answer other than 200: status, one word for the page's script, one sentence."""

    def __init__(self, status: int, reason: str, text: str, retry_s: int | None = None) -> None:
        super().__init__(text)
        self.status, self.reason, self.text, self.retry_s = status, reason, text, retry_s


class FreeVote:
    """Add ballots to the generator's folder, which is never made here: nothing is added where no one looks.

    Args:
        folder: the generator's inbox.
        counts: the file of the places that were taken.
        clock: of the gateway.
        per_address: so many voters of one address may send free ballots for a round.
    """

    def __init__(self, folder: Path, counts: Path, clock: Clock, per_address: int = PER_ADDRESS) -> None:
        self._folder = folder
        self._per_address = per_address
        self._clock = clock
        # What takes ballots, and the places that were taken: of the round, and of the daily question.
        self._of_rounds = _Kind(OPEN_ROUND, "round", Places(counts, per_address))
        of_days = Places(counts.with_name(f"daily-{counts.name}"), per_address)
        self._of_days = _Kind(OPEN_DAILY, "question", of_days)
        self._earlier = _EarlierVoters(folder / EARLIER_VOTERS)
        # One thread: ballots are counted one after the other, and a disk that hangs holds up nothing else.
        self._thread = ThreadPoolExecutor(1, "free-vote")

    async def _taking(self, kind: "_Kind") -> AnnouncedRound:
        """Return what takes ballots; raise BallotAnswer where no generator reads what is added."""
        try:
            announced = AnnouncedRound.of(await asyncio.to_thread((self._folder / kind.announced).read_bytes))
        except (OSError, ValueError):
            raise BallotAnswer(503, "off", OFF, RETRY_S) from None

        if not announced.is_read(self._now_ms()):
            raise BallotAnswer(503, "stale", STALE.format(_time(announced.read_ms)), RETRY_S)
        return announced

    async def state(self) -> dict[str, str]:
        """Return whether the free vote is `on`, `off`, or `full` for who never voted, with a sentence that says why."""
        kind = self._of_rounds
        try:
            taking = await self._taking(kind)
        except BallotAnswer as answer:
            return {"free_vote": "off", "reason": answer.reason, "detail": answer.text}

        why = await asyncio.to_thread(kind.places.full, taking, self._now_ms())
        if why is None:
            return {"free_vote": "on"}
        full = self._answer(why, taking, kind)
        return {"free_vote": "full", "reason": full.reason, "detail": full.text}

    async def check_open(self, vote: Vote) -> AnnouncedRound:
        """Return what a vote is for; raise BallotAnswer when it takes no such votes, or no generator reads them."""
        taking = await self._taking(self._kind_of(vote))
        if vote.subject != taking.round_id or self._now_ms() >= taking.closes_ms - MARGIN_MS:
            raise BallotAnswer(400, "locked", f"{vote.subject} takes no votes now.")
        _check_form(vote, taking)
        return taking

    async def check_form(self, vote: Vote) -> None:
        """Raise BallotAnswer where a generator says that the round takes words alone; a vote on chain needs no other.

        Where none says anything here, ballots on chain may still be read by one elsewhere.
        """
        try:
            taking = await self._taking(self._kind_of(vote))
        except BallotAnswer:
            return
        if taking.round_id == vote.subject:
            _check_form(vote, taking)

    async def add(self, ballot: SignedBallot, address: str) -> None:
        """Add a ballot whose form and signature hold, from a client's address; the same one again is one file.

        Raises:
            BallotAnswer: the round takes no votes, there is no place left, or nothing can be added.
        """
        taking = await self.check_open(ballot.vote)
        now_ms = self._now_ms()
        try:
            refusal = await self._in_thread(lambda: self._take(taking, ballot, address, now_ms))
        except OSError as error:
            log.warning("a free ballot cannot be added to the inbox", reason=error.strerror)
            raise BallotAnswer(503, "off", "The free vote is off: this ballot could not be stored.", RETRY_S) from None

        if refusal is not None:
            raise self._answer(refusal, taking, self._kind_of(ballot.vote))

    async def forget_closed_rounds(self) -> None:
        """Throw the key of a closed round away, and with it what was known of its voters' networks."""
        now_ms = self._now_ms()
        for kind in (self._of_rounds, self._of_days):
            await self._in_thread(partial(kind.places.forget, now_ms))

    def _take(self, taking: AnnouncedRound, ballot: SignedBallot, address: str, now_ms: int) -> NoPlace | None:
        name = hashlib.sha256(ballot.raw).hexdigest()
        earlier = self._earlier.holds(ballot.transaction["snd"])
        claim = Claim(ballot.voter, share_of(address), network_of(address), earlier)
        data = base64.b64encode(ballot.raw) + b"\n"
        return self._kind_of(ballot.vote).places.take(taking, claim, now_ms, lambda: add_file(self._folder, name, data))

    def _kind_of(self, vote: Vote) -> "_Kind":
        return self._of_days if isinstance(vote, DailyAnswer) else self._of_rounds

    async def _in_thread(self, work: Callable[[], Value]) -> Value:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _answer(self, why: NoPlace, taking: AnnouncedRound, kind: "_Kind") -> BallotAnswer:
        """Say why there is no place, and when to come again."""
        freed_ms = taking.closes_ms - FREED_BEFORE_CLOSE_MS
        until_ms = freed_ms if why is NoPlace.NEWCOMERS else taking.closes_ms
        wait_s = max(1, math.ceil((until_ms - self._now_ms()) / 1000))

        # A newcomer may come again when places are freed; the others wait for the next round.
        reason = "too_many" if why in TOO_MANY else "full"
        text = NO_PLACE[why].format(
            freed=_time(freed_ms),
            what=kind.what,
            per_address=self._per_address,
            per_network=max(PER_NETWORK, self._per_address),
        )
        return BallotAnswer(429, reason, text, wait_s)

    def _now_ms(self) -> int:
        return int(self._clock.now().timestamp() * 1000)


class _Kind(NamedTuple):
    """Rounds, or daily questions: the file that names the one that takes ballots, its word, and the places taken."""

    announced: str
    what: str
    places: Places


def _check_form(vote: Vote, taking: AnnouncedRound) -> None:
    if isinstance(vote, RoundVote) and vote.chances is not None and not taking.takes_chances:
        raise BallotAnswer(400, "words_alone", WORDS_ALONE.format(taking.round_id))


class _EarlierVoters:
    """Who was counted in an earlier round, as the generator says in the inbox; read again when the file is another."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[int, ...] = ()
        self._keys: frozenset[bytes] = frozenset()
        self._complained = False

    def holds(self, voter: bytes) -> bool:
        """Return whether a voter is known. What cannot be read changes nothing: who was known before is known still."""
        try:
            status = self._path.stat()
            version = (status.st_mtime_ns, status.st_size, status.st_ino)
            if version != self._read:
                self._read = version
                self._keys = unpack_voters(self._path.read_bytes())
        except (OSError, ValueError) as error:
            if not self._complained and not isinstance(error, FileNotFoundError):
                log.warning("the earlier voters in the inbox cannot be read", reason=str(error))
                self._complained = True

        return voter in self._keys


def _time(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)


def add_file(folder: Path, name: str, data: bytes) -> None:
    """Add a file in one step and keep one that is there; this user may be unable to list or remove others."""
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
