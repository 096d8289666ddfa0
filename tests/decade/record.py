"""A record of many years, written straight into a memory by the rules that play it.

Every hour has a round with twenty votes, and forecasts of all assets with ranges. Prices repeat week by week, so that a
crowd can be made that is right exactly where the brain is wrong: so it is in every second round, and in the others it
says what the brain says. The log has every entry that these hours make. Only ballots of the newest rounds are signed:
no reader counts older ones again.
"""

import base64
import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Table, func, insert, select

from gateway.wire.algorand import address_of
from generator.arena.ballots import Ballot, digest_of_ballots
from generator.arena.games import HOURS, ROUNDS
from generator.arena.hourly import HourState
from generator.arena.inputs import PlayInputs
from generator.arena.outcome import change_bps, outcome_of
from generator.arena.play import PlayResult, PlayState, play
from generator.arena.ranges import due_ms
from generator.arena.rounds import Lock, RoundState
from generator.arena.scores import track_record
from generator.arena.state import RegimeRow
from generator.arena.teacher import RunningTotals
from generator.arena.timetable import Timetable
from generator.arena.voters import Voter
from generator.brain.forecast import Forecast
from generator.catalog.durations import DAY_MS, HOUR_MS, MINUTE_MS
from generator.catalog.formats import iso
from generator.catalog.words import MarketSide, Prediction, RoundPhase, VolatilityWord
from generator.record.audit.entries import Entry, entry, hour_entries, round_entries
from generator.record.audit.recount import BallotPart, content, path_of
from generator.record.audit.rounds import RECOUNTED
from generator.record.audit.scores import far_scores_of, scores_of
from generator.record.memory import history, log
from generator.record.memory import tables as t
from generator.record.memory.ballots import _row_of as row_of_voter
from generator.record.memory.rows import row_of
from generator.record.memory.store import Memory
from generator.values.hours import Hour, PredictionMade
from generator.values.ranges import RangeForecast
from generator.values.rounds import Round
from generator.values.votes import Tally
from tests.inbox.many_ballots import ballot, key
from tests.support.arena_inputs import CONFIG, forecast_at, prices_at, ranges_at, salt_at

VOTERS: Final = 2_000
VOTES: Final = 20  # a round
FLUSH_HOURS: Final = 120
WEEK_MS: Final = 7 * DAY_MS
LABELS: Final = ("range", "risk_on", "risk_off", "high_volatility")
MODES: Final = ("NEUTRAL", "RISK_ON", "RISK_OFF", "HIGH_VOLATILITY")
VOLATILITIES: Final = (VolatilityWord.CALM, VolatilityWord.NORMAL, VolatilityWord.ELEVATED, VolatilityWord.EXTREME)
SIDES: Final = (MarketSide.FLAT, MarketSide.RISING, MarketSide.FALLING, MarketSide.BOTH_WAYS)
Progress = Callable[[int, int], None]  # hours done, of


@cache
def _prices(of_week_ms: int) -> dict[str, Any]:
    return prices_at(of_week_ms)


@cache
def _ranges(of_week_ms: int) -> dict[str, dict[str, RangeForecast]]:
    return ranges_at(of_week_ms)


@cache
def _voter(number: int) -> str:
    return address_of(key(number).verify_key.encode())


def _forecaster(now_ms: int) -> Callable[[str, int], Forecast | None]:
    return forecast_at(now_ms % WEEK_MS)


@dataclass
class _Rows:
    """What is to be written next, by table."""

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, table: Table, *rows: dict[str, Any]) -> None:
        self.rows.setdefault(table.name, []).extend(rows)

    def write(self, connection: Connection) -> None:
        for name, rows in self.rows.items():
            connection.execute(insert(t.metadata.tables[name]), rows)
        self.rows.clear()


class Years:
    """A record from `begin_ms` to `end_ms`, both full hours; its log has begun already."""

    def __init__(self, memory: Memory, begin_ms: int, end_ms: int, once: Path) -> None:
        self._memory = memory
        self._begin_ms, self._end_ms = begin_ms, end_ms
        self._once = once
        self._rows = _Rows()
        self._entries: list[Entry] = []
        self._active: dict[str, Round] = {}
        self._pending: dict[tuple[str, int], PredictionMade] = {}
        self._last: dict[tuple[str, str], Prediction] = {}
        self._timetable: Timetable | None = None
        self._due: dict[tuple[str, int], int] = {}  # when something is next to be done about a forecast
        self._totals = RunningTotals()
        self._day = ""
        self._voters: dict[int, Voter] = {}  # by number
        self._chosen: dict[str, list[tuple[int, Prediction]]] = {}
        self._chance = random.Random(7)

    def write(self, progress: Progress) -> None:
        """Play every hour and store all of it, but for the totals of the whole record."""
        hours = range(self._begin_ms, self._end_ms, HOUR_MS)
        with self._memory.reading() as connection:
            state = log.load(connection)
        for number, hour_ms in enumerate(hours, 1):
            for now_ms in (hour_ms, hour_ms + 15 * MINUTE_MS, hour_ms + 55 * MINUTE_MS):
                self._tick(now_ms, state)
            self._keep_hour(hour_ms)
            if number % FLUSH_HOURS == 0 or number == len(hours):
                self._flush()
                progress(number, len(hours))
        self._finish()

    def _tick(self, now_ms: int, state: log.LogState) -> None:
        before = self._state(now_ms)
        result = play(before, self._inputs(now_ms))
        self._timetable = result.rounds.timetable
        self._entries += round_entries(result.rounds, now_ms, self._digest)
        self._entries += hour_entries(result.hours.changes, now_ms, state.salt)
        self._count(result)
        self._score(now_ms)
        self._store(result)

    def _state(self, now_ms: int) -> PlayState:
        starting = [one for one in self._active.values() if one.phase is RoundPhase.OPEN and one.start_ms <= now_ms]
        for one in starting:
            self._vote(one)
        rounds = RoundState(
            timetable=self._timetable,
            last_start_ms=max((one.start_ms for one in self._active.values()), default=None),
            taken=frozenset(one.start_ms for one in self._active.values() if one.start_ms > now_ms),
            active=tuple(self._active.values()),
            real={name: _tally(chosen) for name, chosen in self._chosen.items()},
            last_outcome=lambda asset: self._last.get(("arena", asset)),
        )
        hours = HourState(
            pending=tuple(made for key, made in self._pending.items() if self._due[key] <= now_ms),
            last_outcome=lambda asset: self._last.get(("hourly", asset)),
        )
        return PlayState(games={**PlayState().games, ROUNDS: rounds, HOURS: hours})

    @staticmethod
    def _inputs(now_ms: int) -> PlayInputs:
        place = now_ms // (5 * HOUR_MS) % len(LABELS)
        return PlayInputs(
            now_ms=now_ms,
            prices=_prices(now_ms % WEEK_MS),
            venues_needed=2,
            price_basis="venue_mid",
            forecast=_forecaster(now_ms),
            config=CONFIG,
            ballots=(),
            salt=salt_at(now_ms),
            ranges=_ranges(now_ms % WEEK_MS),
            regime=RegimeRow(LABELS[place], MODES[place], 61.5, 40.0, VOLATILITIES[place], SIDES[place]),
        )

    def _vote(self, item: Round) -> None:
        """Let twenty vote: three in five for what the crowd is to say, the others for the other two."""
        consensus = self._consensus(item)
        others = [word for word in Prediction if word is not consensus]
        words = [consensus] * 12 + [others[0]] * 4 + [others[1]] * 4
        voters = self._chance.sample(range(VOTERS), VOTES)
        self._chosen[item.round_id] = list(zip(voters, words, strict=True))

        signed = item.start_ms >= self._end_ms - (RECOUNTED + 10) * HOUR_MS
        for place, (voter, word) in enumerate(self._chosen[item.round_id]):
            arrived_ms = item.opens_ms + (place + 1) * MINUTE_MS
            txid, data = _signed(voter, item.round_id, word) if signed else _unsigned(voter, item.round_id)
            row = {"txid": txid, "round_id": item.round_id, "voter": _voter(voter), "choice": str(word)}
            self._rows.add(t.ballots, {**row, "arrived_ms": arrived_ms, "counts": True})
            self._rows.add(t.signed_ballots, {"txid": txid, "round_id": item.round_id, "data": data})

    def _consensus(self, item: Round) -> Prediction:
        """Return what makes one side alone right in every second round, and both the same in the others."""
        assert item.prediction is not None
        assert item.band_bps is not None
        if item.start_ms // HOUR_MS % 2:
            return item.prediction
        start, end = (_prices(at % WEEK_MS)[item.asset].price for at in (item.start_ms, item.end_ms))
        outcome = outcome_of(change_bps(start, end), item.band_bps)
        if item.prediction != outcome:
            return outcome
        return next(word for word in Prediction if word != outcome)

    def _digest(self, round_id: str) -> str:
        rows = self._rows.rows[t.ballots.name][-VOTES:]
        assert {row["round_id"] for row in rows} == {round_id}
        return digest_of_ballots(row["txid"] for row in rows)

    def _count(self, result: PlayResult) -> None:
        """Keep totals for the scores in the log, without what intervals need: a count of the whole record adds it."""
        self._totals = self._totals.after(result.rounds.changes, result.hours.changes, result.rounds.lessons)

    def _score(self, now_ms: int) -> None:
        today = iso(now_ms)[:10]
        if today > self._day:
            live = self._totals.live
            arena, hourly = (
                scores_of(track_record(name, sums)) for name, sums in (("", live.arena), ("", live.hourly))
            )
            far = far_scores_of(live.ranges.scores())
            self._entries.append(entry("scores", now_ms, arena=arena, hourly=hourly, how_far=far))
            self._day = today

    def _store(self, result: PlayResult) -> None:
        for _, item in result.rounds.changes:
            self._active[item.round_id] = item
            if item.phase in {RoundPhase.RESOLVED, RoundPhase.VOID}:
                del self._active[item.round_id]
                self._rows.add(t.rounds, row_of(item))
            if item.outcome is not None:
                self._last["arena", item.asset] = item.outcome
        for _, made in result.hours.changes:
            self._pending[made.asset, made.start_ms] = made
            next_ms = made.start_ms if made.start_price is None else due_ms(made)
            self._due[made.asset, made.start_ms] = next_ms or made.end_ms
            if made.outcome is not None:
                self._last["hourly", made.asset] = made.outcome
            if made.outcome is not None and due_ms(made) is None:
                del self._pending[made.asset, made.start_ms], self._due[made.asset, made.start_ms]
                self._rows.add(t.predictions, row_of(made))
        for lock in result.rounds.locks:
            self._lock(lock)
        changed = {item.round_id: item for _, item in result.rounds.changes}
        for lesson in result.rounds.lessons:
            self._rows.add(t.lessons, row_of(lesson))
            for number, word in self._chosen.pop(lesson.round_id):
                voter = self._voters.get(number) or Voter(_voter(number), 0, 0)
                played = changed[lesson.round_id]
                self._voters[number] = voter.voted(word, None, played, lesson.actual_outcome)
        self._rows.add(t.events, *(row_of(event) for event in result.events))

    def _lock(self, lock: Lock) -> None:
        for simulated, tally in ((False, lock.real), (True, lock.simulated)):
            self._rows.add(t.tallies, {"round_id": lock.round_id, "simulated": simulated, **asdict(tally)})
        crowd = {"by_record": {"voters": 20, "bullish": 0.5, "bearish": 0.3, "neutral": 0.2}, "bursts": []}
        self._rows.add(t.locked_crowds, {"round_id": lock.round_id, "crowd": json.dumps(crowd)})
        start_ms = self._active[lock.round_id].start_ms
        sheet = {"round_id": lock.round_id, "start_ms": start_ms, "ballots": VOTES, "published": VOTES}
        self._rows.add(t.ballot_sheets, sheet)

    def _keep_hour(self, hour_ms: int) -> None:
        prices = {asset: seen.price for asset, seen in _prices(hour_ms % WEEK_MS).items()}
        label = LABELS[hour_ms // (5 * HOUR_MS) % len(LABELS)]
        headline = f"Bitcoin and the market are in the regime {label}; the day so far has been a quiet one for most."
        hour = Hour(hour_ms, hour_ms, label, (0.6, 0.2, 0.1, 0.1), headline, prices)
        texts = {"chances": json.dumps(hour.chances), "prices": json.dumps(prices)}
        self._rows.add(t.hours, asdict(hour) | texts)

    def _flush(self) -> None:
        with self._memory.reading() as connection:
            self._rows.write(connection)
            log.append(connection, log.load_edge(connection), self._entries)
        self._entries.clear()

    def _finish(self) -> None:
        """Store what is still under way, the voters, and of ticks and regimes as many as are kept."""
        self._rows.add(t.rounds, *(row_of(one) for one in self._active.values()))
        self._rows.add(t.predictions, *(row_of(one) for one in self._pending.values()))
        self._rows.add(t.voters, *(row_of_voter(voter) for voter in self._voters.values()))
        minutes = (self._end_ms - self._begin_ms) // MINUTE_MS
        self._rows.add(t.ticks, *_ticks(self._end_ms, min(minutes, history.KEPT_TICKS)))
        self._rows.add(t.regime_history, *_regimes(self._begin_ms, self._end_ms))
        with self._memory.reading() as connection:
            self._rows.write(connection)
            timetable = {"key": "arena.schedule", "value": json.dumps(asdict(self._timetable or Timetable(60)))}
            connection.execute(insert(t.meta).values(**timetable))
        self._publish_ballots()

    def _publish_ballots(self) -> None:
        """Write the files of the rounds that are counted again by a reader."""
        b, s = t.ballots.c, t.signed_ballots.c
        with self._memory.reading() as connection:
            newest = select(t.ballot_sheets).order_by(t.ballot_sheets.c.start_ms.desc()).limit(RECOUNTED + 5)
            for row in connection.execute(newest).mappings().all():
                found = connection.execute(
                    select(b.txid, b.voter, b.choice, b.arrived_ms, s.data)
                    .join(s.txid.table, b.txid == s.txid)
                    .where(b.round_id == row["round_id"])
                    .order_by(b.txid)
                )
                name = row["round_id"]
                rows = tuple(
                    Ballot(txid, voter, name, Prediction(word), at, data) for txid, voter, word, at, data in found
                )
                target = self._once / path_of(name).lstrip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content(BallotPart(name, row["start_ms"], VOTES, 1, rows)))


def _tally(chosen: Sequence[tuple[int, Prediction]]) -> Tally:
    words = [word for _, word in chosen]
    return Tally(words.count(Prediction.BULLISH), words.count(Prediction.BEARISH), words.count(Prediction.NEUTRAL))


def _signed(voter: int, round_id: str, word: Prediction) -> tuple[str, bytes]:
    file = ballot(voter, round_id, word, 0, confirmed=True)
    return file.name, base64.b64decode(file.data)


def _unsigned(voter: int, round_id: str) -> tuple[str, bytes]:
    """Return a name that no other ballot has, and as many bytes as a signed one takes."""
    digest = hashlib.sha256(f"{voter} {round_id}".encode()).digest()
    return base64.b32encode(digest).decode().rstrip("="), digest * 11


def _ticks(end_ms: int, count: int) -> Iterator[dict[str, Any]]:
    for place in range(count):
        at_ms = end_ms - (count - place) * MINUTE_MS
        name = iso(at_ms).replace("-", "").replace(":", "")
        row = {"tick_id": name, "generation": f"{place:012d}", "at_ms": at_ms, "ok": True, "warm_up": False}
        yield {**row, "reason": None}


def _regimes(begin_ms: int, end_ms: int) -> Iterator[dict[str, Any]]:
    """Give the minutes that are kept, and before them those where the label changed."""
    kept_ms = end_ms - history.KEPT_REGIMES * MINUTE_MS
    early = range(begin_ms, max(begin_ms, kept_ms), 5 * HOUR_MS)
    late = range(max(begin_ms, kept_ms), end_ms, MINUTE_MS)
    for at_ms in (*early, *late):
        place = at_ms // (5 * HOUR_MS) % len(LABELS)
        changed = at_ms in early or at_ms % (5 * HOUR_MS) == 0
        regime = RegimeRow(LABELS[place], MODES[place], 61.5, 40.0, VOLATILITIES[place], SIDES[place])
        yield {"at_ms": at_ms, **regime._asdict(), "warm_up": False, "changed": changed}


def rows_in(memory: Memory) -> dict[str, int]:
    """Count the rows of the tables that grow."""
    tables = (t.rounds, t.predictions, t.lessons, t.ballots, t.log_entries)
    with memory.reading() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables
        }
