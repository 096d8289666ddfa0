"""The market over time: what the charts and the file of hours show, and what they leave out."""

from dataclasses import replace

from generator.arena.values import Hour
from generator.site.charts.history import HOUR_MS, WINDOWS, Lately, history
from generator.site.history import histories, hours_csv
from tests.support.builders import NOW_MS, full_context

HOURS = tuple(
    Hour(
        NOW_MS - back * HOUR_MS,
        NOW_MS - back * HOUR_MS,
        "range",
        (0.1, 0.2, 0.6, 0.1),
        "",
        {"BTC": 97_000.0 + back},
        back > 20,
    )
    for back in reversed(range(48))
)
CLOSES = [(hour.market_ms, hour.prices["BTC"]) for hour in HOURS]


def drawn(hours: tuple[Hour, ...] = HOURS, closes: list[tuple[int, float]] = CLOSES) -> str:
    return str(history("btc-7d", WINDOWS["7d"], Lately("BTC", NOW_MS, closes, hours, None), ""))


def test_a_chart_says_what_the_hours_it_shows_were() -> None:
    assert "since 18 Nov, 10:53 UTC. Most frequent regime: range, 48 of 48 hours" in drawn()
    assert "20 Nov, 04:53 UTC: $97,005; range 60.0%, risk-off 20.0%" in drawn()


def test_hours_that_were_not_published_are_gaps_in_line_and_chances() -> None:
    holed = HOURS[:20] + HOURS[30:]
    closes = [(hour.market_ms, hour.prices["BTC"]) for hour in holed]

    whole, cut = drawn(), drawn(holed, closes)

    assert [whole.count(f'class="{kind}"') for kind in ("line", "chance", "tint")] == [1, 4 + 4, 1]
    assert [cut.count(f'class="{kind}"') for kind in ("line", "chance", "tint")] == [2, 4 + 2 * 4, 2]


def test_nothing_later_than_now_is_drawn() -> None:
    later = replace(HOURS[-1], market_ms=NOW_MS + 1, prices={"BTC": 1.0})

    assert drawn((*HOURS, later), [*CLOSES, (NOW_MS + 1, 1.0)]) == drawn()


def test_the_file_of_hours_marks_those_of_a_backtest() -> None:
    rows = hours_csv((HOURS[0], replace(HOURS[-1], chances=None))).decode().splitlines()

    assert rows[0].startswith("at,market_time,warm_up,regime,chance_risk_on,")
    assert rows[1].split(",")[2:8] == ["true", "range", "0.1", "0.2", "0.6", "0.1"]
    assert rows[2].split(",")[2:9] == ["false", "range", "", "", "", "", "97000.0"]


def test_without_bars_there_is_no_chart_and_the_file_is_still_there() -> None:
    found = histories(full_context(), ())

    assert not found.figures
    assert set(found.files) == {"/history/hours.csv"}
