"""Ladders sealed, revealed and verified: one digest an hour, one file a day, and nothing of it free before."""

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generator.arena.published import canonical_json, digest_of
from generator.catalog.durations import DAY_MS
from generator.catalog.horizons import HORIZONS
from generator.catalog.log_kinds import step_of
from generator.errors import BackupError
from generator.operate.keep.audit import audit_memory
from generator.record.audit.audit import Audit
from generator.record.audit.game import AuditError, overdue
from generator.record.audit.ladders import LadderLog, Revealed, file_complaint
from generator.record.log.tiles import unbundle
from generator.record.memory import ladders
from generator.runtime import tick
from generator.values.hours import Move
from tests.support.arena_inputs import CONFIG, HOUR, MINUTE, inputs_at, ms
from tests.support.databases import dump, url_in
from tests.support.file_schemas import faults
from tests.support.ladders import reached_at, said_at
from tests.support.log_records import Record, run_verify

START = ms("2026-11-20T23:00")
DAY = "2026-11-20"
FILE = f"/files/ladders/{DAY}.json"
OVER = START + DAY_MS + 15 * MINUTE
TIMES = (
    *(START - 5 * MINUTE, START - 2 * MINUTE, START, START + 15 * MINUTE, START + HOUR),
    *(START + 4 * HOUR, START + DAY_MS, OVER),
)


def play(record: Record, now_ms: int, dies: bool = False) -> None:
    """Play one tick; with `dies` the power goes before it is committed."""
    record.published.begin(now_ms)
    inputs = replace(inputs_at(now_ms, config=CONFIG), ladders=said_at(now_ms), reached=reached_at)
    with record.memory.tick() as transaction:
        tick.store_tick(transaction, inputs, str(now_ms).encode())
        if dies:
            raise RuntimeError("the power goes")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Record]:
    """Play the last hour of a day until all of it is known, with a release after each tick."""
    made = Record(tmp_path_factory.mktemp("record"))
    for now_ms in TIMES:
        play(made, now_ms)
        made.publish()
    yield made
    made.memory.close()


def entries(record: Record, kind: str) -> list[dict[str, Any]]:
    folder = record.site / "log" / "tile" / "entries"
    newest = max(folder.rglob("*"), key=lambda path: path.stat().st_mtime_ns)
    found = [json.loads(data) for data in unbundle(newest.read_bytes())]
    return [entry for entry in found if step_of(entry) == kind]


def test_an_hour_opens_to_its_last_digest_and_the_log_keeps_the_files_digest(record: Record) -> None:
    data = record.site_read(FILE)
    assert data is not None
    [hour] = json.loads(data)["hours"]
    first, last = entries(record, "ladder.sealed")
    [revealed] = entries(record, "ladder.judged")

    assert first["commitment"] != last["commitment"] == digest_of(hour["ladder"], hour["salt"])
    assert last["at"] < last["start"] == hour["ladder"]["start"] == "2026-11-20T23:00:00Z"
    assert canonical_json(hour["ladder"]["assets"]) == canonical_json(said_at(START - 2 * MINUTE))
    assert (revealed["day"], revealed["path"]) == (DAY, FILE)
    assert revealed["sha256"] == hashlib.sha256(data).hexdigest()
    assert set(revealed) == {"game", "kind", "at", "day", "path", "sha256", "scores"}
    assert hour["came"]["24h"]["BTC"]["high"] > hour["came"]["15m"]["BTC"]["high"]


def test_the_file_of_a_day_fits_the_schema_that_is_published(record: Record) -> None:
    assert faults(FILE, record.site_read(FILE) or b"") == []


def test_verify_opens_the_ladders_of_the_published_days(record: Record) -> None:
    result = run_verify(record.site)

    assert result.exit_code == 0, result.output
    assert "ladders opened to what was sealed before each hour, and scored again: 1 day" in result.output


def test_nothing_of_a_ladder_is_in_a_file_before_its_day_is_over(tmp_path: Path) -> None:
    record = Record(tmp_path)
    values = {repr(chance) for said in said_at(START - 2 * MINUTE).values() for chance in chances(said)}
    for now_ms in TIMES[:-1]:
        play(record, now_ms)
        record.publish()
    with record.memory.reading() as connection:
        salt = record.memory.log_state(connection).salt(b"any")

    shown = b" ".join(path.read_bytes() for path in record.site.rglob("*") if path.is_file()).decode(errors="replace")
    record.memory.close()

    assert len(values) > 30
    assert [value for value in values if f":{value}" in shown or f",{value}" in shown] == []
    assert salt not in shown
    assert "/files/ladders/" not in shown


def chances(said: Any) -> Iterator[float]:
    """Give every chance of five digits, which no other figure of the record has by luck."""
    for rows in said["ladder"].values():
        yield from (chance for row in rows for chance in row[1:] if len(repr(chance)) == 6)


def test_a_tick_that_dies_leaves_nothing_and_played_again_gives_the_same_record(tmp_path: Path, record: Record) -> None:
    broken = Record(tmp_path)
    broken.key_file.parent.mkdir(parents=True)
    broken.key_file.write_bytes(record.key_file.read_bytes())
    broken.key_file.chmod(0o600)

    for now_ms in TIMES:
        with pytest.raises(RuntimeError, match="the power goes"):
            play(broken, now_ms, dies=True)
        play(broken, now_ms)
        play(broken, now_ms)
        broken.publish()
        broken.restart()

    with broken.memory.reading() as one, record.memory.reading() as other:
        assert ladders.totals(one) == ladders.totals(other)
    assert broken.site_read(FILE) == record.site_read(FILE)
    assert rows_of(broken) == rows_of(record)
    broken.memory.close()


def rows_of(record: Record) -> dict[str, list[tuple[Any, ...]]]:
    """Return every table but the notes of releases, which are made once a release."""
    tables = dump(url_in(record.folder))
    return {
        name: rows for name, rows in tables.items() if name in {"ladders", "ladder_days", "log_entries", "predictions"}
    }


def test_a_release_that_dies_offers_the_file_again_and_so_does_a_lost_site(tmp_path: Path) -> None:
    record = Record(tmp_path)
    for now_ms in TIMES:
        play(record, now_ms)

    first = record.published.prepare()
    again = record.published.prepare()
    record.done(again)
    after = record.published.prepare()
    record.published.resume(None)
    lost = record.published.prepare()
    record.memory.close()

    assert first.immutable[FILE] == again.immutable[FILE] == lost.immutable[FILE]
    assert FILE not in after.immutable


Change = Callable[[dict[str, Any]], None]


def _flip(day: dict[str, Any]) -> None:
    day["hours"][0]["ladder"]["assets"]["BTC"]["ladder"]["1h"][0][1] = 0.5


def _drop(day: dict[str, Any]) -> None:
    day["hours"].clear()


@pytest.mark.parametrize("change", [_flip, _drop])
def test_a_file_that_was_changed_or_taken_away_is_refused(record: Record, change: Change, tmp_path: Path) -> None:
    data = record.site_read(FILE)
    assert data is not None
    day = json.loads(data)
    change(day)
    target = record.site / FILE.lstrip("/")
    try:
        target.write_bytes(canonical_json(day))
        changed = run_verify(record.site, "--seen", str(tmp_path))
        target.unlink()
        gone = run_verify(record.site, "--seen", str(tmp_path))
    finally:
        target.write_bytes(data)

    assert changed.exit_code == gone.exit_code == 1
    assert "it is not the file whose digest is in the log" in changed.output.replace("\n", " ")
    assert "is not published" in gone.output.replace("\n", " ")


def of_day(data: bytes, change: Change | None = None, scores: Any = None) -> tuple[LadderLog, bytes]:
    """Return a log that names the digest of a changed file: only what it holds can give it away."""
    day = json.loads(data)
    made = {hour["ladder"]["start"]: digest_of(hour["ladder"], hour["salt"]) for hour in day["hours"]}
    if change:
        change(day)
    changed = canonical_json(day)
    return LadderLog({DAY: made}, {DAY: Revealed(FILE, hashlib.sha256(changed).hexdigest(), scores)}), changed


def test_a_file_of_the_right_digest_must_still_hold_what_was_sealed(record: Record) -> None:
    data = record.site_read(FILE)
    assert data is not None
    log, same = of_day(data)

    assert file_complaint(log, DAY, same) is None
    assert "do not give the commitment" in (file_complaint(*_args(of_day(data, _flip))) or "")
    assert "hours are not those" in (file_complaint(*_args(of_day(data, _drop))) or "")
    assert "not of its form" in (file_complaint(*_args(of_day(data, lambda day: day.pop("hours")))) or "")


def _args(made: tuple[LadderLog, bytes]) -> tuple[LadderLog, str, bytes]:
    log, data = made
    return log, DAY, data


def plain_scores(data: bytes) -> dict[str, tuple[int, float, float]]:
    """Score a day's file from what it says and what came: cases, Brier score and that of the base rates, by kind."""
    cases: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for hour in json.loads(data)["hours"]:
        said, base = hour["ladder"]["assets"], hour["ladder"]["base_rates"]
        for horizon, assets in hour["came"].items():
            for asset, came in assets.items():
                for place, (level, *chances) in enumerate(said[asset]["ladder"][horizon]):
                    ended = abs(came["move"]) > level
                    reached = came["high"] > level or came["low"] < -level
                    for column, (kind, event) in enumerate((("end", ended), ("touch", reached))):
                        chance, usual = chances[3 * column + 2], base[horizon][place][column]
                        cases[f"{horizon} {kind}"].append(((chance - event) ** 2, (usual - event) ** 2))
                part = said[asset]["partition"]
                if horizon == "4h":
                    up, down = came["move"] > part["band_percent"], came["move"] < -part["band_percent"]
                    truth = (down, not up and not down, up)
                    rows = (part["chances"], part["base_rates"])
                    squares = [sum((p - t) ** 2 for p, t in zip(row, truth, strict=True)) for row in rows]
                    cases["partition"].append((squares[0], squares[1]))
    means = {name: [sum(column) / len(rows) for column in zip(*rows, strict=True)] for name, rows in cases.items()}
    return {name: (len(cases[name]), round(one, 4), round(base, 4)) for name, (one, base) in means.items()}


def test_the_log_has_the_scores_of_a_day_as_its_file_gives_them(record: Record) -> None:
    data = record.site_read(FILE)
    assert data is not None
    [revealed] = entries(record, "ladder.judged")

    columns = ("n", "brier", "base_rate_brier")
    logged = {name: tuple(score[column] for column in columns) for name, score in revealed["scores"].items()}

    assert set(logged) == {*(f"{horizon} {kind}" for horizon in HORIZONS for kind in ("end", "touch")), "partition"}
    for name, (n, brier, base) in plain_scores(data).items():
        assert logged[name] == (n, pytest.approx(brier, abs=1e-4), pytest.approx(base, abs=1e-4))


def _worsen(scores: dict[str, Any], name: str) -> dict[str, Any]:
    return {**scores, name: {**scores[name], "brier": scores[name]["brier"] - 0.01}}


def test_a_score_or_a_move_that_does_not_follow_is_named(record: Record) -> None:
    data = record.site_read(FILE)
    assert data is not None
    [revealed] = entries(record, "ladder.judged")
    scores = revealed["scores"]
    came = json.loads(data)["hours"][0]["came"]
    honest = Move(1.0, came["1h"]["BTC"]["move"])

    def complaint(scores: Any, move: Move = honest) -> str:
        log, same = of_day(data, scores=scores)
        moves = {("BTC", "1h"): move}
        log.move_of = lambda _, *what: moves.get(what)
        return file_complaint(log, DAY, same) or ""

    assert complaint(scores) == ""
    for name in ("24h end", "1h touch", "partition"):
        assert complaint(_worsen(scores, name)).startswith(f"the scores of {name} are ")
    assert "the logged prices give 9.9" in complaint(scores, Move(1.0, 9.9))


def plant(record: Record, change: Callable[[dict[str, Any]], object]) -> str:
    """Audit a copy of a memory whose stored sums were changed; return what is wrong with it."""
    copy = record.folder / "copy.sqlite3"
    with sqlite3.connect(record.folder / "memory.sqlite3") as source, sqlite3.connect(copy) as target:
        source.backup(target)
        [text] = target.execute("SELECT value FROM meta WHERE key = ?", (ladders.TOTALS_KEY,)).fetchone()
        sums = json.loads(text)
        change(sums)
        target.execute("UPDATE meta SET value = ? WHERE key = ?", (json.dumps(sums), ladders.TOTALS_KEY))
    source.close()
    target.close()
    try:
        audit_memory(f"sqlite:///{copy}", None)
    except BackupError as error:
        return str(error)
    finally:
        copy.unlink()
    return ""


def test_an_audit_of_the_memory_finds_a_planted_score_of_a_ladder(record: Record) -> None:
    def better(cell: dict[str, Any]) -> None:
        cell["brier"] -= 1

    assert plant(record, dict.copy) == ""
    assert "level 1h 0.5 touch" in plant(record, lambda sums: better(sums["live"]["cells"]["1h 0.5 touch"]))
    assert "level 24h 10 end" in plant(record, lambda sums: better(sums["live"]["cells"]["24h 10 end"]))
    assert "partition 4h" in plant(record, lambda sums: better(sums["live"]["partition"]))


def test_a_log_that_seals_late_reveals_early_or_never_is_refused() -> None:
    log = LadderLog()
    start, at = "2026-11-20T23:00:00Z", "2026-11-20T22:58:00Z"

    def made(at: str) -> None:
        log.readers["ladder.sealed"]({"at": at, "start": start, "commitment": "a"})

    def revealed(at: str, day: str = DAY) -> None:
        log.readers["ladder.judged"]({"at": at, "day": day, "path": FILE, "sha256": "b"})

    made(at)

    for late in (start, "2026-11-20T23:00:01Z"):
        with pytest.raises(AuditError, match="after its hour began"):
            made(late)
    with pytest.raises(AuditError, match="before its last horizon"):
        revealed("2026-11-21T22:59:59Z")
    with pytest.raises(AuditError, match="no ladder of this day"):
        revealed("2026-11-23T00:00:00Z", "2026-11-21")
    assert overdue(log.waiting(), "2026-11-22T02:00:00Z") is None
    assert DAY in (overdue(log.waiting(), "2026-11-22T02:00:01Z") or "")
    revealed("2026-11-21T23:15:00Z")
    with pytest.raises(AuditError, match="revealed before"):
        made(at)


def test_an_audit_names_the_day_that_was_never_revealed(record: Record) -> None:
    audit = Audit()
    folder = record.site / "log" / "tile" / "entries"
    newest = max(folder.rglob("*"), key=lambda path: path.stat().st_mtime_ns)
    for data in unbundle(newest.read_bytes()):
        if step_of(json.loads(data)) != "ladder.judged":
            audit.take(data)
    audit.last_at = "2026-11-22T03:00:00Z"
    audit.rounds.open.clear()

    with pytest.raises(AuditError, match=f"the ladders of {DAY} were sealed and never revealed"):
        audit.finish()
