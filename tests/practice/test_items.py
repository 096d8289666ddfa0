"""Items: what a learner sees, the truth behind its digest, and that both follow from the log."""

import gzip
import hashlib
import json
from dataclasses import replace
from functools import cache

import pytest

from generator.arena.practice.hours import LoggedHours, logged_hours
from generator.arena.practice.items import (
    FEWEST_ITEMS,
    HOURS_SHOWN,
    month_of_practice,
    prices_before,
    salted_digest,
    truth_of,
    usual_ranges,
)
from generator.arena.published import canonical_json
from generator.catalog.durations import HOUR_MS
from generator.catalog.links import PRACTICE_DEMO
from generator.record.keys import read_verifiers
from generator.record.verify import entries, open_log
from generator.site.resources import ShippedMonth

KILOBYTES = 60


@cache
def shipped() -> ShippedMonth:
    return ShippedMonth.load()


@cache
def shipped_hours() -> LoggedHours:
    files = shipped().files

    def read(path: str) -> bytes | None:
        return files.get(PRACTICE_DEMO + path)

    return logged_hours(entries(read, open_log(read).head))


def test_the_shipped_files_follow_from_the_shipped_log() -> None:
    month = month_of_practice(shipped_hours(), "2026-10", "emi-practice-demo", "simulated")

    assert month is not None
    assert month.files == {shipped().truths_path: shipped().truths, shipped().items_path: shipped().items}


def test_the_shipped_log_names_itself_and_its_market() -> None:
    files = shipped().files
    key = read_verifiers(files[f"{PRACTICE_DEMO}/log/keys.txt"].decode())
    log = open_log(lambda path: files.get(PRACTICE_DEMO + path), key=key[0].text)

    assert log.head.origin == "emi-practice-demo"
    assert json.loads(shipped().items)["source_mode"] == "simulated"


def test_the_shipped_items_are_small_to_load() -> None:
    assert len(gzip.compress(shipped().items)) <= KILOBYTES * 1000


def test_an_item_shows_no_date_and_no_name() -> None:
    for item in json.loads(shipped().items)["items"]:
        assert set(item) == {"prices", "band_percent", "truth_sha256"}
        assert len(item["prices"]) == HOURS_SHOWN
        assert item["prices"][-1] == 100


def test_a_truth_opens_to_its_item_and_an_altered_one_does_not() -> None:
    digests = {item["truth_sha256"] for item in json.loads(shipped().items)["items"]}
    for truth in json.loads(shipped().truths)["truths"]:
        content = {name: value for name, value in truth.items() if name not in {"item", "salt"}}
        own = hashlib.sha256(canonical_json(content) + truth["salt"].encode()).hexdigest()
        assert own in digests
        assert own.startswith(truth["item"])
        assert salted_digest({**truth, "move": truth["move"] + 0.01}) not in digests
        assert salted_digest({**truth, "salt": truth["salt"][::-1] + "0"}) not in digests


def test_a_truth_without_a_salt_is_refused() -> None:
    with pytest.raises(ValueError, match="no salt"):
        salted_digest({"move": 0.1})


def test_a_move_and_its_word_are_those_of_the_logged_prices() -> None:
    items = {item["truth_sha256"][:12]: item for item in json.loads(shipped().items)["items"]}
    for truth in json.loads(shipped().truths)["truths"]:
        move = 100 * (truth["end_price"] / truth["start_price"] - 1)
        assert truth["move"] == pytest.approx(move, abs=6e-5)

        band = items[truth["item"]]["band_percent"]
        if abs(abs(move) - band) > 2e-4:  # the record rounds moves to a hundredth of a basis point
            word = "small_move" if abs(move) <= band else ("up" if move > 0 else "down")
            assert truth["came"] == word


def test_prices_are_those_of_the_hours_before_scaled_to_the_last() -> None:
    hours = shipped_hours()
    hour = hours.ended[-1]
    shown = prices_before(hours, hour)

    first = hours.prices[hour.asset, hour.start_ms - 47 * HOUR_MS]
    assert shown is not None
    assert len(shown) == 48
    assert shown[0] == pytest.approx(100 * first / hour.start_price, abs=0.006)


def test_an_hour_with_a_hole_before_it_gives_no_item() -> None:
    hours = shipped_hours()
    hour = hours.ended[-1]
    holed = {key: price for key, price in hours.prices.items() if key != (hour.asset, hour.start_ms - 5 * HOUR_MS)}

    assert prices_before(replace(hours, prices=holed), hour) is None


def test_a_month_with_too_few_hours_gives_no_items() -> None:
    hours = shipped_hours()
    few = replace(hours, ended=hours.ended[-FEWEST_ITEMS + 1 :])

    assert month_of_practice(few, "2026-10", "log", "simulated") is None
    assert month_of_practice(hours, "2026-07", "log", "simulated") is None


def test_the_usual_range_is_that_of_the_last_day_s_spread() -> None:
    hour = shipped_hours().ended[0]
    sigma = hour.forecast["ranges"]["1h"]["last_day"]
    ranges = truth_of(hour)["usual"]["ranges"]

    assert ranges["high_90"] == pytest.approx(1.6449 * sigma, abs=1e-4) == -ranges["low_90"]
    assert usual_ranges(2.0)["high_50"] == 1.349


def test_data_that_are_not_entries_of_a_log_are_refused() -> None:
    for data in (b"[]", b"{}", b'{"kind":"predictions.started","assets":{}}x', b'{"kind":"predictions.judged"}'):
        with pytest.raises(ValueError):  # noqa: PT011  of JSON or of ours
            logged_hours([data])


def test_void_hours_and_forecasts_from_before_calls_give_no_hour() -> None:
    start = "2026-10-05T10:00:00Z"
    forecast = {"asset": "BTC", "start": start, "probabilities": [0.3, 0.4, 0.3]}
    shown = {"forecast": forecast, "salt": "00", "start_price": 100.0}
    judged = {"end_price": 101.0, "change_bps": 100.0, "outcome": "BULLISH"}
    begun = json.dumps({"kind": "predictions.started", "start": start, "assets": {"BTC": shown}}).encode()

    for ended in (judged, {"void_reason": "no tick in the minute after the end"}):
        entry = json.dumps({"kind": "predictions.judged", "start": start, "assets": {"BTC": ended}}).encode()
        hours = logged_hours([begun, entry])
        assert hours.ended == ()
        assert len(hours.prices) == 1
