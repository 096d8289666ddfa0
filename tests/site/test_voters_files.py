"""What each voter said, as files: by month and prefix, bounded in a flood, once for a month that is over."""

import json
from datetime import UTC, datetime
from pathlib import Path

from gateway.wire.notes import Chances
from generator.arena.daily import score
from generator.catalog.discovery import is_voters_file
from generator.catalog.words import Prediction, SourceMode
from generator.record.memory.exports import VoterRow
from generator.release.variants import Variants
from generator.site.files.downloads import downloads
from generator.site.files.voters import MOST_ROWS, running_voters
from tests.record.test_daily import ASKED, MEASURED, NAME, NARROW, answer
from tests.support.arena_inputs import HOUR, MINUTE, Vote, ms
from tests.support.log_records import Record

ROUND = "ETH-20261124-150000"


def rows(voter: str, number: int) -> list[VoterRow]:
    return [VoterRow(voter, f"BTC-{at}", "BULLISH", "BEARISH", None, 0.6, 0.7) for at in range(number)]


def played(folder: Path) -> Record:
    """Play two days: three votes in one round, an answer to one question."""
    made = Record(folder)
    made.usual_day = 0.012
    at = ASKED + 2 * HOUR
    votes = [Vote(ROUND, Prediction.BULLISH, by=0, at_ms=at - MINUTE)]
    votes += [Vote(ROUND, by=1, at_ms=at - MINUTE, chances=Chances(20, 20, 60))]
    made.play([*range(ASKED, MEASURED + HOUR, HOUR)], {at: [*(vote.file() for vote in votes), answer(NARROW, 0, at)]})
    return made


def test_a_row_holds_what_was_said_what_came_and_three_scores(tmp_path: Path) -> None:
    record = played(tmp_path)
    [question] = [one for one in record.memory.view(0).daily if one.question_id == NAME]
    found = {(row.subject, row.said): row for row in record.memory.exports().voters(ASKED, MEASURED)}
    record.memory.close()

    assert question.move is not None
    compared = [score(ends, question.move) for ends in question.compared]
    of_day = found[NAME, NARROW]
    assert (of_day.came, of_day.score) == (question.move, score(NARROW, question.move))
    assert (of_day.usual, of_day.brain) == (compared[1], compared[0])
    chances, word = (found[ROUND, said] for said in ((20, 20, 60), "BULLISH"))
    assert (word.said, word.score) == ("BULLISH", None)
    side = {"BULLISH": 0, "NEUTRAL": 1, "BEARISH": 2}[str(chances.came)]
    brier = sum((chance - (place == side)) ** 2 for place, chance in enumerate((0.2, 0.2, 0.6)))
    assert abs((chances.score or 0) - brier) < 1e-9


def test_files_of_the_running_month_are_named_by_prefix_and_listed() -> None:
    files = running_voters([*rows("ABX", 2), *rows("ABC", 1), *rows("QZ2", 1)], "2026-11", "live", ())
    listed = json.loads(files["/arena/voters.json"])

    assert listed["files"] == ["AB", "QZ"]
    assert listed["voters"] == 3
    assert list(json.loads(files["/arena/voters/AB.json"])["voters"]) == ["ABC", "ABX"]
    assert all(is_voters_file(path) for path in files if path != "/arena/voters.json")
    assert not is_voters_file("/arena/voters/a1.json")


def test_of_a_flood_of_addresses_those_of_most_rows_are_in_the_file() -> None:
    files = running_voters([*rows("ABX", MOST_ROWS - 1), *rows("ABC", 1), *rows("ABD", 1)], "2026-11", "live", ())
    file = json.loads(files["/arena/voters/AB.json"])

    assert (list(file["voters"]), file["left_out"]) == (["ABC", "ABX"], 1)


def test_a_month_that_is_over_is_written_once_and_listed_by_its_digests(tmp_path: Path) -> None:
    record = played(tmp_path)
    record.play([ms("2026-12-01T01:00") + hour * HOUR for hour in range(40)])
    at = datetime(2026, 12, 3, tzinfo=UTC)
    made = downloads(record.memory.exports(), SourceMode.LIVE, at)
    record.memory.note_months(made.notes)
    after = downloads(record.memory.exports(), SourceMode.LIVE, at)
    record.memory.close()

    once = {path for path in made.once if path.startswith("/files/voters/2026-11/")}
    [index] = [path for path in once if "voters-2026-11-" in path]
    listed = json.loads(made.once[index])["files"]
    assert once - {index} == {f"/files/voters/2026-11/{prefix}.json" for prefix in listed}
    running = json.loads(after.files["/arena/voters.json"])
    assert running["files"] == []
    assert running["months"] == [{"month": "2026-11", "list": index}]
    assert not any(path.startswith("/files/voters/") for path in after.once)


def test_what_the_background_packed_is_not_packed_again_by_a_tick() -> None:
    files = {"/arena/voters/AB.json": b"x" * 5_000, "/arena/voters/AB.json.gz": b"packed", "/a.json": b"y" * 5_000}

    assert set(Variants().add(files)) == {*files, "/a.json.gz", "/a.json.br"}
