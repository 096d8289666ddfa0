"""A record played in a small world and published as a folder, for tests of the log and of `emi verify`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from generator.arena.ballots import BallotFile
from generator.errors import LeadershipLost
from generator.record.logbook import Logbook
from generator.record.memory.store import Memory
from generator.record.polls import Polls
from tests.support.arena_inputs import CONFIG, inputs_at
from tests.support.databases import url_in

NAME = "example.org/log"
NO_BALLOTS: Final[Mapping[int, Sequence[BallotFile]]] = MappingProxyType({})
CROWDED = replace(CONFIG, assets=("BTC", "ETH"), simulated_crowd=True)


class Record:
    """A memory, its log and the folder that it is published in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = folder / "site"
        self.key_file = folder / "keys" / "log.key"
        self.questions_left: int | None = None
        self.open()

    def fence(self) -> int:
        if self.questions_left == 0:
            raise LeadershipLost("told to fall")
        if self.questions_left is not None:
            self.questions_left -= 1
        return 0

    def open(self) -> None:
        self.memory = Memory.open(url_in(self.folder), self.fence)
        self.logbook = self.new_logbook()
        self.polls = Polls(self.memory, again=not (self.site / "log" / "checkpoint").exists())

    def new_logbook(self) -> Logbook:
        logbook = Logbook(self.memory, self.key_file, NAME, "simulated", made_if_missing=True)
        head = self.site / "log" / "checkpoint"
        logbook.resume(head.read_bytes() if head.exists() else None)
        return logbook

    def restart(self) -> None:
        self.memory.close()
        self.open()

    def play(self, times: Iterable[int], ballots: Mapping[int, Sequence[BallotFile]] = NO_BALLOTS) -> None:
        for now in times:
            self.logbook.begin(now)
            self.memory.play(inputs_at(now, config=CROWDED, ballots=ballots.get(now, ())))

    def publish(self) -> int:
        """Write what a release and the put-once folder would hold; return how many tiles were new."""
        files, tiles = self.logbook.files(), self.logbook.tiles()
        rows = self.memory.resolved_rounds(500)
        self.write({**tiles, **files, "/arena/rounds.json": json.dumps({"rounds": rows}).encode()})
        self.logbook.done(files["/log/checkpoint"])
        while polls := self.polls.files():
            self.write(dict(polls))
            self.polls.done()
        return len(tiles)

    def write(self, files: dict[str, bytes]) -> None:
        for path, data in files.items():
            target = self.site / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)

    def read(self, path: str) -> bytes:
        return (self.site / "log" / path).read_bytes()
