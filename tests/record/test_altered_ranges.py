"""`emi verify` recomputes the published ranges from the log, and names the field of a row that was altered."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generator.catalog.horizons import HORIZONS
from generator.catalog.links import RANGES_JSONL
from generator.catalog.log_kinds import step_of
from generator.record.audit.audit import Audit
from generator.record.audit.game import AuditError
from generator.record.audit.scores import far_scores_of
from tests.record.test_log import entries as log_entries
from tests.support.arena_inputs import HOUR, MINUTE, NOON
from tests.support.log_records import Record, run_verify

TIMES = [NOON + hour * HOUR + minute * MINUTE for hour in range(27) for minute in (0, 15, 55)]
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Record:
    made = Record(tmp_path_factory.mktemp("played"))
    made.play(TIMES)
    made.publish()
    return made


@pytest.fixture
def site(played: Record, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played.site, tmp_path / "site"))


def put(site: Path, change: Callable[[Rows], object]) -> None:
    file = site / RANGES_JSONL.lstrip("/")
    rows = [json.loads(line) for line in file.read_bytes().splitlines()]
    change(rows)
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_an_honest_record_of_ranges_is_verified_and_its_scores_are_said(site: Path) -> None:
    result = run_verify(site)

    assert result.exit_code == 0, result.output
    for horizon in HORIZONS:
        assert f"ranges over {horizon} in the log: " in result.output


def oldest(rows: Rows) -> dict[str, Any]:
    return min(rows, key=lambda row: (row["start"], row["asset"]))


def newest(rows: Rows) -> dict[str, Any]:
    """Return a row whose 15 minutes end last of all that have a price; others have the same end."""
    known = [row for row in rows if row["ranges"]["15m"]["end_price"] is not None]
    return max(known, key=lambda row: row["start"])


@pytest.mark.parametrize("name", ["sigma", "low_90", "high_50", "ewma", "end_price"])
@pytest.mark.parametrize("horizon", ["15m", "24h"])
def test_an_altered_range_or_price_is_named(site: Path, horizon: str, name: str) -> None:
    put(site, lambda rows: oldest(rows)["ranges"][horizon].update({name: 0.1234}))

    result = run_verify(site)

    assert result.exit_code == 1
    assert (
        f"ranges of ALGO 2026-11-20T13:00:00Z: {'the move' if name == 'end_price' else f'ranges.{horizon}.{name}'}"
        in (result.output)
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: oldest(rows).update(start_price=1.0), "the prices give another\n"),
        (lambda rows: oldest(rows).update(warm_up=True), "warm_up is published as True, the log says False"),
        (lambda rows: oldest(rows)["ranges"]["1h"].update(end_price=None, move=None), "ranges.1h.end_price"),
        (lambda rows: oldest(rows).update(asset="DOGE"), "ranges of DOGE 2026-11-20T13:00:00Z are published and not"),
        (lambda rows: newest(rows)["ranges"]["15m"].update(end_price=None, move=None), "ranges.15m.end_price"),
        (lambda rows: rows.remove(oldest(rows[3:])), "are in the log and not published"),
        (lambda rows: oldest(rows).pop("ranges"), "is not of the published form"),
    ],
)
def test_a_row_altered_invented_or_left_out_is_found(site: Path, change: Callable[[Rows], object], said: str) -> None:
    put(site, change)

    result = run_verify(site)

    assert (result.exit_code, said in result.output) == (1, True), result.output


def test_ranges_in_the_log_that_are_not_published_are_missed(site: Path) -> None:
    (site / RANGES_JSONL.lstrip("/")).unlink()

    assert "ranges.jsonl is not published" in run_verify(site).output


def entries(played: Record) -> Rows:
    return [json.loads(entry) for entry in log_entries(played)]


def audited(found: Rows) -> Audit:
    audit = Audit()
    for entry in found:
        audit.take(json.dumps(entry).encode())
    return audit


def test_the_audit_gives_the_scores_that_the_memory_counted(played: Record) -> None:
    audit = audited(entries(played))

    assert far_scores_of(audit.hourly.far.scores()) == far_scores_of(played.memory.view(TIMES[-1]).how_far)
    assert [one.resolved for one in audit.hourly.far.scores()] == [26 * 7, 25 * 7, 22 * 7, 2 * 7]
    assert "how_far" in next(entry for entry in entries(played) if step_of(entry) == "scores")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"move": 9.0}, "the move over 1h is 9.0"),
        ({"end_price": 1.0}, "the prices give another"),
    ],
)
def test_a_move_that_the_prices_do_not_give_is_found_in_the_log(
    played: Record, change: dict[str, Any], said: str
) -> None:
    found = entries(played)
    first = next(entry for entry in found if step_of(entry) == "ranges.judged" and entry["horizon"] == "1h")
    first["assets"]["BTC"].update(change)

    with pytest.raises(AuditError, match=said):
        audited(found)


def test_a_range_that_the_log_never_made_cannot_be_judged(played: Record) -> None:
    found, unpriced = entries(played), entries(played)
    judged = next(entry for entry in found if step_of(entry) == "ranges.judged" and entry["horizon"] == "15m")
    judged["assets"]["DOGE"] = judged["assets"]["BTC"]
    started = next(entry for entry in unpriced if step_of(entry) == "predictions.started")
    started["assets"]["BTC"]["start_price"] = None

    with pytest.raises(AuditError, match="DOGE: no 15m range was made for this hour"):
        audited(found)
    with pytest.raises(AuditError, match="BTC: no 15m range was made for this hour"):
        audited(unpriced)


def test_a_range_is_judged_once(played: Record) -> None:
    found = entries(played)
    first = next(entry for entry in found if step_of(entry) == "ranges.judged")

    with pytest.raises(AuditError, match=f"the {first['horizon']} range was judged before"):
        audited([*found[: found.index(first) + 1], *found[found.index(first) :]])


def test_a_range_that_is_never_judged_is_missed(played: Record) -> None:
    audit = audited([entry for entry in entries(played) if step_of(entry) not in {"ranges.judged", "scores"}])

    with pytest.raises(AuditError, match=r"the 15m range of ALGO .* was made and never judged"):
        audit.finish()
