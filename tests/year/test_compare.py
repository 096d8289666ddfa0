"""The comparison of two years finds what is planted, and what a fault explains it does not report."""

import copy
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from generator.record.log.tiles import bundle
from tests.year.compare import (
    Comparison,
    check_begin,
    check_ledger,
    check_statistics,
    compare,
    compare_payments,
    unix,
)
from tests.year.journal import Bought, Gap, Journal
from tests.year.published import Published, Row, digest_of_log

HOURS: Final = 4
CAME: Final = ("BULLISH", "NEUTRAL", "BEARISH", "NEUTRAL")
CHANCES: Final = (0.2, 0.3, 0.5)
ROUND: Final = 2  # whose entries are changed
LONG_AGO: Final = "A" * 52  # the id of 32 zero bytes
Change = Callable[[list[Row]], None]


def at(hour: int, minute: int = 0) -> str:
    return f"2026-11-20T{hour:02}:{minute:02}:00Z"


def entries_of(hour: int) -> list[Row]:
    """Return what a log says of one round and one hour."""
    name, before, came = f"BTC-{hour}", CAME[hour - 2] if hour > 1 else None, CAME[hour]
    chances = dict(zip(("down", "neutral", "up"), CHANCES, strict=True))
    forecast = {"probabilities": chances, "base_rate": chances, "call": "up", "start": at(hour + 1)}
    locked: Row = {"forecast": forecast, "salt": f"salt {hour}", "previous_outcome": before, "ballots_sha256": "none"}
    closing = {"commitment": "digest", "forecast": {"probabilities": chances}, "void_reason": None}
    locked |= {"closing": closing}
    locked |= {"start_price": 100.0 + hour, "price_basis": "mid", "votes": {"up": hour}, "simulated_votes": {}}
    made: Row = {"probabilities": list(CHANCES), "base_rate": list(CHANCES), "previous_outcome": before, "call": "up"}
    made["ranges"] = {"1h": {"low_90": -1.0, "low_50": -0.5, "high_50": 0.5, "high_90": 1.0}}
    judged: Row = {"end_price": 101.0, "change_bps": 10.0, "outcome": came}
    rows = [
        {
            "kind": "round.sealed",
            "round_id": name,
            "asset": "BTC",
            "at": at(hour),
            "start": at(hour + 1),
            "band_bps": 9.0,
        },
        {"kind": "round.locked", "round_id": name, "at": at(hour + 1), **locked},
        {"kind": "round.resolved", "round_id": name, "at": at(hour + 2), **judged},
    ]
    started = {"forecast": made, "salt": f"salt {hour}", "start_price": 100.0}
    steps: tuple[tuple[str, int, Any], ...] = (("made", 55, "digest"), ("started", 0, started), ("judged", 60, judged))
    for kind, minute, what in steps:
        then = at(hour, minute) if kind == "made" else at(hour + 1 + minute // 60)
        rows.append({"kind": f"predictions.{kind}", "at": then, "start": at(hour + 1), "assets": {"BTC": what}})
    move = {"kind": "ranges.judged", "at": at(hour + 2), "start": at(hour + 1), "horizon": "1h"}
    return [*rows, {**move, "assets": {"BTC": {"end_price": 101.0, "move": 0.4}}}]


def log() -> list[Row]:
    """Return a log of some hours, with the scores that it gives."""
    rows = [entry for hour in range(HOURS) for entry in entries_of(hour)]
    read = Published.of(iter(rows))
    scores: Row = {"kind": "scores", "at": at(HOURS + 2), "how_far": {}}
    for kind, sums in (("arena", read.arena.shown()), ("hourly", read.hourly.shown())):
        baselines = {name: sums[name] for name in ("base_rate", "persistence")}
        scores[kind] = {**sums, "baselines": baselines, "hit_rate_percent": None}
    return [*rows, scores]


def found_after(change: Change, gaps: list[Gap] | None = None) -> Comparison:
    one = log()
    two = copy.deepcopy(one)
    change(two)
    return compare(Published.of(iter(one)), Published.of(iter(two)), gaps or [])


def of_round(rows: list[Row], kind: str) -> Row:
    return next(row for row in rows if row["kind"] == f"round.{kind}" and row["round_id"] == f"BTC-{ROUND}")


def of_hour(rows: list[Row], kind: str) -> Any:
    found = [row for row in rows if row["kind"] == kind and row["start"] == at(ROUND + 1)]
    return found[0]["assets"]["BTC"]


def without_round(rows: list[Row]) -> None:
    """Take a round out, and what the scores say of it."""
    rows[:] = [row for row in rows if row.get("round_id") != f"BTC-{ROUND}"]
    shown = Published.of(iter(rows)).arena.shown()
    scores = rows[-1]["arena"]
    scores |= {**shown, "hit_rate_percent": None}
    scores["baselines"] = {name: shown[name] for name in ("base_rate", "persistence")}


def close(rows: list[Row], **changed: Any) -> None:
    """Change what a round's second seal says."""
    locked = of_round(rows, "locked")
    locked["closing"] = {**locked["closing"], **changed}


PLANTED: Final[dict[str, tuple[Change, str]]] = {
    "a forecast at the close": (
        lambda rows: close(rows, forecast={"probabilities": {"down": 1.0}}),
        "forecast at the close",
    ),
    "no forecast at the close": (lambda rows: close(rows, void_reason="missed"), "forecast at the close"),
    "a rule of comparison": (lambda rows: of_round(rows, "locked").update(closing=None), "rule of comparison"),
    "an outcome": (lambda rows: of_round(rows, "resolved").update(outcome="BULLISH"), "outcome of a round"),
    "an end price": (lambda rows: of_round(rows, "resolved").update(end_price=1.0), "end_price of a round"),
    "a start price": (lambda rows: of_round(rows, "locked").update(start_price=1.0), "start_price of a round"),
    "a band": (lambda rows: of_round(rows, "sealed").update(band_bps=1.0), "band"),
    "a salt": (lambda rows: of_round(rows, "locked").update(salt="other"), "salt of a round"),
    "votes": (lambda rows: of_round(rows, "locked").update(votes={"up": 9}), "votes"),
    "a chance": (lambda rows: of_round(rows, "locked")["forecast"].update(call="down"), "forecast of a round"),
    "a round": (without_round, "round BTC-2 is missing"),
    "an hour's outcome": (lambda rows: of_hour(rows, "predictions.judged").update(outcome="BULLISH"), "hourly outcome"),
    "an hour's salt": (lambda rows: of_hour(rows, "predictions.started").update(salt="other"), "salt of an hour"),
    "a range": (lambda rows: of_hour(rows, "predictions.started")["forecast"].update(ranges={"1h": {
        "low_90": -2.0, "low_50": -0.5, "high_50": 0.5, "high_90": 1.0}}), "ranges"),
    "a move": (lambda rows: of_hour(rows, "ranges.judged").update(move=0.1), "move"),
    "a last outcome": (lambda rows: of_hour(rows, "predictions.started")["forecast"].update(
        previous_outcome="BEARISH"), "last outcome of BTC"),
    "a round's last outcome": (lambda rows: of_round(rows, "locked").update(previous_outcome="BEARISH"),
        "last outcome of round BTC-2"),
    "a count": (lambda rows: rows[-1]["arena"].update(resolved=HOURS + 1), "count of forecasts"),
    "a score": (lambda rows: rows[-1]["arena"].update(brier=rows[-1]["arena"]["brier"] + 0.0002), "brier"),
    "a round of its own": (lambda rows: rows.insert(0, {**rows[0], "round_id": "BTC-9"}), "alone"),
}  # fmt: skip


def in_doubt(rows: list[Row]) -> None:
    """Pull a forecast half the way to its base rate, as doubt does."""
    forecast = of_round(rows, "locked")["forecast"]
    base = {"down": 0.4, "neutral": 0.2, "up": 0.4}
    half = {name: (chance + base[name]) / 2 for name, chance in forecast["probabilities"].items()}
    forecast |= {"probabilities": half, "move": {"chance": 0.75, "base_rate": 0.8}}


def sure(rows: list[Row]) -> None:
    """Say the same forecast without doubt."""
    forecast = of_round(rows, "locked")["forecast"]
    forecast |= {"base_rate": {"down": 0.4, "neutral": 0.2, "up": 0.4}, "move": {"chance": 0.7, "base_rate": 0.8}}


def test_doubt_of_a_round_is_explained_by_a_fault_when_it_was_sealed() -> None:
    one, two = log(), log()
    sure(one)
    sure(two)
    in_doubt(two)
    gap = Gap("two of three venues fail", unix(at(ROUND)) - 60, unix(at(ROUND)) + 60)

    explained = compare(Published.of(iter(one)), Published.of(iter(two)), [gap])
    unexplained = compare(Published.of(iter(one)), Published.of(iter(two)), [])

    assert explained.missing["certainty of a round"] == 1
    assert [fault for fault in explained.different if "certainty" in fault] == []
    assert any("certainty of a round BTC-2 is missing" in fault for fault in unexplained.different)


def test_scores_are_of_the_newest_kind_of_chances() -> None:
    rows = log()
    of_round(rows, "locked")["forecast"]["chances_kind"] = "law"

    read = Published.of(iter(rows))

    assert read.arena.total.resolved == HOURS
    assert read.arena.shown()["resolved"] == 1


def test_two_years_that_are_equal_have_no_difference() -> None:
    found = found_after(lambda _rows: None)

    assert (found.different, found.missing) == ([], {})
    assert found.equal["outcome of a round"] == found.equal["hourly outcome"] == HOURS


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_difference_is_named(planted: str) -> None:
    change, named = PLANTED[planted]

    assert any(text.startswith(named) or named in text for text in found_after(change).different)


def test_a_round_that_a_fault_explains_is_missing_and_not_different() -> None:
    start = unix(at(ROUND + 1))

    found = found_after(without_round, [Gap("killed", start - 60, start + 60)])

    assert (found.different, dict(found.missing)) == ([], {"round": 1})


def test_totals_that_differ_by_more_than_the_missed_round_are_named() -> None:
    def change(rows: list[Row]) -> None:
        without_round(rows)
        other = next(row for row in rows if row["kind"] == "round.locked")
        other["forecast"] = {**other["forecast"], "probabilities": {"down": 0.1, "neutral": 0.3, "up": 0.6}}

    start = unix(at(ROUND + 1))

    found = found_after(change, [Gap("killed", start - 60, start + 60)])

    assert [text for text in found.different if text.startswith("forecast of a round BTC-0")]
    assert [text for text in found.different if text.startswith("brier of the disturbed year")]


def test_a_payment_that_is_lost_or_kept_twice_is_named(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "ledger") as ledger:
        ledger.execute("CREATE TABLE payments (txid TEXT, state TEXT)")
        ledger.execute("CREATE TABLE settled_old (txid BLOB)")
        rows = [("A", "settled"), ("B", "refused"), ("C", "settled"), ("C", "settled"), ("D", "settled")]
        ledger.executemany("INSERT INTO payments VALUES (?, ?)", rows)
        ledger.execute("INSERT INTO settled_old VALUES (?)", (bytes(32),))
    ledger.close()
    bought = [Bought(1, "x", 1, "A", "sha"), Bought(2, "x", 1, "E", "sha")]
    found = Comparison([])

    check_ledger(found, "disturbed", tmp_path / "ledger", ["A", "B", "C", LONG_AGO], bought)

    assert found.different == [
        "B of the disturbed year is on the chain 1 times, in the ledger 0 times",
        "C of the disturbed year is on the chain 1 times, in the ledger 2 times",
        "D of the disturbed year is settled in the ledger, and not on the chain",
        "payment 2 of the disturbed year was delivered, and never moved money",
    ]


def test_a_payment_without_its_body_or_with_another_is_named(tmp_path: Path) -> None:
    one, two = Journal(1, HOURS), Journal(1, HOURS)
    one.bought = [Bought(number, "x", 1, "A", "sha") for number in range(4)]
    two.bought = [Bought(0, "x", 1, "A", "sha"), Bought(1, "y", 1, "A"), Bought(3, "x", 1, "A", "sha", again=[False])]
    bodies = ('{"price": 1, "snapshotId": "a"}', '{"price": 1, "snapshotId": "b"}', '{"price": 2, "snapshotId": "b"}')
    for year, texts in (("one", (bodies[0], bodies[0])), ("two", (bodies[1], bodies[2]))):
        (tmp_path / year).mkdir()
        for number, text in zip((0, 3), texts, strict=True):
            (tmp_path / year / f"body-{number}.json").write_text(text)
    found = Comparison([])

    compare_payments(found, one, two, (tmp_path / "one", tmp_path / "two"))

    assert [text.partition(" is {")[0] for text in found.different] == [
        "payment 1 is ('x', 1) in the undisturbed year, ('y', 1) in the disturbed",
        "payment 2 is missing, and no fault was then",
        "facts of a paid body at /price/ 3",
        "payment 1 of the disturbed year was never delivered: []",
        "payment 3 of the disturbed year was delivered otherwise when it was asked again",
    ]


def test_a_log_that_does_not_begin_as_it_was_left_is_named(tmp_path: Path) -> None:
    publish(tmp_path, log())
    left = Journal(1, HOURS, begun_size=3, begun_digest=digest_of_log(tmp_path, 3), old_again=[True])
    rows = log()
    rows[1]["salt"] = "other"
    found, untouched = Comparison([]), Comparison([])

    check_begin(untouched, "disturbed", tmp_path, left)
    publish(tmp_path, rows)
    left.old_again.append(False)
    check_begin(found, "disturbed", tmp_path, left)

    assert untouched.different == []
    assert found.different == [
        "the log of the disturbed year does not begin as the earlier version left it",
        "a payment of the earlier version was delivered otherwise in the disturbed year",
    ]


def publish(site: Path, rows: list[Row]) -> None:
    """Publish a log of less than one tile."""
    for path, data in {
        "current/log/checkpoint": f"name\n{len(rows)}\nroot\n".encode(),
        f"once/log/tile/entries/000.p/{len(rows)}": bundle([json.dumps(row).encode() for row in rows]),
    }.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(data)


def test_statistics_that_the_log_does_not_give_are_named(tmp_path: Path) -> None:
    record = Published.of(iter(log()))
    shown = record.arena.shown()
    stated = {"arena": {"record": {**shown, "brier": shown["brier"] + 0.001}}}
    (tmp_path / "current" / "api").mkdir(parents=True)
    (tmp_path / "current" / "api" / "statistics.php").write_text(json.dumps(stated))
    found = Comparison([])

    check_statistics(found, "disturbed", tmp_path, record)

    assert [text.partition(" is ")[0] for text in found.different] == ["brier in the statistics of the disturbed year"]
