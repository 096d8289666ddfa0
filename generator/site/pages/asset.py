"""What the page of one asset shows, worked out from the bodies as published and from its forecasts that came due."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from generator.arena.ranges import RangeSums, new_cases
from generator.arena.rates import counted, enough, in_words, rate
from generator.arena.values import PredictionMade, Proportion
from generator.catalog.assets import ASSET_NAMES
from generator.catalog.horizons import HORIZONS
from generator.catalog.text.labels import BIAS_MARKS
from generator.catalog.words import Bias, Side
from generator.compose.coins import MoveRange
from generator.compose.free import FreeBodies
from generator.compose.main_brain import Reasoning
from generator.compose.scores import hour_of
from generator.site.words.format import count, percent, price, signed
from generator.site.words.record import interval

BEARS: Final = {
    Side.FOR: "agrees with the forecast",
    Side.AGAINST: "does not agree",
    Side.NEUTRAL: "says nothing either way",
    Side.MISSING: "not known",
}


def asset_view(asset: str, bodies: FreeBodies, due: Sequence[PredictionMade]) -> dict[str, Any]:
    """Return what pages/asset.html reads.

    Args:
        due: forecasts of all assets that came due or were void, newest first.
    """
    coin = bodies.main_brain.coins[asset]
    futures = bodies.derivatives.assets[asset]
    reasoning = bodies.reasoning(asset).reasoning
    bears = [reason.bears_on_call for reason in reasoning.reasons]

    return {
        "asset": asset,
        "name": ASSET_NAMES[asset],
        "price": price(coin.price),
        "change": signed(coin.change_24h),
        "summary": reasoning.summary,
        "chances": _chances(reasoning),
        "ranges": _ranges(coin.ranges or {}, coin.price),
        "reasons": tuple((reason.text, BEARS[reason.bears_on_call]) for reason in reasoning.reasons),
        "signs": _signs(bears),
        "futures": futures.evidence or (),
        "record": asset_record(asset, due),
    }


def _chances(reasoning: Reasoning) -> tuple[tuple[str, str, str], ...]:
    """Return each outcome with its chance and how often it came up before; empty without a forecast."""
    chances = reasoning.probabilities
    base = reasoning.base_rates
    if chances is None or base is None:
        return ()

    outcomes = (
        (Bias.UP, chances.up, base.up),
        (Bias.FLAT, chances.neutral, base.neutral),
        (Bias.DOWN, chances.down, base.down),
    )
    return tuple(
        (f"{BIAS_MARKS[bias]} {bias}", percent(100 * chance), percent(100 * usual)) for bias, chance, usual in outcomes
    )


def _ranges(ranges: Mapping[str, MoveRange], now: float | None) -> tuple[tuple[str, ...], ...]:
    """Return each horizon with its 50% and its 90% range, each as prices and in percent."""
    return tuple(
        (HORIZONS[horizon].words, *_ends(move.low_50, move.high_50, now), *_ends(move.low_90, move.high_90, now))
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


def _signs(bears: Sequence[Side]) -> str:
    agree = bears.count(Side.FOR)
    against = bears.count(Side.AGAINST)
    if not agree and not against:
        return "No sign speaks for or against this forecast."

    agree_verb = "agrees" if agree == 1 else "agree"
    against_verb = "does" if against == 1 else "do"
    return f"{count(agree, 'sign')} {agree_verb} with this forecast, {against} {against_verb} not."


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

    right = sum(prediction.outcome == prediction.prediction for prediction in resolved)
    hits = rate(right, len(resolved), backtest=backtest)
    way = f"Which way{tested.rstrip(',')}: {counted(hits, 'forecasts')} were right{_judged(hits)}."

    sums = RangeSums().plus(case for prediction in resolved for case in new_cases(None, prediction))
    hour = hour_of(sums.scores(backtest=backtest))
    if hour is None or not hour.scores:
        return way

    brain = hour.scores[0]
    moves = f"Of its newest {hour.resolved} moves over 1 hour{tested}"
    inside = (
        f"{in_words(brain.inside_50)} ended inside the 50% range and {in_words(brain.inside_90)} inside the 90% range"
    )
    return f"{moves} {inside}. {way}"


def _judged(hits: Proportion) -> str:
    if not enough(hits):
        return ", too few to tell"
    return f" (95% interval {interval(hits)}; a blind guess gets 33.3%)"
