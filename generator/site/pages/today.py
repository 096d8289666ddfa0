"""Today's example of a term: one sentence from the bodies of the same release; a fact that is unknown gives none."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from generator.arena.values import PredictionMade
from generator.catalog.assets import ASSET_NAMES, DEFAULT_ASSET
from generator.catalog.durations import DAY_MS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.text.labels import REGIME
from generator.catalog.words import RegimeLabel, SourceMode
from generator.site.words.format import moment, percent, signed, usd

NAME: Final = ASSET_NAMES[DEFAULT_ASSET]


def examples(
    bodies: Mapping[str, Mapping[str, Any]], due: Sequence[PredictionMade], now_ms: int, mode: SourceMode
) -> dict[str, str]:
    """Return the sentence of each term that has one.

    Args:
        due: hourly forecasts that came due or were void, newest first.
    """
    body = {name: bodies[ENDPOINT_BY_ID[name].path] for name in ("market-regime", "main-brain")}
    assets = {name: bodies[ENDPOINT_BY_ID[name].path]["assets"] for name in ("derivatives", "liquidity-lite")}
    coin = body["main-brain"]["coins"][DEFAULT_ASSET]
    said = [
        *_regime(body["market-regime"]["regime"], coin),
        *_ranges(coin.get("ranges") or {}),
        *_futures(assets["derivatives"][DEFAULT_ASSET]),
        *_book(assets["liquidity-lite"][DEFAULT_ASSET]),
        *_realised([made for made in due if made.asset == DEFAULT_ASSET][:1], now_ms),
    ]
    when = "In the replay" if mode is SourceMode.RECORDED else "Today"
    return {term: f"{when}: {sentence}." for term, sentence in said}


def _regime(regime: Mapping[str, Any], coin: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    label = RegimeLabel(regime["label"])
    if label is not RegimeLabel.UNKNOWN:
        yield "regime", f"{'there is' if label is RegimeLabel.TRANSITION else 'the regime is'} {REGIME[label]}"
        forecast = "" if coin["confidence"] is None else f", in {NAME}'s forecast {percent(coin['confidence'])}"
        yield "confidence", f"confidence in the regime is {percent(regime['confidence'])}{forecast}"


def _ranges(ranges: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, str]]:
    if hour := ranges.get("1h"):
        nine, half = (f"{signed(hour[f'low_{level}'])} and {signed(hour[f'high_{level}'])}" for level in (90, 50))
        yield "range", f"nine times in ten, {NAME} should end the next hour between {nine}"
        yield "50% range", f"one time in two, {NAME} should end the next hour between {half}"


def _futures(asset: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if funding := asset["funding"]:
        rate = funding["rate_8h_percent"]
        pays = "longs pay shorts" if rate > 0 else "shorts pay longs" if rate < 0 else "neither side pays"
        yield "funding", f"{NAME}'s funding is {signed(rate, 4)} per 8 hours: {pays}"
    interest = asset["open_interest"] or {}
    if interest.get("contracts") is not None:
        worth = "" if interest.get("usd") is None else f", worth {usd(interest['usd'])}"
        yield "open interest", f"futures on {interest['contracts']:,.0f} {DEFAULT_ASSET} are open{worth}"


def _book(asset: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if asset["spread_bps"] is not None:
        yield "spread", f"{NAME}'s best bid and best ask are {asset['spread_bps']:.3g} basis points apart"
    if asset["depth_1pct_usd"] is not None:
        yield "depth", f"bids and asks worth {usd(asset['depth_1pct_usd'])} rest within 1% of {NAME}'s price"


def _realised(newest: Sequence[PredictionMade], now_ms: int) -> Iterator[tuple[str, str]]:
    """Read what the record keeps of the day before the newest hour that came due."""
    for made in newest:
        if (said := (made.ranges or {}).get("1h")) and now_ms - made.start_ms < DAY_MS:
            hour, sigma = f"{moment(made.start_ms):%H:%M} UTC", percent(said.last_day, 2)
            yield "realised volatility", f"over the day before {hour}, {NAME}'s realised volatility was {sigma} an hour"
