"""The daily question in memory, log and published files: counted once a voter, verified, refused when bent."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

from gateway.wire.daily import DailyAnswer
from generator.arena.ballots import BallotFile
from generator.arena.daily import mean_score, published_question, question_id_of, score
from generator.catalog.durations import DAY_MS
from generator.catalog.links import DAILY_JSON
from generator.catalog.log_kinds import step_of
from generator.client.ballot import sign_ballot
from generator.record.audit.daily import DailyLog
from generator.record.audit.game import AuditError, overdue
from generator.record.audit.recount import path_of
from tests.record.test_log import entries
from tests.support.arena_inputs import CONFIG, HOUR, MINUTE, ms, voter
from tests.support.databases import refused_ballots
from tests.support.log_records import Record, run_verify

NAME = "BTC-DAILY-20261124"
ASKED = ms("2026-11-24T13:00")
CLOSES = ms("2026-11-25T12:00")
MEASURED = ms("2026-11-26T13:00")
NARROW, WIDE, OTHER = (-120, -40, 35, 110), (-900, -500, 500, 900), (-300, -100, 100, 300)


def answer(ends: tuple[int, int, int, int], by: int, at_ms: int, name: str = NAME) -> BallotFile:
    low_90, low_50, high_50, high_90 = ends
    said = DailyAnswer.of(name, [low_50, high_50], [low_90, high_90])
    txid, data = sign_ballot(voter(by), said, CONFIG.address, CONFIG.genesis_hash)
    return BallotFile(f"{txid}.ballot", data, at_ms)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Record(tmp_path_factory.mktemp("played"))
    made.usual_day = 0.012
    first, then = ASKED + HOUR, ASKED + 2 * HOUR
    ballots = {
        first: [answer(NARROW, 0, first - MINUTE), answer(WIDE, 1, first - MINUTE)],
        then: [answer(OTHER, 0, then - MINUTE)],
        CLOSES: [answer(NARROW, 2, CLOSES), answer(NARROW, 3, CLOSES - MINUTE, "BTC-DAILY-20261125")],
    }
    made.play([*range(ASKED - HOUR, MEASURED + HOUR, HOUR)], ballots)
    made.publish()
    made.memory.close()
    return made.folder


@pytest.fixture
def record(played: Path, tmp_path: Path) -> Iterator[Record]:
    made = Record(Path(shutil.copytree(played, tmp_path / "record")))
    yield made
    made.memory.close()


def questions(record: Record) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(record.site_read(DAILY_JSON) or b"")["questions"]
    return found


def test_the_last_answer_of_a_voter_before_the_close_counts_and_no_other(record: Record) -> None:
    sheet = json.loads(record.site_read(path_of(NAME)) or b"")
    by_voter = {row["voter"]: tuple(row["ranges"].values()) for row in sheet["ballots"]}

    assert sheet["question_id"] == NAME
    assert sorted(by_voter.values()) == [WIDE, OTHER]
    assert refused_ballots(record.memory) == {"round is closed": 1, "no such round takes votes": 1}


def test_scores_are_those_of_the_brain_the_usual_day_and_the_mean_of_the_answers(record: Record) -> None:
    question = next(row for row in questions(record) if row["question_id"] == NAME)

    assert (question["phase"], question["answers"]) == ("resolved", 2)
    assert question["scores"]["people"] == mean_score([score(ends, question["move"]) for ends in (WIDE, OTHER)])
    assert [row["phase"] for row in questions(record)] == ["open", "live", "resolved"]


def test_the_log_of_an_honest_record_holds_with_its_answers_counted_again(record: Record) -> None:
    result = run_verify(record.site)

    assert result.exit_code == 0, result.output
    assert "daily: 3 questions, 1 with answers, 2 counted again" in result.output


def _question(change: Callable[[dict[str, Any]], object]) -> Callable[[Record], None]:
    def bend(record: Record) -> None:
        rows = questions(record)
        change(next(row for row in rows if row["question_id"] == NAME))
        record.write({DAILY_JSON: json.dumps({"questions": rows}).encode()})

    return bend


def _sheet(change: Callable[[dict[str, Any]], object]) -> Callable[[Record], None]:
    def bend(record: Record) -> None:
        sheet = json.loads(record.site_read(path_of(NAME)) or b"")
        change(sheet)
        record.write({path_of(NAME): json.dumps(sheet).encode()})

    return bend


def _left_out(record: Record) -> None:
    rows = [row for row in questions(record) if row["question_id"] != NAME]
    record.write({DAILY_JSON: json.dumps({"questions": rows}).encode()})


BENT: dict[str, Callable[[Record], None]] = {
    "a price": _question(lambda row: row.update(end_price=row["end_price"] + 1)),
    "the base": _question(lambda row: row.update(base=row["base"] + 1)),
    "a base left out": _question(lambda row: row.pop("base")),
    "an end of the close": _question(lambda row: row["closing"]["usual_day"].update(low_90=-4000)),
    "a score": _question(lambda row: row["scores"].update(brain=0.1)),
    "the mean of the answers": _question(lambda row: row["scores"].update(people=0.1)),
    "the number of answers": _question(lambda row: row.update(answers=3)),
    "a salt": _question(lambda row: row.update(salt="0")),
    "an end of the brain's ranges": _question(lambda row: row["forecast"]["brain"].update(low_50=-1)),
    "no list of questions": lambda record: record.write({DAILY_JSON: b"{}"}),
    "a question left out": _left_out,
    "no answers": lambda record: (record.site / path_of(NAME).lstrip("/")).unlink(),
    "an answer left out": _sheet(lambda sheet: sheet["ballots"].pop()),
    "a stated range": _sheet(lambda sheet: sheet["ballots"][0]["ranges"].update(low_90=-1000)),
    "a signature": _sheet(lambda sheet: sheet["ballots"][0].update(signed=sheet["ballots"][1]["signed"])),
}


@pytest.mark.parametrize("what", BENT)
def test_a_record_with_something_bent_is_refused(record: Record, what: str) -> None:
    BENT[what](record)

    result = run_verify(record.site)

    assert result.exit_code != 0
    assert "daily" in str(result.exception) or "daily" in result.output


def test_a_log_whose_question_never_ended_or_came_back_is_refused(record: Record) -> None:
    log = [json.loads(data) for data in entries(record)]
    without_end = DailyLog()
    for entry in log:
        if entry.get("question_id") == NAME and step_of(entry) in {"daily.sealed", "daily.started"}:
            without_end.readers[step_of(entry)](entry)
    asked = next(one for one in log if step_of(one) == "daily.sealed")

    assert NAME in (overdue(without_end.waiting(), "2026-11-26T16:00:00Z") or "")
    assert overdue(without_end.waiting(), "2026-11-26T14:00:00Z") is None
    with pytest.raises(AuditError, match="asked before"):
        without_end.readers["daily.sealed"](asked)


def test_a_log_in_which_the_rule_of_the_base_ends_again_is_refused(record: Record) -> None:
    asked = [entry for entry in map(json.loads, entries(record)) if step_of(entry) == "daily.sealed"]
    earlier = [{name: value for name, value in entry.items() if name != "base"} for entry in asked]
    from_now_on = DailyLog()
    and_back = DailyLog()

    for entry in (earlier[0], *asked[1:]):
        from_now_on.readers["daily.sealed"](entry)
    and_back.readers["daily.sealed"](asked[0])

    assert [row["base"] is None for row in from_now_on.rows.values()] == [True, False, False]
    with pytest.raises(AuditError, match="it has no base, and a question before it has one"):
        and_back.readers["daily.sealed"](earlier[1])


def test_a_restart_between_two_ticks_changes_nothing(tmp_path: Path) -> None:
    made = Record(tmp_path / "restarted")
    made.usual_day = 0.012
    for now in range(ASKED, CLOSES + 2 * HOUR, HOUR):
        made.play([now])
        made.restart()
    made.play([CLOSES + HOUR])

    names = [question.question_id for question in made.memory.view(0).daily]
    made.memory.close()
    assert names == ["BTC-DAILY-20261125", NAME]


def test_ranks_are_by_what_answers_saved_against_a_usual_day_of_the_close(tmp_path: Path) -> None:
    made = Record(tmp_path / "ranked")
    made.usual_day = 0.012
    made.open()
    days = [ASKED + day * DAY_MS for day in range(33)]
    ballots = {
        asked: [
            answer(NARROW, 0, asked + MINUTE, question_id_of(asked // DAY_MS)),
            *([answer(OTHER, 1, asked + MINUTE, question_id_of(asked // DAY_MS))] if number < 12 else []),
        ]
        for number, asked in enumerate(days)
    }
    times = sorted({*days, *(asked + 5 * MINUTE for asked in days), *(asked - HOUR for asked in days[1:])})
    made.play(times, {asked + 5 * MINUTE: files for asked, files in ballots.items()})
    arena = made.memory.view(0)
    ranking = arena.daily_ranking
    made.restart()
    again = made.memory.view(0).daily_ranking
    made.memory.close()

    rows: list[Any] = list(map(published_question, arena.daily))
    measured = [row for row in rows if row["phase"] == "resolved"]
    saved = [row["scores"]["usual_day"] - score(NARROW, row["move"]) for row in measured]
    error = 1.96 * stdev(saved) / len(saved) ** 0.5
    assert ranking is not None
    assert (ranking["voters"], ranking["too_early"], again) == (2, 1, ranking)
    [place] = ranking["places"]
    assert (place["answers"], place["questions"], len(measured)) == (31, 31, 31)
    assert place["saved"] == pytest.approx(mean(saved), abs=1e-4)
    assert place["high"] - place["saved"] == pytest.approx(error, rel=0.06)  # Student
    assert place["beyond_luck"] is (place["saved"] > place["luck"])
    assert place["luck"] > 0
