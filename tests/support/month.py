"""A month of rounds with restarts and kills at random instants equals the same month without: record, log, site.

Both months have the same prices, forecasts and ballots. In the broken one the process ends at random: before a tick,
inside its transaction (at either question of the fence: nothing is committed), after it, while a release is written,
and between a release and the note that it is out. After each restart ballots on chain are read again, as in production.
Compared are every row of every table, and every byte that is published.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from generator.arena.ballots import BallotFile
from generator.arena.timetable import Slot, asset_of, round_id_of
from generator.catalog.words import Prediction
from generator.errors import LeadershipLost
from generator.record.log.note import Signer
from tests.inbox.many_ballots import ballot
from tests.support.arena_inputs import HOUR, MINUTE, NOON
from tests.support.databases import dump, url_in
from tests.support.log_records import CROWDED, Record

VOTERS = 40
MOST_BALLOTS = 12  # a round
AGAIN_MS = 95 * MINUTE  # how far a restarted reader of the chain looks back
PUBLISH_EACH = 12  # ticks, in the month without faults


@dataclass
class Month:
    """What happens, whoever plays it.

    Args:
        days: length.
        step_minutes: between two ticks.
        seed: of ballots and faults.
    """

    days: float
    step_minutes: int
    seed: int
    faults: Counter[str] = field(default_factory=Counter)

    @property
    def times(self) -> range:
        """The ticks, UTC ms."""
        return range(NOON, NOON + int(self.days * 24 * 60) * MINUTE + 1, self.step_minutes * MINUTE)

    def ballots(self) -> dict[int, list[BallotFile]]:
        """Return the ballots by the tick that reads them first; half of them are on chain."""
        chance = random.Random(self.seed)
        found: dict[int, list[BallotFile]] = {}
        for start in range(NOON + HOUR, self.times[-1], HOUR):
            round_id = round_id_of(asset_of(Slot(start, start + HOUR), CROWDED.assets), start)
            for _ in range(chance.randrange(MOST_BALLOTS + 1)):
                at = start - chance.randrange(1, HOUR)
                word = chance.choice(tuple(Prediction))
                file = ballot(chance.randrange(VOTERS), round_id, word, at, confirmed=chance.random() < 0.5)
                read = -(-at // (self.step_minutes * MINUTE)) * self.step_minutes * MINUTE
                found.setdefault(read, []).append(file)
            found.setdefault(start + 2 * self.step_minutes * MINUTE, []).append(
                ballot(chance.randrange(VOTERS), round_id, Prediction.BULLISH, start + MINUTE, confirmed=True)  # late
            )
        return found


def straight(month: Month, folder: Path) -> Record:
    """Play the month without a fault."""
    record = begin(folder)
    ballots = month.ballots()
    for number, now in enumerate(month.times):
        record.play([now], ballots)
        if number % PUBLISH_EACH == 0:
            record.publish()
    record.publish()
    return record


def broken(month: Month, folder: Path) -> Record:
    """Play the month while the process ends at random instants."""
    record = begin(folder)
    chance = random.Random(month.seed + 1)
    ballots = month.ballots()
    fresh = False  # the process has just started: the chain is read again
    for now in month.times:
        files = [*(_again(ballots, now) if fresh else ()), *ballots.get(now, ())]
        fresh = False
        if chance.random() < 0.05:
            month.faults["restarted before a tick"] += 1
            record.restart()
        if chance.random() < 0.05:
            month.faults["killed inside the transaction"] += 1
            _killed_inside(record, now, files, chance.randrange(2))
            fresh = True
            files = [*_again(ballots, now), *ballots.get(now, ())]
        record.play([now], {now: files})
        if chance.random() < 0.05:
            month.faults["killed after the transaction"] += 1
            record.restart()
            fresh = True
        elif chance.random() < 0.3:
            fresh = _publish(record, chance, month.faults)
    record.publish()
    return record


def begin(folder: Path) -> Record:
    """Open a record with the one key that both months sign with."""
    (folder / "keys").mkdir(parents=True)
    key = folder / "keys" / "log.key"
    key.write_text(Signer("example.org/log", bytes(32)).text + "\n")
    key.chmod(0o600)
    return Record(folder)


def _again(ballots: dict[int, list[BallotFile]], now: int) -> Iterator[BallotFile]:
    for at, files in ballots.items():
        if now - AGAIN_MS <= at < now:
            yield from (file for file in files if file.confirmed)


def _killed_inside(record: Record, now: int, files: Sequence[BallotFile], question: int) -> None:
    record.published.begin(now)
    record.questions_left = question
    try:
        record.play([now], {now: files})
    except LeadershipLost:
        record.questions_left = None
        record.restart()
        return
    raise AssertionError("the transaction passed a fence that had fallen")


def _publish(record: Record, chance: random.Random, faults: Counter[str]) -> bool:
    """Publish, or die on the way; return whether the process was started again."""
    way = chance.random()
    if way < 0.7:
        record.publish()
        return False
    files = record.published.prepare()
    if way < 0.85:
        faults["killed while a release was written"] += 1
        record.write({path: data for path, data in files.immutable.items() if chance.random() < 0.5})
    else:
        faults["killed between a release and its note"] += 1
        record.write({**files.immutable, **files.in_release})
    record.restart()
    return True


def differences(one: Record, two: Record) -> list[str]:
    """Name what two months do not have in common."""
    tables = (dump(url_in(one.folder)), dump(url_in(two.folder)))
    found = [f"table {name}" for name in tables[0] if tables[0][name] != tables[1][name]]
    sites = (_site(one.site), _site(two.site))
    names = sorted(set(sites[0]) | set(sites[1]))
    # A partial tile stands for as long as the log was so wide at a release: which widths were seen is chance.
    return found + [f"file {name}" for name in names if ".p/" not in name and sites[0].get(name) != sites[1].get(name)]


def _site(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
