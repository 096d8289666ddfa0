"""`emi verify` on a published log: what it says of an honest one, and that it names what was bent."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generator.arena.rates import in_full, rate
from generator.catalog.log_kinds import step_of
from generator.record.audit.scores import far_line, score_line
from generator.record.keys import add_key, drop_old_keys, read_keys
from generator.record.log.note import Checkpoint, Signer
from generator.record.log.tiles import Edge, leaf_hash
from generator.values.scores import BeforeCalls
from tests.arena.test_published import a_row
from tests.record.test_log import entries
from tests.support import builders
from tests.support.arena_inputs import HOUR, MINUTE, NOON, hours
from tests.support.log_records import NAME, Record, run_verify
from tests.support.published_log import publish
from tests.support.ranges import how_far

HOURS = 6


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Record(tmp_path_factory.mktemp("played"))
    made.play(hours(NOON, HOURS))
    made.publish()
    made.memory.close()
    return made.folder


@pytest.fixture
def record(played: Path, tmp_path: Path) -> Iterator[Record]:
    made = Record(Path(shutil.copytree(played, tmp_path / "record")))
    made.published.begin(NOON + HOURS * 60 * MINUTE)
    yield made
    made.memory.close()


def forge(record: Record, change: Callable[[list[dict[str, Any]]], None], key: Signer | None = None) -> None:
    """Bend the log, lay it out again and sign it again with its own key: the keeper cheats."""
    log = [json.loads(entry) for entry in entries(record)]
    change(log)
    data = [json.dumps(entry, sort_keys=True, separators=(",", ":")).encode() for entry in log]
    root = Edge().append(map(leaf_hash, data))[0].root()
    signer = key or read_keys(record.key_file)[0]
    shutil.rmtree(record.site / "log" / "tile")
    head = Checkpoint(NAME, len(data), root).signed([signer])
    tiles = {f"/log/{path}": content for path, content in publish(data).items()}
    record.write({**tiles, "/log/checkpoint": head, "/log/keys.txt": f"{signer.verifier.text}\n".encode()})


def number_of(log: list[dict[str, Any]], kind: str) -> int:
    return next(number for number, entry in enumerate(log) if step_of(entry) == kind)


def test_an_honest_log_holds_and_the_command_says_what_that_proves(record: Record) -> None:
    result = run_verify(record.site)

    assert result.exit_code == 0, result.output
    assert f"log {NAME} (simulated market)" in result.output
    assert "the first visit" in result.output
    assert f"{HOURS - 1} rounds ended" in result.output
    assert "It does not prove" in result.output


def test_of_fewer_than_thirty_cases_the_command_prints_the_counts(record: Record) -> None:
    result = run_verify(record.site)

    assert re.search(
        r"brain, rounds in the log: (\d of \d calls right|no call), \d forecasts without a call, Brier 0\.\d",
        result.output,
    )
    assert "hit rate" not in result.output


def test_from_thirty_cases_on_the_share_comes_with_n_and_interval() -> None:
    score, far = score_line("brain", builders.record("arena", 40)), far_line(how_far()[0])

    assert re.match(
        r"brain: [\d.]+% of 40 \(95% interval [\d.]+ to [\d.]+%\) calls right, 0 forecasts without a call, ", score
    )
    assert re.search(r": [\d.]+% of \d+ \(95% interval [\d.]+ to [\d.]+%\) inside the 50% range, ", far)


def test_the_line_of_a_record_says_calls_and_both_scores_as_far_as_there_are_any() -> None:
    record = builders.record("arena", 40)
    moved = replace(record, no_calls=3, move=replace(record.move, brier=0.21, base_rate_brier=0.23))
    calls = f"{in_full(record.hit)} calls right"
    scores = "Brier 0.661234 (base rate 0.6623, even chances 0.6667)"

    assert score_line("brain", record) == f"brain: {calls}, 0 forecasts without a call, {scores}"
    assert score_line("brain", replace(record, hit=rate(0, 0))).startswith("brain: no call, 0 forecasts")
    words = BeforeCalls(hit=rate(50, 60), by_word={}, chance=rate(20, 60), last_ms=0)
    before = replace(moved, before_calls=words)
    assert ", Brier" in score_line("it", before)
    assert f", {in_full(rate(50, 60))} words right from before calls existed, Brier" in score_line("it", before)
    assert score_line("it", moved) == (
        f"it: {calls}, 3 forecasts without a call, {scores}, will it move: Brier 0.21 (base rate 0.23)"
    )


def test_the_next_visit_proves_that_nothing_was_changed_since_the_first(record: Record) -> None:
    run_verify(record.site)
    record.play(hours(NOON + (HOURS + 1) * HOUR, 1))
    record.publish()

    result = run_verify(record.site)

    assert result.exit_code == 0, result.output
    assert "entries are those of the last visit" in result.output


def flip(log: list[dict[str, Any]]) -> None:
    log[number_of(log, "round.judged")]["outcome"] = "NEUTRAL"
    log[number_of(log, "round.judged")]["end_price"] *= 1.5


def drop(log: list[dict[str, Any]]) -> None:
    del log[number_of(log, "predictions.judged")]


def swap(log: list[dict[str, Any]]) -> None:
    place = number_of(log, "round.started")
    log[place], log[place + 1] = log[place + 1], log[place]


def back_date(log: list[dict[str, Any]]) -> None:
    log[-1]["at"] = log[3]["at"]


@pytest.mark.parametrize("change", [flip, drop, back_date])
def test_a_keeper_who_cheats_the_first_visitor_is_named(
    record: Record, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    forge(record, change)

    result = run_verify(record.site)

    assert result.exit_code == 1
    assert "emi: entry " in result.output or "emi: the predictions of" in result.output


@pytest.mark.parametrize("change", [flip, drop, swap, back_date, list.pop])
def test_a_keeper_who_changes_what_was_seen_is_named(
    record: Record, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    assert run_verify(record.site).exit_code == 0
    forge(record, change)

    result = run_verify(record.site)

    assert result.exit_code == 1
    assert "signed before" in result.output or "entries were removed" in result.output or "emi: entry" in result.output


def test_another_key_is_named_to_who_was_here_before(record: Record) -> None:
    assert run_verify(record.site).exit_code == 0
    forge(record, lambda _log: None, Signer(NAME, bytes(32)))

    result = run_verify(record.site)

    assert result.exit_code == 1
    assert "no trusted key signed" in result.output
    assert "pass it with --key" in result.output


def test_a_key_given_out_of_band_is_used(record: Record) -> None:
    key = read_keys(record.key_file)[0].verifier

    assert run_verify(record.site, "--key", key.text).exit_code == 0
    assert run_verify(record.site, "--key", Signer(NAME, bytes(32)).verifier.text).exit_code == 1


def test_a_rotated_key_is_learned_while_the_old_one_still_signs(record: Record) -> None:
    assert run_verify(record.site).exit_code == 0
    for change, minutes in ((add_key, 10), (drop_old_keys, 20)):
        change(record.key_file)
        record.restart()
        record.play([NOON + (HOURS * 60 + minutes) * MINUTE])
        record.publish()

        assert run_verify(record.site).exit_code == 0


def republish(record: Record, rows: list[dict[str, Any]]) -> None:
    record.write({"/arena/rounds.json": json.dumps({"rounds": rows}).encode()})


def test_losses_that_are_left_out_of_the_published_rounds_are_missed(record: Record) -> None:
    rows: list[Any] = record.memory.resolved_rounds(500)
    republish(record, rows[:2] + rows[3:])

    assert (
        f"round {rows[2]['round_id']} ended {rows[2]['phase']} in the log and is not published"
        in run_verify(record.site).output
    )
    republish(record, [])
    assert "is not published" in run_verify(record.site).output


def test_a_log_that_went_away_is_named(record: Record) -> None:
    assert run_verify(record.site).exit_code == 0
    (record.site / "log" / "checkpoint").unlink()

    result = run_verify(record.site)

    assert result.exit_code == 1
    assert "it had one on the last visit" in result.output


def test_a_damaged_note_of_the_last_visit_is_never_thrown_away_silently(record: Record) -> None:
    run_verify(record.site)
    file = next((record.folder / "seen").iterdir())
    file.write_text("{}")

    result = run_verify(record.site)

    assert result.exit_code == 1
    assert "remove it to start over" in str(result.exception)
    assert file.read_text() == "{}"


@pytest.mark.parametrize("path", ["/log/checkpoint", "/log/keys.txt", "/log/tile/entries/000.p/{size}"])
@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"nonsense\n\n", b"x" * 100_000])
def test_garbage_in_any_file_is_one_line(record: Record, path: str, data: bytes) -> None:
    record.write({path.format(size=record.log_size): data})

    result = run_verify(record.site)

    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert result.output.startswith("emi: ")


def test_another_log_at_the_same_place_is_named(record: Record) -> None:
    run_verify(record.site)
    forge(record, lambda _log: None, other := Signer("other.example/log", bytes(32)))
    note = Checkpoint("other.example/log", 3, bytes(32)).signed([other])
    record.write({"/log/checkpoint": note})

    result = run_verify(record.site, "--key", other.verifier.text)

    assert result.exit_code == 1
    assert f"this is the log other.example/log; on the last visit it was {NAME}" in result.output


def test_a_site_without_a_log_proves_nothing(record: Record) -> None:
    shutil.rmtree(record.site / "log")

    result = run_verify(record.site)

    assert (result.exit_code, result.output) == (1, "emi: this site publishes no transparency log\n")


@pytest.mark.parametrize("body", [None, {}, {"rounds": [1]}])
def test_rounds_of_another_form_are_one_line(record: Record, body: object) -> None:
    record.write({"/arena/rounds.json": json.dumps(body).encode()})

    assert "not a published record" in run_verify(record.site).output


def test_a_repeated_round_and_a_backtested_one_that_does_not_add_up_are_named(record: Record) -> None:
    rows: list[Any] = record.memory.resolved_rounds(500)
    republish(record, [rows[0], *rows])
    assert "a round is published twice" in run_verify(record.site).output

    early = {**a_row(NOON - 3 * HOUR), "warm_up": True, "outcome": "NEUTRAL"}
    republish(record, [*rows, early])
    assert f"round {early['round_id']}: outcome is" in run_verify(record.site).output
