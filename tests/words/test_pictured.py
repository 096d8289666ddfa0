"""Learn's pictures: a caption agrees in sign and size with the lines that are drawn, or there is no picture."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.market.recorded.recording import load_recording
from generator.site.charts.lessons import clearest_days, day_charts
from generator.site.words.month import HourlyMonth, hourly_month
from tests.words.markets import DAYS, eventful
from tests.words.plotted import untrue_picture

CANDLES = Path(__file__).parents[3] / "shared" / "market-data" / "candles"
MONTH_HOURS = 720
Floats = np.typing.NDArray[np.float64]


def month_of(closes: Floats, start_ms: int = 0) -> HourlyMonth:
    """Return a month of hourly closes, (hours, coins)."""
    ends_ms = tuple(start_ms + hour * HOUR_MS for hour in range(len(closes)))
    columns = zip(ASSETS, closes.T.tolist(), strict=False)
    return HourlyMonth(ends_ms, {("close", asset): tuple(values) for asset, values in columns})


def usual_day(month: HourlyMonth) -> float:
    return float(np.median([abs(move) for move in month.moves(hours=24).values()]))


def figures(month: HourlyMonth, usual: float | None = None) -> list[str]:
    return ["".join(str(chart)) for chart in day_charts(month, usual or usual_day(month), "Source: a test.")]


@pytest.mark.parametrize("seed", range(6))
def test_every_picture_of_an_eventful_market_shows_what_it_says(seed: int) -> None:
    hourly = eventful(seed).closes[::12]

    for end in range(25, DAYS * 24, 29):  # fresh, of a week, and full
        month = month_of(hourly[max(0, end - MONTH_HOURS) : end])
        for figure in figures(month):
            assert untrue_picture(figure) == [], figure


def test_all_four_kinds_of_day_are_found() -> None:
    found = Counter(
        kind
        for seed in range(4)
        for month in [month_of(eventful(seed).closes[::12])]
        for kind in clearest_days(month, usual_day(month))
    )

    assert set(found) == {"rising_together", "falling_together", "going_nowhere", "up_and_down"}


@pytest.mark.parametrize(
    ("spoil", "by"),
    [
        (r"Rising(.*)higher", r"Falling\1lower"),
        (r"Falling(.*)lower", r"Rising\1higher"),
        (r"by (\d)", r"by 1\1"),
        (r"within (\d)", r"within 1\1"),
        (r"travelled (\d)", r"travelled 1\1"),
        ("all seven", "all six"),
        (r"ended \d.\d% from where", "ended 4.4% from where"),
    ],
)
def test_a_spoilt_caption_is_found(spoil: str, by: str) -> None:
    months = [month_of(eventful(seed).closes[::12]) for seed in range(4)]
    drawn = [figure for month in months for figure in figures(month)]

    spoilt = [re.sub(rf"(<figcaption>.*?){spoil}", lambda m: m.expand(r"\1" + shifted(by)), one) for one in drawn]
    changed = [one for one, before in zip(spoilt, drawn, strict=True) if one != before]

    assert changed
    assert all(untrue_picture(one) for one in changed)


def shifted(by: str) -> str:
    """Count the groups of a replacement one further."""
    return re.sub(r"\\(\d)", lambda match: rf"\{int(match[1]) + 1}", by)


def test_no_picture_without_a_usual_day_or_three_coins() -> None:
    hourly = eventful(1).closes[::12]

    assert clearest_days(month_of(hourly), None) == {}
    assert clearest_days(month_of(hourly[:, :2]), 1.0) == {}


def test_a_day_with_a_missing_price_has_no_picture() -> None:
    rising = 100 * np.exp(np.linspace(0, 0.05, 25))[:, None] * np.ones((1, 3))
    month = month_of(rising)
    holed = {**month.values, ("close", "BTC"): (*month.values["close", "BTC"][:12], None, *([100.0] * 12))}

    assert set(clearest_days(month, 1.0)) == {"rising_together"}
    assert clearest_days(HourlyMonth(month.ends_ms, holed), 1.0) == {}


def test_days_that_moved_share_a_scale_and_days_that_did_not_a_finer_one() -> None:
    drawn = figures(month_of(eventful(2).closes[::12]))

    labels = [re.findall(r'<text class="tick halo"[^>]*>([^<]*)<', figure) for figure in drawn]
    far = [found for found, figure in zip(labels, drawn, strict=True) if "together: " in figure]
    near = [found for found in labels if found not in far]

    assert len(far) == 2
    assert near
    assert all(found == far[0] != [] for found in far)
    assert all(found == near[0] != [] for found in near)


@pytest.mark.skipif(not CANDLES.is_dir(), reason="the recorded market data is not next to the project")
@pytest.mark.parametrize("name", ["binance-spot-5m-2022-10", "binance-spot-5m-2025-05"])
def test_every_picture_of_recorded_prices_shows_what_it_says(name: str) -> None:
    month = hourly_month(load_recording([CANDLES / name], ASSETS).frame)
    hours = len(month.ends_ms)

    for kept in (48, 168, MONTH_HOURS):
        for end in range(30, hours, 12):
            cut = slice(max(0, end - kept), end)
            shown = HourlyMonth(month.ends_ms[cut], {key: values[cut] for key, values in month.values.items()})
            for figure in figures(shown, 1.5):
                assert untrue_picture(figure) == [], (kept, end, figure)
