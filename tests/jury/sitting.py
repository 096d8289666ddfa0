"""One sitting: the service that all judges look at, and who they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.jury import agents, payers, readers
from tests.jury.court import Court, Judge
from tests.support import local_servers
from tests.support.arena_inputs import NOON, hours
from tests.support.log_records import Record
from tests.support.processes import emi_up

JUDGES: Final[tuple[Judge, ...]] = (*agents.JUDGES, *payers.JUDGES, *readers.JUDGES)


@contextmanager
def court(folder: Path) -> Iterator[Court]:
    """Start a service with the test network's ids, and serve a record with a log."""
    record = Record(folder / "record")
    record.play(hours(NOON, 3))
    record.publish()

    def answer(path: str, _body: bytes | None) -> tuple[int, bytes]:
        content = record.site_read(path)
        return (404, b"") if content is None else (200, content)

    with local_servers.answering(answer) as served, emi_up(folder / "service", "--as", "testnet") as up:
        up.wait_answer()
        host, _, port = up.origin.rpartition(":")
        yield Court(up.origin, f"{host}:{int(port) + 1}", served, folder)
