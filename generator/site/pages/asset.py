"""What the page of one asset shows, worked out from the bodies as published and from its forecasts that came due."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from generator.arena.ranges import RangeSums, new_cases
from generator.arena.rates import counted, enough, in_words, rate, share
from generator.arena.scores import ORDER
from generator.catalog.assets import ASSET_NAMES
from generator.catalog.formats import chance_percent
from generator.catalog.horizons import HORIZONS
from generator.catalog.text.figures import UNKNOWN, count, moved, percent, price, signed
from generator.catalog.text.labels import CALL, MARKS, OUTCOME
from generator.catalog.words import Call, Points, Prediction, Side
from generator.compose.derivatives import DerivativesAsset, how_rare
from generator.compose.free import FreeBodies
from generator.compose.main_brain import Reason, Reasoning
from generator.compose.scores import hour_of
from generator.site.charts.plot import Chart
from generator.site.charts.ranges import how_far
from generator.site.words.record import interval
from generator.values.hours import PredictionMade
from generator.values.ranges import MoveRange
from generator.values.scores import Rate

BEARS: Final = {
    Side.FOR: "agrees with the call",
    Side.AGAINST: "against the call",
    Side.NEUTRAL: "neither way",
    Side.MISSING: "not known",
}
POINTS: Final = {Points.UP: "for a rise", Points.DOWN: "for a fall", Points.FLAT: "neither way"}


class RangeShown(NamedTuple):
    """One range in words; `prices` is empty where the price of now is unknown."""

    level: str
    prices: str
    percent: str


class HorizonShown(NamedTuple):
    """The ranges over one horizon: 50% and 90%."""

    horizon: str
    ranges: tuple[RangeShown, ...]


class ChanceShown(NamedTuple):
    """An outcome with its chance, and how often it came before."""

    word: str
    chance: str
    base: str


class ReasonShown(NamedTuple):
    """A sentence of the evidence, and how it bears on the call."""

    sentence: str
    bears: str


class AssetNow(NamedTuple):
    """One asset now, in words."""

    asset: str
    name: str
    price: str
    change: str
    summary: str
    chances: tuple[ChanceShown, ...]
    ranges: tuple[HorizonShown, ...]
    far: Chart | None
    reasons: tuple[ReasonShown, ...]
    signs: str
    futures: tuple[str, ...]
    record: str


def asset_view(asset: str, bodies: FreeBodies, due: Sequence[PredictionMade], source: Markup | str) -> AssetNow:
    """Return what pages/asset.html reads as `now`.

    Args:
        due: forecasts of all assets that came due or were void, newest first.
        source: of the prices, as a chart names it.
    """
    coin = bodies.main_brain.coins[asset]
    futures = bodies.derivatives.assets[asset]
    reasoning = bodies.reasoning(asset).reasoning
    return AssetNow(
        asset=asset,
        name=ASSET_NAMES[asset],
        price=price(coin.price),
        change=UNKNOWN if coin.change_24h is None else moved(coin.change_24h),
        summary=reasoning.summary,
        chances=_chances(reasoning),
        ranges=_ranges(coin.ranges or {}, coin.price),
        far=how_far(f"{asset.lower()}-far", asset, coin.price, coin.ranges or {}, source),
        reasons=_reasons(reasoning),
        signs=_signs(reasoning),
        futures=_futures(futures),
        record=asset_record(asset, due),
    )


def _futures(futures: DerivativesAsset) -> tuple[str, ...]:
    """Return the figures of the futures in words, and how they are read."""
    rare = how_rare(futures.funding) if futures.funding else ""
    read_as = futures.price_and_interest.meaning if futures.price_and_interest else ""
    return tuple(text for text in (*(futures.evidence or ()), rare, read_as) if text)


def _chances(reasoning: Reasoning) -> tuple[ChanceShown, ...]:
    """Return a move and each outcome with its chance and how often it came before; empty without a forecast."""
    chances = reasoning.probabilities
    base = reasoning.base_rates
    move = reasoning.move
    if chances is None or base is None or move is None:
        return ()

    beyond = ChanceShown(
        f"a move of more than {move.band_percent:.2f}%",
        percent(chance_percent(move.chance)),
        percent(chance_percent(move.base_rate)),
    )
    outcomes = (
        (OUTCOME[Prediction.BULLISH], chances.up, base.up),
        (OUTCOME[Prediction.NEUTRAL], chances.neutral, base.neutral),
        (OUTCOME[Prediction.BEARISH], chances.down, base.down),
    )
    single = (
        ChanceShown(f"{MARKS[words]} {words}", percent(chance_percent(chance)), percent(chance_percent(usual)))
        for words, chance, usual in outcomes
    )
    return (beyond, *single)


def _ranges(ranges: Mapping[str, MoveRange], now: float | None) -> tuple[HorizonShown, ...]:
    """Return each horizon with its 50% and its 90% range."""
    return tuple(
        HorizonShown(
            HORIZONS[horizon].words,
            (
                RangeShown("50%", *_ends(move.low_50, move.high_50, now)),
                RangeShown("90%", *_ends(move.low_90, move.high_90, now)),
            ),
        )
        for horizon, move in ranges.items()
    )


def _ends(low: float, high: float, now: float | None) -> tuple[str, str]:
    """Write a range, given in percent, as prices and in percent; the prices are empty where that of now is unknown."""
    in_percent = f"{signed(low)} to {signed(high)}"
    if now is None:
        return "", in_percent

    lowest = now * (1 + low / 100)
    highest = now * (1 + high / 100)
    return f"{price(lowest)} to {price(highest)}", in_percent


def _reasons(reasoning: Reasoning) -> tuple[ReasonShown, ...]:
    """Return the evidence in words, each sentence once, and how it bears on the call."""
    rows = zip(reasoning.reason_points, reasoning.reasons, strict=True)
    bears = {point.partition(": ")[2]: _bears(reason, reasoning.call) for point, reason in rows}
    return tuple(ReasonShown(sentence, bearing) for sentence, bearing in bears.items())


def _bears(reason: Reason, call: Call | None) -> str:
    """Say how a family of evidence bears on the call; without one, what it speaks for."""
    has_call = call is not None and call is not Call.NONE
    if has_call or reason.points is None:
        return BEARS[reason.bears_on_call]
    return POINTS[reason.points]


def _signs(reasoning: Reasoning) -> str:
    """Say what the evidence is to the forecast: context."""
    context = "The evidence is context, and decides no call"
    if reasoning.call is None or reasoning.call is Call.NONE:
        return f"No call. {context}."

    bears = [reason.bears_on_call for reason in reasoning.reasons if reason.bears_on_call is not Side.MISSING]
    same = bears.count(Side.FOR)
    other = bears.count(Side.AGAINST)
    call = f"The call is {CALL[reasoning.call]}, with a chance of {percent(reasoning.confidence)}."
    sides = f"{same} {_agree(same)} with the call and {other} speak{'s' if other == 1 else ''} against it"
    return f"{call} {context}: of {count(len(bears), 'sign')} {sides}."


def _agree(number: int) -> str:
    return "agrees" if number == 1 else "agree"


def asset_record(asset: str, due: Sequence[PredictionMade]) -> str:
    """Say what the ranges and forecasts of one asset were worth over the newest hours that are listed."""
    resolved = [prediction for prediction in due if prediction.asset == asset and prediction.outcome is not None]
    live = [prediction for prediction in resolved if not prediction.warm_up]
    if live:
        return _worth(live)

    none_yet = "None of its forecasts has been scored yet."
    if not resolved:
        return none_yet
    return f"{none_yet} {_worth(resolved, backtest=True)}"


def _worth(resolved: Sequence[PredictionMade], *, backtest: bool = False) -> str:
    """Say what forecasts were worth; all of them are live, or of the backtest."""
    tested = ", in a backtest before the start," if backtest else ""

    way = _calls(resolved, backtest=backtest)

    sums = RangeSums().plus(case for prediction in resolved for case in new_cases(None, prediction))
    hour = hour_of(sums.scores(backtest=backtest))
    if hour is None or not hour.scores:
        return way

    brain = hour.scores[0]
    if not enough(brain.inside_90):
        return f"Only {count(hour.resolved, 'range')} for 1 hour{tested} could be judged, too few to tell. {way}"
    moves = f"Of its newest {hour.resolved} moves over 1 hour{tested}"
    inside = (
        f"{in_words(brain.inside_50)} ended inside the 50% range and {in_words(brain.inside_90)} inside the 90% range"
    )
    return f"{moves} {inside}. {way}"


def _calls(resolved: Sequence[PredictionMade], *, backtest: bool) -> str:
    """Say how often the calls came true, against the outcome that was most frequent before, and how many had none."""
    tested = ", in a backtest before the start" if backtest else ""
    called = [prediction for prediction in resolved if prediction.call is not None and prediction.call is not Call.NONE]
    without = sum(prediction.call is Call.NONE for prediction in resolved)
    no_call = f" {count(without, 'forecast')} made no call." if without else ""
    if not called:
        return f"Calls{tested}: none has been scored.{no_call}"

    right = sum(prediction.outcome == prediction.prediction for prediction in called)
    hits = rate(right, len(called), backtest=backtest)
    if not enough(hits):
        return f"Calls{tested}: only {len(called)} could be judged, too few to tell.{no_call}"
    return f"Calls{tested}: {counted(hits, 'calls')} were right{_judged(hits, called)}.{no_call}"


def _judged(hits: Rate, called: Sequence[PredictionMade]) -> str:
    # What a reader needs no brain for: its score is what the calls must beat.
    usual = sum(
        prediction.outcome == ORDER[prediction.base_rate.index(max(prediction.base_rate))] for prediction in called
    )
    base = rate(usual, len(called), backtest=hits.backtest)
    return f" (95% interval {interval(hits)}; always naming the outcome most frequent before gets {share(base)})"
