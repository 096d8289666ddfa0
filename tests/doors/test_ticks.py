"""No ballot costs a release: a fault in it is a refusal, and one with which two ticks failed is quarantined."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from structlog.testing import capture_logs

from generator.arena.ballots import BallotFile
from generator.cli.doctor import check_inbox
from generator.record.inbox.box import BallotBox
from generator.record.inbox.folder import Inbox
from generator.runtime.tick import tick
from tests.doors.poison import key_of_bytes
from tests.doors.ticks import ROUND, play
from tests.support.arena_inputs import Vote
from tests.support.clock import ManualClock
from tests.support.services import MINUTE, opened, run


class NoTime:
    """A source whose ballots arrived at no time: the judge cannot sort them, whichever of them is at fault."""

    def __init__(self) -> None:
        self.files = (BallotFile("no time", b"", None), BallotFile("a time", b"", 1))  # type: ignore[arg-type]
        self.quarantined: list[str] = []
        self.acknowledged = 0

    async def receive(self, lock_ms: int | None) -> tuple[BallotFile, ...]:
        return tuple(file for file in self.files if file.name not in self.quarantined)

    def acknowledge(self) -> None:
        self.acknowledged += 1

    def requeue(self) -> None:
        pass

    def quarantine(self, files: Sequence[BallotFile]) -> None:
        self.quarantined += [file.name for file in files]


class Broken(NoTime):
    async def receive(self, lock_ms: int | None) -> tuple[BallotFile, ...]:
        raise RuntimeError("no one foresaw this")


def test_every_tick_publishes_with_a_poisoned_inbox_and_a_hostile_indexer(tmp_path: Path) -> None:
    with capture_logs():
        outcomes, refused, quarantined = asyncio.run(play(tmp_path, 3, seed=7))

    assert outcomes == {"published": 3}
    assert quarantined == 0
    assert sum(refused.values()) > 300


def test_ballots_with_which_two_ticks_failed_are_quarantined_and_releases_appear(tmp_path: Path) -> None:
    generations: list[Any] = []
    quarantined: list[int] = []
    source = NoTime()

    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            app.record.box = BallotBox([source])
            for _ in range(4):
                generations.append((await tick(app, clock.step(MINUTE))).generation)
                quarantined.append(app.record.box.quarantined)

    with capture_logs() as logs:
        run(work)

    assert len(set(generations)) == 4
    assert quarantined == [0, 2, 2, 2]
    assert set(source.quarantined) == {"no time", "a time"}
    assert [line["event"] for line in logs if line["log_level"] == "error"] == [
        "the tick failed with the ballots, and not without them",
        "the tick failed with the ballots, and not without them",
        "ballots quarantined: two ticks failed with them",
    ]


def test_a_source_that_raises_costs_its_own_ballots_alone(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    (tmp_path / "good").write_bytes(Vote(ROUND).file().data)

    with capture_logs() as logs:
        files = asyncio.run(BallotBox([Broken(), inbox]).collect(None))

    assert [file.name for file in files] == ["good"]
    assert [line["event"] for line in logs] == ["a source of ballots failed"]


def test_what_is_quarantined_lies_in_a_folder_that_the_doctor_names(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    for name in ("one\n", "two"):
        (tmp_path / name).write_bytes(key_of_bytes(ROUND))
    assert check_inbox(tmp_path) == []

    inbox.quarantine(inbox.files())

    assert inbox.files() == ()
    assert sorted(path.name for path in (tmp_path / "rejected").iterdir()) == ["one\n", "two"]
    (check,) = check_inbox(tmp_path)
    assert check.good is False
    assert check.found.endswith("for two ticks failed with them: one\\n, two")


def test_nothing_is_moved_through_a_link_that_another_user_made(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "inbox")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    inbox.folder.mkdir()
    (inbox.folder / "rejected").symlink_to(elsewhere)
    (inbox.folder / "bad").write_bytes(b"x")

    inbox.quarantine([BallotFile("bad", b"x", 1)])

    assert list(elsewhere.iterdir()) == []
    assert not (inbox.folder / "bad").exists()
