"""The memory: one transaction per tick, and everything that is asked of the record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Engine, select

from generator.arena.ballots import Poll, judge
from generator.arena.life import shown_at
from generator.arena.play import PlayInputs, play
from generator.arena.teacher import Standing
from generator.arena.values import ArenaView, BallotVerdict, Leaderboard, PredictionMade, Round, Tally
from generator.catalog.words import RoundPhase
from generator.lease import Fence, one_writer
from generator.record.audit.recount import Sheet
from generator.record.log.tiles import Tile, tiles_between
from generator.record.memory import counted, fencing, history, log, record, voters
from generator.record.memory import tables as t
from generator.record.memory.database import name_of, open_database, translated, use_wal
from generator.record.memory.exports import NOTE_PREFIX, Exports, published_rows

LESSONS_SHOWN = 20
EVENTS_SHOWN = 10


class Memory:
    """What survives a restart. One process writes it; its methods are not called from two threads at once.

    Every method that writes raises LeadershipLost, and leaves the record as it is, when `fence` does or when a writer
    of a higher epoch was here.
    """

    def __init__(self, engine: Engine, fence: Fence = one_writer) -> None:
        self._engine = engine
        self._fence = fence
        self._name = name_of(engine.url)
        self._outer: Connection | None = None  # inside `batch`
        self._standing: Standing | None = None  # of what is committed, or of the open batch
        self._rows: tuple[tuple[int, int, int], list[dict[str, Any]]] | None = None
        self._due: tuple[tuple[int, int, int], tuple[PredictionMade, ...]] | None = None
        self._log: log.LogState | None = None
        self._leaders: tuple[int, Leaderboard] | None = None

    @classmethod
    def open(cls, url: str, fence: Fence = one_writer) -> Memory:
        """Open or make a memory.

        Args:
            url: SQLAlchemy URL, e.g. `sqlite:///emi-state/memory.sqlite3`.
            fence: asked in every writing transaction.

        Raises:
            MemoryUnreadable: it cannot be opened, is corrupt, foreign or of another schema; nothing was changed.
        """
        engine = open_database(url)
        use_wal(engine)
        memory = cls(engine, fence)
        try:
            memory.is_empty()
        except BaseException:
            engine.dispose()
            raise
        return memory

    def close(self) -> None:
        """Release the database."""
        self._engine.dispose()

    def is_empty(self) -> bool:
        """Return whether nothing was ever played."""
        with self._transaction() as connection:
            played = connection.execute(select(t.rounds.c.id).limit(1)).scalar()
            ticked = connection.execute(select(t.ticks.c.id).limit(1)).scalar()
        return played is None and ticked is None

    def meta(self, key: str) -> str | None:
        """Return a noted value."""
        with self._transaction() as connection:
            return record.get_meta(connection, key)

    def set_meta(self, key: str, value: str) -> None:
        """Note a value.

        Raises:
            ValueError: the key is the schema's own, or the fence's.
        """
        if key in {t.SCHEMA_KEY, fencing.FENCE_KEY, fencing.GENERATION_KEY}:
            raise ValueError(f"{key} is not to be set")
        with self._writing() as connection:
            record.put_meta(connection, key, value)

    def brain_state(self) -> bytes | None:
        """Return the brain's state as of the last tick played."""
        with self._transaction() as connection:
            found: bytes | None = connection.execute(select(t.brain_state.c.state)).scalar()
        return found

    def epoch(self) -> int:
        """Return the highest epoch that ever wrote here, 0 before the first."""
        with self._transaction() as connection:
            return fencing.stored_epoch(connection)

    def claim(self) -> None:
        """Store the epoch held, and forget what was read before: another leader may have written since.

        It waits for the transaction that the last leader is in; from its end on that one writes nothing more, so what
        is read after this is final.

        Raises:
            LeadershipLost: a writer of a higher epoch was here.
            MemoryUnreadable: the database failed, or the last leader's transaction did not end.
        """
        self._forget()
        with self._writing():
            pass

    def reserve_generation(self, at_least: int) -> int:
        """Return the next number of a generation: higher than `at_least`, and than every one reserved before."""
        with self._writing() as connection:
            return fencing.reserve(connection, at_least)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Make many ticks one transaction: all of them are stored, or none."""
        with self._writing() as connection:
            self._outer = connection
            try:
                yield
            except BaseException:
                self._forget()
                raise
            finally:
                self._outer = None

    def play(self, inputs: PlayInputs) -> ArenaView:
        """Play one tick: count ballots, move rounds and predictions, store all of it with the brain's state.

        A failure anywhere leaves the memory as it was. The same tick again is harmless.

        Raises:
            MemoryUnreadable: the database failed.
        """
        try:
            with self._transaction() as connection:
                self._standing_now(connection)  # counting years of record takes longer than a write may idle
            with self._writing() as connection:
                return self._play(connection, inputs)
        except BaseException:
            self._forget()
            raise

    def _forget(self) -> None:
        """Drop what was kept in the process: it may be ahead of what is stored. It is read again next time."""
        self._standing, self._rows, self._due = None, None, None
        self._log, self._leaders = None, None

    def _play(self, connection: Connection, inputs: PlayInputs) -> ArenaView:
        active = record.active_rounds(connection)
        verdicts, refused = self._count_ballots(connection, inputs, active)
        before = history.last_regime(connection)
        result = play(record.load_state(connection, active, inputs, before), inputs)
        standing = self._standing_now(connection)
        record.store_result(connection, result)
        voters.store(connection, result)
        counted.store(connection, result, inputs.now_ms)
        if inputs.regime is not None:
            history.store_regime(connection, inputs.now_ms, inputs.regime, before, warm_up=inputs.warm_up)
        if inputs.brain_state is not None:
            values = {"at_ms": inputs.now_ms, "state": inputs.brain_state}
            record.upsert(connection, t.brain_state, {"id": 1}, values)
        again = record.recount(connection, result)
        self._standing = again or standing.after(result.rounds, result.predictions, result.lessons)
        if not inputs.warm_up:
            self._log = log.record_tick(connection, self._log_now(connection), result, self._standing, inputs.now_ms)
        return replace(self._view(connection, inputs.now_ms), verdicts=verdicts, refused=refused)

    def _count_ballots(
        self, connection: Connection, inputs: PlayInputs, active: tuple[Round, ...]
    ) -> tuple[tuple[BallotVerdict, ...], dict[str, int]]:
        if not inputs.ballots:
            return (), {}
        rounds = {item.round_id: item for item in active}
        poll = Poll(inputs.config.address, inputs.config.genesis_hash, rounds, inputs.now_ms)
        verdicts, ballots = judge(inputs.ballots, poll, lambda txids: record.known_txids(connection, txids))
        record.store_ballots(connection, ballots)
        counted.keep(connection, ballots)
        on_chain = frozenset(file.name for file in inputs.ballots if file.confirmed)
        return verdicts, record.count_refusals(connection, verdicts, on_chain)

    def view(self, now_ms: int) -> ArenaView:
        """Return the Arena as it stands."""
        with self._transaction() as connection:
            return self._view(connection, now_ms)

    def _view(self, connection: Connection, now_ms: int) -> ArenaView:
        standing = self._standing_now(connection)
        active = record.active_rounds(connection)
        live = next((shown_at(item, now_ms) for item in active if item.phase is RoundPhase.LIVE), None)
        taking = next((item for item in active if item.phase is RoundPhase.OPEN), None)
        real = record.real_tally(connection, live) if live else Tally()
        simulated = record.locked_tally(connection, live.round_id, simulated=True) if live else Tally()
        counted, refused = record.ballot_counts(connection)
        return ArenaView(
            live=live,
            live_tally=real.plus(simulated),
            live_simulated_tally=simulated,
            open=taking,
            lessons=record.newest_lessons(connection, LESSONS_SHOWN),
            events=record.newest_events(connection, EVENTS_SHOWN),
            teacher=standing.lessons.metrics(),
            arena_record=standing.arena_record(),
            hourly_record=standing.hourly_record(),
            lived=standing.lessons_lived.metrics(),
            rehearsal=standing.rehearsal(),
            rounds=dict(standing.phases),
            rounds_warm_up=standing.rounds_warm_up,
            ballots_counted=counted,
            ballots_rejected=refused,
            void_rate_percent=standing.void_rate_percent,
            log_size=self._log_now(connection).edge.size,
            crowd=voters.crowd_of(connection, live.round_id) if live else None,
            patterns=standing.patterns.patterns(),
            leaderboard=self._leaders_now(connection, standing.lessons.total),
        )

    def begin_log(self, now_ms: int, origin: str, source_mode: str, key: str, secret: str) -> None:
        """Write the first entry of the transparency log; from then on every tick adds to it.

        Args:
            now_ms: wall time.
            origin: the log's name.
            source_mode: what market it is of.
            key: the public key that signs it.
            secret: the salts of what is sealed are made of it.

        Raises:
            ValueError: it was begun before.
        """
        with self._writing() as connection:
            begun = log.begin(connection, now_ms, origin, source_mode, key, secret)
        self._log = begun  # only now: what was not committed is not the log's state

    def note_log_key(self, now_ms: int, key: str) -> None:
        """Write into the log that another key signs it from now on."""
        with self._writing() as connection:
            noted = log.note_key(connection, self._log_now(connection), now_ms, key)
        self._log = noted

    def log_head(self) -> tuple[int, bytes]:
        """Return the log's size and root."""
        with self._transaction() as connection:
            edge = self._log_now(connection).edge
        return edge.size, edge.root()

    def log_keys(self) -> tuple[str, list[str]]:
        """Return the log's origin and every key that was ever noted in it, oldest first; empty before its begin."""
        with self._transaction() as connection:
            return log.keys(connection)

    def log_tile(self, path: str) -> bytes:
        """Return one tile of the log by its path below the prefix.

        Raises:
            ValueError: it is not a tile's path, or the log does not reach that far.
        """
        with self._transaction() as connection:
            return log.content(connection, Tile.parse(path))

    def log_tiles(self, old: int, new: int) -> dict[str, bytes]:
        """Return path below the log's prefix -> bytes of every tile that a log of `new` entries has beyond `old`."""
        with self._transaction() as connection:
            return {tile.path: log.content(connection, tile) for tile in tiles_between(old, new)}

    def ballots_due(self, size: int) -> Sheet | None:
        """Return the next part of a locked round's ballots that is to be published, None when all are.

        Args:
            size: ballots a part holds at most; the same for all parts of a round.
        """
        with self._transaction() as connection:
            return counted.due(connection, size)

    def ballots_put(self, sheet: Sheet) -> None:
        """Note that a part is published."""
        with self._writing() as connection:
            counted.done(connection, sheet)

    def ballots_again(self) -> None:
        """Line up again all ballots that are still kept: what was published of them is lost."""
        with self._writing() as connection:
            counted.put_again(connection)

    def tick_done(  # noqa: PLR0917  the agreed signature
        self,
        tick_id: str,
        generation: str | None,
        at_ms: int,
        ok: bool,  # noqa: FBT001  the agreed signature
        reason: str | None,
        warm_up: bool = False,  # noqa: FBT001, FBT002
    ) -> None:
        """Log that a tick was published or failed."""
        with self._writing() as connection:
            history.store_tick(connection, tick_id, generation, at_ms, reason, ok=ok, warm_up=warm_up)

    def ticks(self, now_ms: int) -> history.TickCounts:
        """Count the ticks of the last 24 hours."""
        with self._transaction() as connection:
            return history.count_ticks(connection, now_ms)

    def last_published_ms(self) -> int:
        """Return the wall time of the last tick that was published, -1 before the first."""
        with self._transaction() as connection:
            return history.last_published_ms(connection)

    def day_before(self, now_ms: int) -> tuple[str | None, float | None, float | None]:
        """Return label, confidence and risk score of about 24 hours ago (within 30 minutes)."""
        with self._transaction() as connection:
            return history.day_before(connection, now_ms)

    def regime_changes(self, limit: int) -> tuple[history.RegimeChange, ...]:
        """Return the last changes of the regime's label, newest first."""
        with self._transaction() as connection:
            return history.regime_changes(connection, limit)

    def exports(self) -> Exports:
        """Return a reader of whole months, for another thread."""
        return Exports(self._engine)

    def note_months(self, notes: Mapping[str, str]) -> None:
        """Note of months given away: name -> text."""
        with self._writing() as connection:
            for name, text in notes.items():
                record.put_meta(connection, NOTE_PREFIX + name, text)

    def rejected_ballots(self) -> dict[str, int]:
        """Return how many ballots were refused, by reason."""
        with self._transaction() as connection:
            query = select(t.rejected.c.reason, t.rejected.c.n)
            return {row[0]: row[1] for row in connection.execute(query)}

    def resolved_rounds(self, limit: int) -> list[dict[str, Any]]:
        """Return the last finished rounds, resolved and void, newest first, as rows of `/arena/rounds.json`."""
        with self._transaction() as connection:
            phases = self._standing_now(connection).phases
            key = (limit, phases.get(RoundPhase.RESOLVED, 0), phases.get(RoundPhase.VOID, 0))
            if self._rows is None or self._rows[0] != key or self._outer is not None:
                self._rows = (key, published_rows(connection, record.finished_rounds(connection, limit)))
            return list(self._rows[1])

    def _leaders_now(self, connection: Connection, lessons: int) -> Leaderboard:
        """Rank the voters again only when a round has resolved."""
        if self._leaders is None or self._leaders[0] != lessons:
            self._leaders = (lessons, voters.best(connection))
        return self._leaders[1]

    def _log_now(self, connection: Connection) -> log.LogState:
        if self._log is None:
            self._log = log.load(connection)
        return self._log

    def settled_predictions(self, limit: int) -> tuple[PredictionMade, ...]:
        """Return the last hourly predictions that came due or were void, newest first."""
        with self._transaction() as connection:
            counted = self._standing_now(connection).hourly
            key = (limit, counted.resolved, counted.void)
            if self._due is None or self._due[0] != key or self._outer is not None:
                self._due = (key, record.settled_predictions(connection, limit))
            return self._due[1]

    def _standing_now(self, connection: Connection) -> Standing:
        if self._standing is None:
            self._standing = record.count_all(connection)
        return self._standing

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """One transaction that passes the fence at its begin, where the epoch is stored, and right before its end."""
        inside = self._outer is not None
        with self._transaction() as connection:
            if not inside:
                fencing.pass_fence(connection, self._fence())
            yield connection
            if not inside:
                self._fence()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """One transaction; inside a batch, a savepoint of it."""
        with translated(self._name):
            if self._outer is None:
                with self._engine.begin() as connection:
                    yield connection
            else:
                with self._outer.begin_nested():
                    yield self._outer
