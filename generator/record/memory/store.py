"""The memory: the generator's database. One transaction a tick; everything else is read from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, select

from gateway.wire.foreign import read_json
from generator.arena.ballots import FORM, BallotFile, Judged, Poll
from generator.arena.earned import KIND, Earned, look
from generator.arena.inputs import PlayInputs
from generator.arena.life import shown_at
from generator.arena.play import PlayResult, PlayState
from generator.arena.teacher import RunningTotals
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.words import RoundPhase
from generator.errors import MemoryUnreadable
from generator.market.bars import BarFrame
from generator.memo import Memo
from generator.record.audit.entries import Entry
from generator.record.audit.recount import BallotPart
from generator.record.memory import ballots, bars, daily, database, history, holds, hours, log, rounds, venues
from generator.record.memory import tables as t
from generator.record.memory import totals as kept_totals
from generator.record.memory.database import name_of, open_database, translated
from generator.record.memory.exports import NOTE_PREFIX, Exports, published_rows
from generator.record.memory.games import game_stores
from generator.record.memory.rows import get_meta, put_meta, upsert
from generator.record.memory.sealed import joint_record
from generator.record.memory.totals import ranges_of_block
from generator.record.memory.venues import VenueFacts
from generator.runtime.lease import Fence, no_fence
from generator.values.hours import Hour, PredictionMade
from generator.values.rows import RoundInTheRecord
from generator.values.ticks import TicksBlock
from generator.values.view import ArenaView
from generator.values.votes import Tally

LESSONS_SHOWN = 20
EARNED_KEY = f"arena.sides.{KIND}"
EVENTS_SHOWN = 10
Value = TypeVar("Value")


def _file_of(engine: Engine) -> Path | None:
    """Return the file of an SQLite database, None for one on a server or in memory."""
    url = engine.url
    is_file = url.get_backend_name() == "sqlite" and url.database not in {None, "", ":memory:"}
    return Path(str(url.database)).absolute() if is_file else None


def _identity(file: Path | None) -> tuple[int, int] | None:
    """Return what is the same for as long as a file was not replaced, None where there is none."""
    try:
        stat = None if file is None else file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return None if stat is None else (stat.st_dev, stat.st_ino)


class Memory:
    """What survives a restart. One process writes it; its methods are not called from two threads at once.

    Every method that writes raises LeadershipLost, and leaves the record as it is, when `fence` does or when a writer
    of a higher epoch was here.
    """

    def __init__(self, engine: Engine, fence: Fence = no_fence) -> None:
        self._engine = engine
        self._fence = fence
        self._name = name_of(engine.url)

        self._outer: Connection | None = None  # inside `batch`
        self._totals: RunningTotals | None = None  # of what is committed, or of the open batch
        self.games = game_stores()

        self._log: log.LogState | None = None
        self._derived: Memo[str] = Memo()  # read again when the totals they are computed from change
        self._file = _file_of(engine)
        self._opened = _identity(self._file)

    @classmethod
    def open(cls, url: str, fence: Fence = no_fence) -> Memory:
        """Open or make a memory; raise MemoryUnreadable where `open_database` does."""
        return cls(open_database(url), fence)

    def check_file(self) -> None:
        """Raise MemoryUnreadable for a SQLite file that a restart would not find: it was removed or replaced."""
        if self._file is not None and _identity(self._file) != self._opened:
            raise MemoryUnreadable(
                f"the memory {self._file} was removed or replaced: no tick is made, since its record would be lost; "
                "put the file or the newest backup back, then restart the generator"
            )

    def close(self) -> None:
        """Release the database."""
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction; inside a batch, a savepoint of it."""
        with translated(self._name):
            if self._outer is None:
                with self._engine.begin() as connection:
                    yield connection
            else:
                with self._outer.begin_nested():
                    yield self._outer

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that passes the fence at its begin, where the epoch is stored, and just before its end."""
        inside = self._outer is not None
        with self.reading() as connection:
            if not inside:
                database.pass_fence(connection, self._fence())
            yield connection
            if not inside:
                self._fence()

    @property
    def in_batch(self) -> bool:
        """Whether a batch is open."""
        return self._outer is not None

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Make many ticks one transaction: all of them are stored, or none; the running totals once, at its end."""
        # Thousands of ticks of a backtest: to commit each would take a hundred times as long.
        with self.writing() as connection:
            self._outer = connection
            try:
                yield
                kept_totals.store(connection, self.totals(connection))
                for game in self.games:
                    game.end_batch(connection)
            except BaseException:
                self._forget()
                raise
            finally:
                self._outer = None

    @contextmanager
    def tick(self) -> Iterator[TickTransaction]:
        """Open the transaction of one tick: a failure anywhere leaves the memory as it was."""
        try:
            if not self.in_batch:
                with self.reading() as connection:
                    self.totals(connection)  # where nothing is kept, counting takes longer than a write may idle
            with self.writing() as connection:
                yield TickTransaction(self, connection)
        except BaseException:
            self._forget()
            raise

    def claim(self) -> None:
        """Store the epoch held, and forget what was read before: another leader may have written since.

        It waits for the transaction that the last leader is in (MemoryUnreadable where that does not end); from its end
        on that one writes nothing more, so what is read after this is final.
        """
        self._forget()
        with self.writing():
            pass

    def totals(self, connection: Connection) -> RunningTotals:
        """Return the running totals as they are kept; where `count_again` has not run yet, counted here and now."""
        if self._totals is None:
            self._totals = kept_totals.load(connection) or kept_totals.count_all(connection)
        return self._totals

    def count_again(self) -> Iterator[tuple[int, int]]:
        """Count the whole record again where the totals kept are not this program's; nothing is played meanwhile.

        Each step reads a week; what was counted is kept at the end, so a process that ends before then starts over.

        Yields:
            How many steps are done, of how many; nothing where the totals kept will do.
        """
        with self.reading() as connection:
            if kept_totals.load(connection) is not None:
                return
            spans = kept_totals.spans(connection)

        counted = RunningTotals()
        for number, span in enumerate(spans, 1):
            with self.reading() as connection:
                counted = kept_totals.count_span(connection, counted, span)
            yield number, len(spans)

        with self.writing() as connection:
            kept_totals.store(connection, counted)
        self._totals = counted

    def count_at_the_end(self) -> None:
        """Leave the running totals to the end of the batch: it counts once what it has played, not at each step."""
        self._totals = None

    def log_state(self, connection: Connection) -> log.LogState:
        """Return the state of the transparency log."""
        if self._log is None:
            self._log = log.load(connection)
        return self._log

    def keep(self, totals: RunningTotals | None = None, log_state: log.LogState | None = None) -> None:
        """Keep what a transaction changed; dropped again if it fails."""
        self._totals = totals or self._totals
        self._log = log_state or self._log

    def _forget(self) -> None:
        """Drop what is kept in the process: it may be ahead of what is stored. It is read again next time."""
        self._totals = None
        self._log = None
        self._derived.clear()
        for game in self.games:
            game.forget()

    def _cached(self, name: str, key: object, make: Callable[[], Value]) -> Value:
        """Return what is read of the record; inside a batch it is read each time, since the totals lag behind."""
        if self.in_batch:
            self._derived.drop(name)
        return self._derived.get(name, key, make)

    def is_empty(self) -> bool:
        """Return whether nothing was ever played."""
        with self.reading() as connection:
            return all(
                connection.execute(select(table.c.id).limit(1)).scalar() is None for table in (t.rounds, t.ticks)
            )

    def meta(self, key: str) -> str | None:
        """Return a noted value."""
        with self.reading() as connection:
            return get_meta(connection, key)

    def set_meta(self, key: str, value: str) -> None:
        """Note a value."""
        with self.writing() as connection:
            put_meta(connection, key, value)

    def brain_state(self) -> bytes | None:
        """Return the brain's state as of the last tick played."""
        with self.reading() as connection:
            state: bytes | None = connection.execute(select(t.brain_state.c.state)).scalar()
        return state

    def epoch(self) -> int:
        """Return the highest epoch that ever wrote here, 0 before the first."""
        with self.reading() as connection:
            return int(get_meta(connection, t.FENCE_KEY) or 0)

    def view(self, now_ms: int) -> ArenaView:
        """Return the Arena at a time, as stored."""
        with self.reading() as connection:
            return self.view_in(connection, now_ms)

    def view_in(self, connection: Connection, now_ms: int) -> ArenaView:
        """Return it within a transaction."""
        totals = self.totals(connection)
        active = rounds.active_rounds(connection)
        live = next((shown_at(item, now_ms) for item in active if item.phase is RoundPhase.LIVE), None)
        taking = next((item for item in active if item.phase is RoundPhase.OPEN), None)
        real = ballots.real_tally(connection, live) if live else Tally()
        simulated = ballots.locked_tally(connection, live.round_id, simulated=True) if live else Tally()
        counted, refused = ballots.ballot_counts(connection)
        of_games: dict[str, Any] = {}
        for game in self.games:
            of_games |= game.view(connection)

        return ArenaView(
            live=live,
            live_tally=real.plus(simulated),
            live_simulated_tally=simulated,
            open=taking,
            lessons=rounds.newest_lessons(connection, LESSONS_SHOWN),
            events=rounds.newest_events(connection, EVENTS_SHOWN),
            teacher=totals.live.lessons.metrics(totals.backtest.lessons.total),
            arena_record=totals.arena_record(),
            hourly_record=totals.hourly_record(),
            backtest=self._cached("backtest", totals.backtest, totals.backtest_scores),
            how_far=self._cached("how far", totals.live.ranges, totals.live.ranges.scores),
            week_of_ranges=self._cached(
                "week",
                (now_ms // HOUR_MS, totals.live.ranges, totals.backtest.ranges),
                lambda: hours.week_of_ranges(connection, now_ms),
            ),
            joint=self._cached(
                "joint", (now_ms // HOUR_MS, totals.live.ranges), lambda: joint_record(connection, now_ms)
            ),
            day_of_ranges=self._cached(
                "day of ranges",
                (now_ms // HOUR_MS, totals.live.ranges, totals.backtest.ranges),
                lambda: hours.day_of_ranges(connection, now_ms),
            ),
            rounds=totals.phases,
            rounds_warm_up=sum(totals.backtest.phases.values()),
            ballots_counted=counted,
            ballots_rejected=refused,
            void=totals.void(),
            log_size=self.log_state(connection).edge.size,
            crowd=ballots.crowd_of(connection, live.round_id) if live else None,
            patterns=totals.live.patterns.patterns(),
            crowd_record=totals.live.crowd.scores(),
            simulated_crowd_record=totals.live.simulated_crowd.scores(),
            holds=self._cached("holds", history.newest_hour_ms(connection), lambda: holds.totals(connection).record()),
            leaderboard=self._cached("leaders", totals.live.lessons.total, lambda: ballots.rank(connection)),
            **of_games,
        )

    def resolved_rounds(self, limit: int) -> list[RoundInTheRecord]:
        """Return the last finished rounds, resolved and void, newest first, as rows of `/arena/rounds.json`."""
        with self.reading() as connection:
            phases = self.totals(connection).phases
            key = (limit, phases.get(RoundPhase.RESOLVED, 0), phases.get(RoundPhase.VOID, 0))
            rows = self._cached(
                "rows", key, lambda: published_rows(connection, rounds.finished_rounds(connection, limit))
            )
        return list(rows)

    def settled_predictions(self, limit: int) -> tuple[PredictionMade, ...]:
        """Return the last hourly predictions that came due or were void, newest first."""
        with self.reading() as connection:
            totals = self.totals(connection)
            key = (limit, *((sums.resolved, sums.void) for sums in (totals.live.hourly, totals.backtest.hourly)))
            return self._cached("predictions", key, lambda: hours.settled_predictions(connection, limit))

    def earlier_voters(self, most: int, now_ms: int) -> tuple[str, ...]:
        """Return who was counted in rounds of two days, at most so many; the same object until a round or day ends."""
        midnight_ms = now_ms - now_ms % DAY_MS
        with self.reading() as connection:
            resolved = self.totals(connection).phases.get(RoundPhase.RESOLVED, 0)
            key = (most, midnight_ms, resolved)
            return self._cached("earlier", key, lambda: ballots.earlier_voters(connection, most, midnight_ms))

    def ballot_form(self, round_id: str) -> int:
        """Return the form of the ballots that a round takes."""
        with self.reading() as connection:
            return log.ballot_forms(connection, [round_id]).get(round_id, FORM)

    def tick_done(  # noqa: PLR0917
        self,
        tick_id: str,
        generation: str | None,
        at_ms: int,
        ok: bool,  # noqa: FBT001
        reason: str | None,
        published: BallotPart | None = None,
    ) -> None:
        """Note that a tick was published or failed: the one commit after a release."""
        with self.writing() as connection:
            history.store_tick(connection, tick_id, generation=generation, at_ms=at_ms, ok=ok, reason=reason)
            if published is not None:
                ballots.done(connection, published)

    def ticks(self, now_ms: int) -> TicksBlock:
        """Count the ticks of the last 24 hours."""
        with self.reading() as connection:
            return history.count_ticks(connection, now_ms)

    def last_tick(self) -> str | None:
        """Return the id of the newest tick that was published; None before the first."""
        with self.reading() as connection:
            return history.last_tick(connection)

    def last_published_ms(self) -> int:
        """Return the wall time of the last tick that was published, -1 before the first."""
        with self.reading() as connection:
            return history.last_published_ms(connection)

    def day_before(self, now_ms: int) -> tuple[str | None, float | None, float | None]:
        """Return label, confidence and risk score of about 24 hours ago (within 30 minutes)."""
        with self.reading() as connection:
            return history.day_before(connection, now_ms)

    def regime_changes(self, limit: int) -> tuple[history.RegimeChange, ...]:
        """Return the last changes of the regime's label or of the market's state, newest first."""
        with self.reading() as connection:
            return history.regime_changes(connection, limit)

    def hours(self, now_ms: int) -> tuple[Hour, ...]:
        """Return what was published first in each hour of the last month, oldest first."""
        since_ms = now_ms - history.READ_HOURS_MS
        with self.reading() as connection:
            return self._cached(
                "hours", history.newest_hour_ms(connection), lambda: history.hours(connection, since_ms, now_ms + 1)
            )

    def earned(self, now_ms: int) -> Earned:
        """Return whether the live record has earned that sides are called; it is looked at once a UTC day."""
        today = now_ms // DAY_MS
        kept = self.meta(EARNED_KEY)
        last = None if kept is None else Earned(**read_json(kept))
        if last is not None and today <= last.day:
            return last

        with self.reading() as connection:
            record = hours.lead_days(connection)
        earned = look(today, record, was_open=last is not None and last.is_open)
        self.set_meta(EARNED_KEY, json.dumps(asdict(earned)))
        return earned

    def keep_hours(self, hours: Iterable[Hour]) -> None:
        """Keep what was published first in each hour; one that is not later than all before it is left out."""
        with self.writing() as connection:
            history.store_hours(connection, hours)
            holds.count(connection)

    def exports(self) -> Exports:
        """Return a reader of whole months, for another thread."""
        return Exports(self._engine)

    def note_months(self, notes: Mapping[str, str]) -> None:
        """Note the months published for download: name -> text."""
        with self.writing() as connection:
            for name, text in notes.items():
                put_meta(connection, NOTE_PREFIX + name, text)


class TickTransaction:
    """The transaction of one tick; made by `Memory.tick`, and nothing of it is stored unless all of it is."""

    def __init__(self, memory: Memory, connection: Connection) -> None:
        self._memory = memory
        self._connection = connection

    def poll(self, inputs: PlayInputs) -> Poll:
        """Return what ballots are judged against: the rounds as they are before this tick moves them."""
        active = {item.round_id: item for item in rounds.active_rounds(self._connection)}
        forms = log.ballot_forms(self._connection, active)
        questions = {question.question_id: question for question in daily.active(self._connection)}
        return Poll(inputs.config.address, inputs.config.genesis_hash, active, inputs.now_ms, forms, questions)

    def known_txids(self, txids: frozenset[str]) -> frozenset[str]:
        """Return which transaction ids were counted before."""
        return ballots.known_txids(self._connection, txids) | daily.known_txids(self._connection, txids)

    def store_ballots(self, files: Iterable[BallotFile], judged: Judged) -> dict[str, int]:
        """Store valid ballots and answers; return how many files were newly refused, by reason."""
        ballots.store_ballots(self._connection, judged.ballots)
        daily.store_answers(self._connection, judged.answers)
        on_chain = frozenset(file.name for file in files if file.confirmed)
        return ballots.count_refusals(self._connection, judged.verdicts, on_chain)

    def load(self, inputs: PlayInputs, published_ms: int | None) -> PlayState:
        """Load what the pure rules need.

        `published_ms` is the wall time of the last published tick; None where nothing is published, as in a backtest.
        """
        return PlayState(
            games={game.kind: game.load(self._connection, inputs) for game in self._memory.games},
            last_regime=history.last_regime(self._connection),
            last_state=history.last_state(self._connection),
            published_ms=published_ms,
        )

    def store(self, result: PlayResult, inputs: PlayInputs, brain_state: bytes | None) -> None:
        """Store what changed, and log what no backtest played."""
        connection = self._connection
        memory = self._memory
        now_ms = inputs.now_ms
        totals = None if inputs.warm_up and memory.in_batch else self._counted(result)

        for game in memory.games:
            game.store(connection, result.games[game.kind], in_batch=memory.in_batch)
        rounds.store_events(connection, result.events)

        if totals is None:
            memory.count_at_the_end()
        else:
            self._keep(totals)
        if not inputs.warm_up:
            self._log(result, now_ms)

        if inputs.regime is not None:
            history.store_regime(connection, now_ms, inputs.regime, warm_up=inputs.warm_up)
        if brain_state is not None:
            upsert(connection, t.brain_state, {"id": 1}, {"at_ms": now_ms, "state": brain_state})

    def _log(self, result: PlayResult, now_ms: int) -> None:
        """Add to the log what changed."""
        connection = self._connection
        memory = self._memory
        state = memory.log_state(connection)
        entries: list[Entry] = []
        for game in memory.games:
            entries += game.entries(connection, result.games[game.kind], now_ms, state.salt)

        totals = memory.totals(connection)
        memory.keep(log_state=log.record_tick(connection, state, entries, totals, now_ms))

    def keep_venues(self, facts: VenueFacts) -> None:
        """Keep what venues said of books and futures, as it was first in each 5 minutes and each hour."""
        venues.store(self._connection, facts)

    def keep_bars(self, seen: BarFrame) -> None:
        """Keep the 5-minute bars that a tick saw first."""
        bars.store(self._connection, seen)

    def _counted(self, result: PlayResult) -> RunningTotals:
        """Return the running totals after a tick, before anything of it is stored: blocks are read as they were."""
        connection = self._connection
        blocks = partial(ranges_of_block, connection)
        played = result.rounds
        ended = [after.round_id for _, after in played.changes if after.outcome is not None]
        votes = ballots.locked_votes(connection, ended)
        before = self._memory.totals(connection)
        return before.after(played.changes, result.hours.changes, played.lessons, blocks, votes)

    def _keep(self, totals: RunningTotals) -> None:
        """Keep the running totals, once what they count is stored."""
        is_news = totals != self._memory.totals(self._connection)
        if is_news and not self._memory.in_batch:
            kept_totals.store(self._connection, totals)
        self._memory.keep(totals)

    def view(self, now_ms: int) -> ArenaView:
        """Return the Arena as it is after what was stored here."""
        return self._memory.view_in(self._connection, now_ms)

    def note(self, key: str, value: str) -> None:
        """Note a value."""
        put_meta(self._connection, key, value)

    def reserve_generation(self, at_least: int) -> int:
        """Return a generation number above `at_least` that was never used and never will be again.

        It is noted before anything is written under it: a leader that was stopped half way through an upload shares no
        path with the one that took over.
        """
        number = max(int(get_meta(self._connection, t.GENERATION_KEY) or 0), at_least) + 1
        put_meta(self._connection, t.GENERATION_KEY, str(number))
        return number
