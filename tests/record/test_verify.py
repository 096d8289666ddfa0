"""`emi verify` on a published log: what it says of an honest one, and that it names what was bent."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from generator.cli.verify import verify
from generator.record.log.edge import Edge
from generator.record.log.merkle import leaf_hash
from generator.record.log.note import Checkpoint, Signer
from generator.record.logbook import add_key, drop_old_keys, read_keys
from tests.record.test_logbook import entries
from tests.support.arena_inputs import MINUTE, NOON, ticks
from tests.support.log_records import NAME, Record
from tests.support.published_log import publish

HOURS = 6


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Record(tmp_path_factory.mktemp("played"))
    made.play(ticks(NOON, HOURS * 60, 5))
    made.publish()
    made.memory.close()
    return made.folder


@pytest.fixture
def record(played: Path, tmp_path: Path) -> Iterator[Record]:
    made = Record(Path(shutil.copytree(played, tmp_path / "record")))
    made.logbook.begin(NOON + HOURS * 60 * MINUTE)
    yield made
    made.memory.close()


def run(record: Record, *more: str) -> Result:
    app = typer.Typer()
    app.command()(verify)
    return CliRunner().invoke(app, [str(record.site), "--seen", str(record.folder / "seen"), *more])


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
    return next(number for number, entry in enumerate(log) if entry["kind"] == kind)


def test_an_honest_log_holds_and_the_command_says_what_that_proves(record: Record) -> None:
    result = run(record)

    assert result.exit_code == 0, result.output
    assert f"log {NAME} (simulated market)" in result.output
    assert "the first visit" in result.output
    assert f"{HOURS - 1} rounds ended" in result.output
    assert "It does not prove" in result.output


def test_the_next_visit_proves_that_nothing_was_changed_since_the_first(record: Record) -> None:
    run(record)
    record.play(ticks(NOON + (HOURS * 60 + 5) * MINUTE, 120, 5))
    record.publish()

    result = run(record)

    assert result.exit_code == 0, result.output
    assert "entries are those of the last visit" in result.output


def test_one_round_is_checked_alone(record: Record) -> None:
    name = record.memory.resolved_rounds(1)[0]["round_id"]

    result = run(record, "--round", name)

    assert result.exit_code == 0, result.output
    assert f"round {name}: sealed, locked and ended as published" in result.output


def test_a_round_that_is_not_published_is_named(record: Record) -> None:
    assert "round BTC-20200101-000000 is not published" in run(record, "--round", "BTC-20200101-000000").output


def flip(log: list[dict[str, Any]]) -> None:
    log[number_of(log, "round.resolved")]["outcome"] = "NEUTRAL"
    log[number_of(log, "round.resolved")]["end_price"] *= 1.5


def drop(log: list[dict[str, Any]]) -> None:
    del log[number_of(log, "predictions.judged")]


def swap(log: list[dict[str, Any]]) -> None:
    place = number_of(log, "round.locked")
    log[place], log[place + 1] = log[place + 1], log[place]


def back_date(log: list[dict[str, Any]]) -> None:
    log[-1]["at"] = log[3]["at"]


@pytest.mark.parametrize("change", [flip, drop, back_date])
def test_a_keeper_who_cheats_the_first_visitor_is_named(
    record: Record, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    forge(record, change)

    result = run(record)

    assert result.exit_code == 1
    assert "emi: entry " in result.output or "emi: the predictions of" in result.output


@pytest.mark.parametrize("change", [flip, drop, swap, back_date, list.pop])
def test_a_keeper_who_changes_what_was_seen_is_named(
    record: Record, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    assert run(record).exit_code == 0
    forge(record, change)

    result = run(record)

    assert result.exit_code == 1
    assert "signed before" in result.output or "entries were removed" in result.output or "emi: entry" in result.output


@pytest.mark.parametrize("change", [flip, drop, swap, back_date])
def test_someone_who_changes_files_without_the_key_is_named(
    record: Record, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    honest = record.read("checkpoint")
    forge(record, change)
    record.write({"/log/checkpoint": honest})

    result = run(record)

    assert result.exit_code == 1
    assert "emi: " in result.output


def test_another_key_is_named_to_who_was_here_before(record: Record) -> None:
    assert run(record).exit_code == 0
    forge(record, lambda _log: None, Signer(NAME, bytes(32)))

    result = run(record)

    assert result.exit_code == 1
    assert "no trusted key signed" in result.output
    assert "tell it with --key" in result.output


def test_a_key_that_was_told_out_of_band_is_used(record: Record) -> None:
    key = read_keys(record.key_file)[0].verifier

    assert run(record, "--key", key.text).exit_code == 0
    assert run(record, "--key", Signer(NAME, bytes(32)).verifier.text).exit_code == 1


def test_a_rotated_key_is_learned_while_the_old_one_still_signs(record: Record) -> None:
    assert run(record).exit_code == 0
    for change, minutes in ((add_key, 10), (drop_old_keys, 20)):
        change(record.key_file)
        record.restart()
        record.play([NOON + (HOURS * 60 + minutes) * MINUTE])
        record.publish()

        assert run(record).exit_code == 0


def test_a_round_that_is_published_otherwise_than_logged_is_named(record: Record) -> None:
    rows = record.memory.resolved_rounds(500)
    rows[1]["price_basis"] = "made up"
    record.write({"/arena/rounds.json": json.dumps({"rounds": rows}).encode()})

    result = run(record)

    assert result.exit_code == 1
    assert f"round {rows[1]['round_id']}: price_basis is published as 'made up'" in result.output


def republish(record: Record, rows: list[dict[str, Any]]) -> None:
    record.write({"/arena/rounds.json": json.dumps({"rounds": rows}).encode()})


def test_losses_that_are_left_out_of_the_published_rounds_are_missed(record: Record) -> None:
    rows = record.memory.resolved_rounds(500)
    republish(record, rows[:2] + rows[3:])

    assert f"round {rows[2]['round_id']} ended {rows[2]['phase']} in the log and is not published" in run(record).output
    republish(record, [])
    assert "is not published" in run(record).output


def test_a_row_that_calls_itself_warm_up_is_compared_all_the_same(record: Record) -> None:
    rows = record.memory.resolved_rounds(500)
    rows[0] = {**rows[0], "warm_up": True}
    republish(record, rows)

    assert f"round {rows[0]['round_id']}: warm_up is published as True" in run(record).output


def test_a_log_that_went_away_is_named(record: Record) -> None:
    assert run(record).exit_code == 0
    (record.site / "log" / "checkpoint").unlink()

    result = run(record)

    assert result.exit_code == 1
    assert "it had one when it was last seen" in result.output


def test_a_damaged_note_of_the_last_visit_is_never_thrown_away_silently(record: Record) -> None:
    run(record)
    file = next((record.folder / "seen").iterdir())
    file.write_text("{}")

    result = run(record)

    assert result.exit_code == 1
    assert "remove it to begin again" in str(result.exception)
    assert file.read_text() == "{}"


@pytest.mark.parametrize("path", ["/log/checkpoint", "/log/keys.txt", "/log/tile/entries/000.p/{size}"])
@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"nonsense\n\n", b"x" * 100_000])
def test_garbage_in_any_file_is_one_line(record: Record, path: str, data: bytes) -> None:
    record.write({path.format(size=record.memory.log_head()[0]): data})

    result = run(record)

    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert result.output.startswith("emi: ")


# A log is known by its name and key, a place by the log that it had


def elsewhere(record: Record, name: str) -> Path:
    """Move the published site to another folder."""
    target = record.folder / name
    shutil.copytree(record.site, target)
    return target


def run_at(record: Record, site: Path, *more: str) -> Result:
    app = typer.Typer()
    app.command()(verify)
    return CliRunner().invoke(app, [str(site), "--seen", str(record.folder / "seen"), *more])


def go_on(record: Record) -> None:
    record.play(ticks(NOON + (HOURS * 60 + 5) * MINUTE, 120, 5))
    record.publish()


def test_a_log_that_moved_goes_on_from_what_was_seen_of_it_at_the_old_place(record: Record) -> None:
    run(record)
    size = record.memory.log_head()[0]
    go_on(record)
    result = run_at(record, elsewhere(record, "moved"))

    assert result.exit_code == 0, result.output
    assert f"its first {size} entries are those of the last visit to {record.site}" in result.output
    assert "the first visit" not in result.output


@pytest.mark.parametrize("change", [flip, drop, swap, back_date, list.pop])
def test_a_keeper_who_moves_a_log_to_change_it_is_named(
    record: Record, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    run(record)
    forge(record, change)
    result = run_at(record, elsewhere(record, "moved"))

    assert result.exit_code == 1
    assert f"(seen at {record.site})" in result.output


def test_another_log_at_the_same_place_is_named_with_both_names(record: Record) -> None:
    run(record)
    forge(record, lambda _log: None, Signer("other.example/log", bytes(32)))
    note = Checkpoint("other.example/log", 3, bytes(32)).signed([Signer("other.example/log", bytes(32))])
    record.write({"/log/checkpoint": note})
    old = read_keys(record.key_file)[0].verifier.text

    for more in ((), ("--key", Signer("other.example/log", bytes(32)).verifier.text)):
        result = run(record, *more)
        assert result.exit_code == 1
        assert f"the log {NAME} of {record.memory.log_head()[0]} entries was here, signed by {old}" in result.output
        assert "now the log other.example/log of 3 entries is here" in result.output


def test_another_key_under_the_same_name_is_named_as_not_the_log_that_was_here(record: Record) -> None:
    run(record)
    forge(record, lambda _log: None, Signer(NAME, bytes(32)))

    assert "this one bears its name and not its key" in run(record).output


def test_another_log_of_the_same_name_at_another_place_is_that_place_s_own(record: Record) -> None:
    run(record)
    forge(record, lambda _log: None, Signer(NAME, bytes(32)))
    result = run_at(record, elsewhere(record, "another"))

    assert (
        "emi: entry" in result.output or "the first visit" in result.output
    )  # nothing of the first log is asked of it


def test_a_copy_that_is_behind_is_said_to_be_and_one_that_differs_is_named(record: Record) -> None:
    copy = elsewhere(record, "copy")
    assert run_at(record, copy).exit_code == 0
    go_on(record)
    assert run(record).exit_code == 0
    result = run_at(record, copy)

    assert result.exit_code == 0, result.output
    assert f"{record.site} had {record.memory.log_head()[0]} entries of this log: this is a copy that is behind" in (
        result.output
    )
    forge(record, flip)
    shutil.rmtree(copy)
    shutil.copytree(record.site, copy)
    assert "history was changed" in run_at(record, copy).output


def test_a_damaged_note_of_another_place_does_not_matter_here(record: Record) -> None:
    run_at(record, elsewhere(record, "copy"))
    next((record.folder / "seen").iterdir()).write_text("{}")

    assert run(record).exit_code == 0


def test_one_round_at_a_new_place_is_compared_with_what_was_seen_elsewhere(record: Record) -> None:
    name = record.memory.resolved_rounds(1)[0]["round_id"]
    run(record)
    forge(record, lambda log: log.remove(log[-1]))
    result = run_at(record, elsewhere(record, "moved"), "--round", name)

    assert result.exit_code == 1
    assert "entries were removed" in result.output
