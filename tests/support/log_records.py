"""A record of a small Arena, published as a folder, for tests of the log and of `emi verify`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import typer
from typer.testing import CliRunner, Result

from generator.arena.ballots import BallotFile
from generator.arena.daily import published_question
from generator.catalog.links import DAILY_JSON, RANGES_JSONL, STATUS_JSON
from generator.catalog.words import SourceMode
from generator.cli.verify import verify
from generator.errors import LeadershipLost
from generator.record.audit.recount import PART
from generator.record.memory.store import Memory
from generator.record.published import STEP, PublishedRecord, RecordFiles
from generator.site.files.downloads import json_lines, ranges_row
from tests.support.arena_inputs import CONFIG, inputs_at, store_tick
from tests.support.databases import url_in

NAME = "example.org/log"
NO_BALLOTS: Final[Mapping[int, Sequence[BallotFile]]] = MappingProxyType({})
CROWDED = replace(CONFIG, assets=("BTC", "ETH"), simulated_crowd=True)


class Record:
    """A memory, its log and the folder that it is published in."""

    def __init__(self, folder: Path, part: int = PART, step: int = STEP) -> None:
        self.folder = folder
        self.part = part
        self.step = step
        self.site = folder / "site"
        self.key_file = folder / "keys" / "log.key"
        self.usual_day: float | None = None  # with one, daily questions are asked
        self.questions_left: int | None = None
        self.open()

    def fence(self) -> int:
        if self.questions_left == 0:
            raise LeadershipLost("as the test says")
        if self.questions_left is not None:
            self.questions_left -= 1
        return 0

    def open(self) -> None:
        self.memory = Memory.open(url_in(self.folder), self.fence)
        self.published = PublishedRecord(
            self.memory, self.key_file, NAME, "simulated", made_if_missing=True, part=self.part, step=self.step
        )
        head = self.site / "log" / "checkpoint"
        self.published.resume(head.read_bytes() if head.exists() else None)

    @property
    def log_size(self) -> int:
        """Entries of the log."""
        return self.memory.view(0).log_size

    def restart(self) -> None:
        self.memory.close()
        self.open()

    def play(self, times: Iterable[int], ballots: Mapping[int, Sequence[BallotFile]] = NO_BALLOTS) -> None:
        """Play ticks; several of them in one transaction."""
        first, *others = times
        self.published.begin(first)
        with self.memory.batch() if others else nullcontext():
            for now in (first, *others):
                store_tick(
                    self.memory, inputs_at(now, config=CROWDED, ballots=ballots.get(now, ()), usual_day=self.usual_day)
                )

    def publish(self) -> int:
        """Write what a release and the folder of immutable files would hold; return how many tiles were new."""
        files = self.published.prepare()
        tiles = [path for path in files.immutable if path.startswith("/log/")]
        rows = self.memory.resolved_rounds(500)
        ranges = json_lines([ranges_row(made, SourceMode.SIMULATED) for made in self.memory.settled_predictions(10**6)])
        played = json.dumps({"rounds": rows}).encode()
        asked = json.dumps({"questions": list(map(published_question, self.memory.view(0).daily))}).encode()
        shown = {"/arena/rounds.json": played, DAILY_JSON: asked, RANGES_JSONL: ranges, STATUS_JSON: b"{}"}
        self.write({**files.immutable, **files.in_release, **shown})
        self.done(files)
        while (files := self.published.prepare()).ballots is not None:
            self.write(files.immutable)
            self.done(files)
        return len(tiles)

    def done(self, files: RecordFiles) -> None:
        """Note a release; always under the same name, so that records with fewer releases can be compared."""
        self.published.done(files, "tick", "000000000001", 0)

    def write(self, files: Mapping[str, bytes]) -> None:
        for path, data in files.items():
            target = self.site / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)

    def site_read(self, path: str) -> bytes | None:
        """Return what is published at a path, as a reader gets it."""
        file = self.site / path.lstrip("/")
        return file.read_bytes() if file.is_file() else None

    def read(self, path: str) -> bytes:
        return (self.site / "log" / path).read_bytes()


def run_verify(site: Path, *more: str) -> Result:
    """Run `emi verify` on a published folder; its note of the visit lies next to it."""
    app = typer.Typer()
    app.command()(verify)
    return CliRunner().invoke(app, [str(site), "--seen", str(site.parent / "seen"), *more])
