"""Chapters' remarks look at their own figure: each is held against counts and intervals made here from the closes."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.catalog.words import Prediction
from generator.market.recorded.recording import load_recording
from generator.site.pages.chapters.chapter import Ask, Facts
from generator.site.pages.learn import ASKED
from generator.site.words.month import HourlyMonth, hourly_month
from generator.values.hours import Move, PredictionMade
from tests.support.builders import empty_arena
from tests.support.page_view import predictions
from tests.words.markets import eventful

Floats = npt.NDArray[np.float64]
Cases = Sequence[tuple[int, float]]  # hour, and 1 where it came true
CANDLES: Final = Path(__file__).parents[3] / "shared" / "market-data" / "candles"
COUNT: Final = re.compile(r"([\d,]+) of ([\d,]+), (\d+) in 100 \((\d+) to (\d+) allowing for luck\)")
NEAR: Final = 4.0  # points in 100 by which two ways to make an interval may differ
DAYS: Final = (3, 8, 30)
COINS: Final = (7, 6, 1)


def interval(cases: Cases) -> tuple[float, float] | None:
    """Return a bootstrap interval over days, or over four hours of a record of under ten, percent."""
    blocks: list[list[float]] = []
    for length in (24, 4):
        by_block: dict[int, list[float]] = {}
        for hour, came in cases:
            by_block.setdefault(hour // length, []).append(came)
        blocks = list(by_block.values())
        if len(blocks) >= 10:
            break
    if len(blocks) < 10 or len(cases) < 30:
        return None
    sums = np.array([(sum(block), len(block)) for block in blocks])
    drawn = np.random.default_rng(1).integers(0, len(sums), (2_000, len(sums)))
    hits, n = sums[drawn].sum(axis=1).T
    low, high = np.quantile(100 * hits / n, (0.025, 0.975))
    return float(low), float(high)


def market(kind: str, coins: int, days: int) -> Floats:
    """Return hourly closes of a market with events, or of one that is pure chance, (hours, coins)."""
    if kind == "eventful":
        return eventful(5).closes[::12][-24 * days - 1 :, :coins]
    rng = np.random.default_rng(8)
    steps = 0.004 * rng.standard_normal((24 * days + 1, coins))
    return np.array(100 * np.exp(np.cumsum(steps, axis=0)))


def month_of(closes: Floats) -> HourlyMonth:
    ends_ms = tuple(hour * HOUR_MS for hour in range(len(closes)))
    columns = {("close", asset): tuple(column) for asset, column in zip(ASSETS, closes.T.tolist(), strict=False)}
    return HourlyMonth(ends_ms, columns)


def asked_of(closes: Floats, name: str) -> tuple[Ask, ...]:
    return ASKED[name](Facts(month_of(closes), (), empty_arena()))


def faults(tell: str, cases: Cases, against: float, words: tuple[str, str, str]) -> list[str]:
    """Return what is wrong with an answer.

    Args:
        words: by which a remark claims more than chance, nothing, or less.
    """
    hits = round(sum(came for _, came in cases))
    near = NEAR if len(cases) >= 100 else 2 * NEAR  # of few cases the two ways differ more
    out = [] if re.search(rf"(?<![\d,]){hits:,} of {len(cases):,}\b", tell) else ["count"]
    own = interval(cases)
    said = COUNT.search(tell)
    claims = [word in tell for word in words]
    if own is None:
        return [*out, *(["an interval of too few"] if said else []), *(["a claim of too few"] if any(claims) else [])]
    if said is None:
        return [*out, "no interval"]
    low, high = own
    if abs(int(said[4]) - low) > near + 0.5 or abs(int(said[5]) - high) > near + 0.5:
        out.append(f"interval {said[4]} to {said[5]}, bootstrap {low:.1f} to {high:.1f}")
    if sum(claims) != 1:
        return [*out, f"claims {claims}"]
    above, inside, below = claims
    out += ["claims more than the bars show"] if above and low <= against - near else []
    out += ["claims less than the bars show"] if below and high >= against + near else []
    out += ["finds nothing where the bars differ"] if inside and not low - near <= against <= high + near else []
    return out


def moves(closes: Floats, hours: int = 1) -> Floats:
    return np.array(100 * (closes[hours:] / closes[:-hours] - 1))


def again_cases(closes: Floats) -> tuple[Cases, float]:
    first = moves(closes)[:, 0]
    rose = first > 0
    return [(hour, float(rose[hour])) for hour in range(1, len(rose)) if rose[hour - 1]], 100 * rose.mean()


def wild_cases(closes: Floats) -> tuple[Cases, float]:
    sizes = np.abs(moves(closes)[:, 0])
    edge = np.sort(sizes)[-(len(sizes) // 5)]
    return [(hour, float(sizes[hour] >= edge)) for hour in range(1, len(sizes)) if sizes[hour - 1] >= edge], 20.0


def tail_cases(closes: Floats) -> tuple[Cases, float]:
    of_hours = moves(closes)
    far = np.abs(of_hours) > 3 * of_hours.std(axis=0)
    return [(hour, float(value)) for hour, row in enumerate(far) for value in row], 0.27


def together_cases(closes: Floats) -> tuple[Cases, float]:
    of_hours = moves(closes)
    sides = np.maximum((of_hours > 0).sum(axis=1), (of_hours < 0).sum(axis=1))
    n = closes.shape[1]
    alone = 100 * 2 * (n + 1) / 2**n
    return [(hour, float(side >= n - 1)) for hour, side in enumerate(sides.tolist())], alone


REMARKS: Final[tuple[tuple[str, str, Callable[[Floats], tuple[Cases, float]], tuple[str, str, str]], ...]] = (
    ("base-rates", "rise again", again_cases, ("made another one likelier", "no effect", "less likely")),
    ("volatility", "wild too", wild_cases, ("came in groups", "no grouping", "less often than")),
    ("correlation", "go the same way", together_cases, ("moved together.", "no more than", "against each other")),
)


@pytest.mark.parametrize("days", DAYS)
@pytest.mark.parametrize("coins", COINS)
@pytest.mark.parametrize("kind", ["eventful", "chance"])
def test_a_remark_claims_what_its_own_count_shows(kind: str, coins: int, days: int) -> None:
    closes = market(kind, coins, days)

    for name, word, cases_of, words in REMARKS:
        found = [ask for ask in asked_of(closes, name) if word in ask.question]
        assert bool(found) == (name != "correlation" or coins > 1), name
        for ask in found:
            assert faults(ask.tell, *cases_of(closes), words) == [], (ask.question, ask.tell)


@pytest.mark.skipif(not CANDLES.is_dir(), reason="the recorded market data is not next to the project")
@pytest.mark.parametrize("name", ["binance-spot-5m-2022-10", "binance-spot-5m-2025-05"])
def test_remarks_claim_what_recorded_prices_show(name: str) -> None:
    month = hourly_month(load_recording([CANDLES / name], ASSETS).frame)
    known = [column for asset in ASSETS if any(column := month.values["close", asset])]
    closes = np.array(known, dtype=float).T
    read = 0

    for days in DAYS:
        for end in range(24 * days + 1, len(closes), 41):
            window = closes[end - 24 * days - 1 : end]
            if np.isnan(window).any():
                continue
            for chapter, word, cases_of, words in REMARKS:
                for ask in asked_of(window, chapter):
                    if word in ask.question:
                        read += 1
                        assert faults(ask.tell, *cases_of(window), words) == [], (end, ask.question, ask.tell)
    assert read > 20


@pytest.mark.parametrize("days", DAYS)
@pytest.mark.parametrize("coins", COINS)
@pytest.mark.parametrize("kind", ["eventful", "chance"])
def test_fat_tails_are_claimed_of_hours_that_have_them(kind: str, coins: int, days: int) -> None:
    closes = market(kind, coins, days)
    cases, expected = tail_cases(closes)

    first, *_ = asked_of(closes, "fat-tails")

    far = round(sum(came for _, came in cases))
    own = interval(cases)
    assert first.tell.startswith(f"{far:,}")
    assert f"{len(cases):,} hours of {coins} asset" in first.question
    if "tails are fat" in first.tell:
        assert own is not None
        assert own[0] > expected - 0.05
        assert far > expected * len(cases) / 100
    if "can be shown" in first.tell:
        assert own is not None
        assert own[0] <= expected + 0.2


@pytest.mark.parametrize("days", [30])
@pytest.mark.parametrize("drift", [0.0, 0.0018, -0.5])
def test_days_that_break_the_rule_are_said_to(days: int, drift: float) -> None:
    rng = np.random.default_rng(4)
    noise = rng.standard_normal(24 * days + 1)
    steps = 0.003 * (noise + drift * np.roll(noise, 1)) + max(drift, 0.0)
    closes = 100 * np.exp(np.cumsum(steps))[:, None]
    hour, day = (float(np.median(np.abs(moves(closes, hours)))) for hours in (1, 24))

    first, *_, week = asked_of(closes, "volatility")

    if "Days went further" in first.tell:
        assert day > hour * sqrt(24)
    if "Days went less far" in first.tell:
        assert day < hour * sqrt(24)
    broken = not 0.8 < day / (hour * sqrt(24)) < 1.25
    assert broken == ("times as far as it says" in week.tell)
    assert broken == (drift != 0.0), (day, hour * sqrt(24))
    assert ("Days went" in first.tell) == broken


def ranges_made(inside_90: float, inside_50: float, hours: int, coins: int, up: float = 0.4) -> list[PredictionMade]:
    """Return forecasts whose ranges hold such a share of hours, the coins of an hour alike."""
    rng = np.random.default_rng(6)
    first = next(one for one in predictions() if one.ranges)
    assert first.ranges is not None
    ranges = {"1h": replace(first.ranges["1h"], low_90=-0.5, low_50=-0.2, high_50=0.2, high_90=0.5)}
    made = []
    for hour in range(hours):
        at = rng.uniform()
        move = 0.1 if at < inside_50 else 0.3 if at < inside_90 else 0.9
        word = Prediction.BULLISH if rng.uniform() < up else Prediction.BEARISH
        for asset in ASSETS[:coins]:
            known = {"1h": Move(100.0, move)}
            made.append(
                replace(
                    first,
                    asset=asset,
                    start_ms=hour * HOUR_MS,
                    ranges=ranges,
                    moves=known,
                    outcome=word,
                    probabilities=(0.3, 0.3, 0.4),
                    warm_up=False,
                )
            )
    return made


@pytest.mark.parametrize(
    ("inside_90", "inside_50", "words"),
    [
        (0.9, 0.5, ("kept their promise", "The 50 promised lie inside")),
        (0.7, 0.25, ("too narrow", "too narrow")),
        (0.99, 0.8, ("too wide", "too wide")),
    ],
)
def test_ranges_that_hold_too_little_are_not_said_to_hold_too_much(
    inside_90: float, inside_50: float, words: tuple[str, str]
) -> None:
    for coins in COINS:
        due = ranges_made(inside_90, inside_50, 300, coins)
        nine, half, *_ = ASKED["calibration"](Facts(HourlyMonth(), due, empty_arena()))

        for ask, word, size, promised in ((nine, words[0], 0.5, 90.0), (half, words[1], 0.2, 50.0)):
            cases = [(made.start_ms // HOUR_MS, float(abs(made.moves["1h"].move or 0) <= size)) for made in due]
            assert word in ask.tell, ask.tell
            said = ("too wide", "lie inside", "too narrow")
            assert faults(ask.tell.replace("as wrong as too narrow", ""), cases, promised, said) == [], ask.tell


def test_the_likelier_side_says_whether_its_lead_may_be_luck() -> None:
    for hours, up, sure in ((60, 0.5, False), (1_200, 0.4, True)):
        due = ranges_made(0.9, 0.5, hours, 1, up)
        *_, likelier, lead = ASKED["silence"](Facts(HourlyMonth(), due, empty_arena()))

        right = np.array([made.outcome == Prediction.BULLISH for made in due])
        difference = np.where(right, 1.0, -1.0)
        error = 1.96 * difference.std() / sqrt(hours)
        assert sure == (abs(difference.mean()) > error)
        assert ("may well be luck" in likelier.tell) != sure
        # Of sides that come in seven of ten hours, a lead of a tenth shows where it is two of its errors.
        assert lead.tell == "10.0. If that lead is true, it takes about 270 separate hours to show."


@pytest.mark.parametrize("row", range(len(REMARKS)))
def test_a_remark_that_is_swapped_or_miscounted_is_found(row: int) -> None:
    name, word, cases_of, words = REMARKS[row]
    closes = market("eventful", 7, 30)
    (ask,) = [ask for ask in asked_of(closes, name) if word in ask.question]
    cases, against = cases_of(closes)
    now = next(each for each in words if each in ask.tell)

    for other in words:
        if other != now:
            low, high = interval(cases) or (0.0, 0.0)
            assert faults(ask.tell.replace(now, other), cases, against, words) or low - NEAR <= against <= high + NEAR
    assert faults(re.sub(r"^(\d)", r"1\1", ask.tell), cases, against, words)
    assert faults(COUNT.sub(r"\1 of \2, \3 in 100", ask.tell), cases, against, words) == ["no interval"]


def test_without_futures_and_books_their_chapters_claim_nothing_of_this_month() -> None:
    closes = market("eventful", 6, 30)

    funding = asked_of(closes, "funding")
    books = asked_of(closes, "order-books")

    assert [ask.tell for ask in funding] == ["10.9%, if it stays: a small number, paid three times a day."]
    assert len(books) == 1
    assert "allowing for luck" not in books[0].tell
