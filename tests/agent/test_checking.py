"""The tool that verifies: what holds, what does not, and what it says of one round."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.client.agent.answers import MOST_BYTES, ToolError
from generator.client.agent.checking import verify
from tests.support import local_servers
from tests.support.arena_inputs import NOON, hours
from tests.support.log_records import Record


@pytest.fixture
def record(tmp_path: Path) -> Record:
    made = Record(tmp_path / "record")
    made.play(hours(NOON, 3))
    made.publish()
    return made


@pytest.fixture
def origin(record: Record) -> Iterator[str]:
    def answer(path: str, _body: bytes | None) -> tuple[int, bytes]:
        content = record.site_read(path)
        return (404, b"") if content is None else (200, content)

    with local_servers.answering(answer) as served:
        yield served


def test_a_record_that_holds_is_summed_up_and_remembered(record: Record, origin: str, tmp_path: Path) -> None:
    first = verify(origin, tmp_path / "seen", None)
    again = verify(origin, tmp_path / "seen", None)

    assert (first.log, first.entries, first.round) == ("example.org/log", record.log_size, None)
    assert "the first visit" in first.checked[0]
    assert f"its first {record.log_size} entries are those of the last visit" in again.checked[0]
    assert "This proves" in first.proves
    assert len(first.model_dump_json().encode()) <= MOST_BYTES


def test_a_round_is_named_with_its_end_and_whether_the_log_holds_it(
    record: Record, origin: str, tmp_path: Path
) -> None:
    ended = next(row for row in record.memory.resolved_rounds(500) if row["log_entries"])

    about = verify(origin, tmp_path / "seen", ended["round_id"]).round

    assert about is not None
    assert about.startswith(f"{ended['round_id']} ended ")
    assert about.endswith("the log holds its seal and its end, as published")
    with pytest.raises(ToolError, match="not among the finished rounds"):
        verify(origin, tmp_path / "seen", "BTC-20200101-000000")


def test_a_record_that_was_altered_does_not_hold(record: Record, origin: str, tmp_path: Path) -> None:
    body = record.site / "arena" / "rounds.json"
    content = json.loads(body.read_text())
    row = next(row for row in content["rounds"] if row["log_entries"] and row["outcome"])
    row["outcome"] = "BULLISH" if row["outcome"] != "BULLISH" else "BEARISH"
    body.write_text(json.dumps(content))

    with pytest.raises(ToolError, match="does not hold: round"):
        verify(origin, tmp_path / "seen", None)


def test_a_service_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="not verified"):
        verify("http://127.0.0.1:1", tmp_path, None)


def test_the_server_starts_without_what_verifying_and_signing_alone_need() -> None:
    found = "import sys, generator.client.agent.service; print([name for name in sys.modules if name in %r])"
    heavy = ["generator.record.verify", "numpy", "sqlalchemy", "structlog", "x402"]

    done = subprocess.run([sys.executable, "-c", found % heavy], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
