"""What the page of one asset shows, worked out from the bodies as published and from its forecasts that came due."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from generator.arena.ranges import RangeSums, new_cases
from generator.arena.rates import counted, enough, in_words, rate
from generator.arena.values import PredictionMade, Proportion
from generator.catalog.assets import ASSET_NAMES
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.links import reasoning_path
from generator.catalog.text.labels import BIAS_MARKS
from generator.compose.scores import HORIZON_WORDS, hour_of
from generator.site.words.format import count, percent, price, signed
from generator.site.words.record import interval

BEARS: Final = {
    "for": "agrees with the forecast",
    "against": "does not agree",
    "neutral": "says nothing either way",
    "missing": "not known",
}


def asset_view(asset: str, bodies: Mapping[str, Mapping[str, Any]], due: Sequence[PredictionMade]) -> dict[str, Any]:
    """Return what pages/asset.html reads; `due` are forecasts of all assets that came due or were void, newest first."""
    coin = bodies[ENDPOINT_BY_ID["main-brain"].path]["coins"][asset]
    futures = bodies[ENDPOINT_BY_ID["derivatives"].path]["assets"][asset]
    reasoning = bodies[reasoning_path(asset)]["reasoning"]
    reasons = reasoning.get("reasons") or ()
    return {
        "asset": asset,
        "name": ASSET_NAMES[asset],
        "price": price(coin["price"]),
        "change": signed(coin["change_24h"]),
        "summary": reasoning.get("summary") or "",
        "chances": _chances(reasoning),
        "ranges": _ranges(coin.get("ranges") or {}, coin["price"]),
        "reasons": tuple((row["text"], BEARS[row["bears_on_call"]]) for row in reasons),
        "signs": _signs([row["bears_on_call"] for row in reasons]),
        "futures": tuple(futures.get("evidence") or ()),
        "record": asset_record(asset, due),
    }


def _chances(reasoning: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
    chances, base = reasoning.get("probabilities"), reasoning.get("base_rates")
    if chances is None or base is None:
        return ()
    names = (("up", "UP"), ("neutral", "FLAT"), ("down", "DOWN"))
    return tuple(
        (f"{BIAS_MARKS[word]} {word}", percent(100 * chances[key]), percent(100 * base[key])) for key, word in names
    )


def _ranges(ranges: Mapping[str, Mapping[str, float]], now: float | None) -> tuple[tuple[str, ...], ...]:
    """Return each horizon with its two ranges, as prices and in percent."""
    return tuple(
        (
            HORIZON_WORDS[horizon],
            *(text for level in ("50", "90") for text in _ends(row[f"low_{level}"], row[f"high_{level}"], now)),
        )
        for horizon, row in ranges.items()
    )


def _ends(low: float, high: float, now: float | None) -> tuple[str, str]:
    prices = "" if now is None else f"{price(now * (1 + low / 100))} to {price(now * (1 + high / 100))}"
    return prices, f"{signed(low)} to {signed(high)}"


def _signs(bears: Sequence[str]) -> str:
    agree, against = bears.count("for"), bears.count("against")
    if not agree and not against:
        return "No sign speaks for or against this forecast."
    verb = "agrees" if agree == 1 else "agree"
    return f"{count(agree, 'sign')} {verb} with this forecast, {against} {'does' if against == 1 else 'do'} not."


def asset_record(asset: str, due: Sequence[PredictionMade]) -> str:
    """Say what the ranges and forecasts of one asset were worth over the newest hours that are listed."""
    mine = [made for made in due if made.asset == asset and made.outcome is not None]
    live = [made for made in mine if not made.warm_up]
    if live:
        return _said(live)
    tested = _said(mine, backtest=True) if mine else ""
    return f"None of its forecasts has been scored yet. {tested}".strip()


def _said(made: Sequence[PredictionMade], *, backtest: bool = False) -> str:
    """Say what forecasts were worth; all of them are live, or of the backtest."""
    tested = ", in a backtest before the start," if backtest else ""
    hits = rate(sum(one.outcome == one.prediction for one in made), len(made), backtest=backtest)
    way = f"Which way{tested.rstrip(',')}: {counted(hits, 'forecasts')} were right{_judged(hits)}."

    sums = RangeSums().plus(case for one in made for case in new_cases(None, one))
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
