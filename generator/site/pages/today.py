"""Today's example of a term: one sentence from the bodies of the same release; a fact that is unknown gives none."""

from collections.abc import Iterator, Sequence
from typing import Final

from generator.catalog.assets import ASSET_NAMES, DEFAULT_ASSET
from generator.catalog.durations import DAY_MS
from generator.catalog.text import figures
from generator.catalog.text.figures import percent, signed, usd
from generator.catalog.text.labels import REGIME
from generator.catalog.words import RegimeLabel, SourceMode
from generator.compose.derivatives import DerivativesAsset, Funding
from generator.compose.free import FreeBodies
from generator.compose.liquidity_lite import LiquidityLiteAsset
from generator.compose.main_brain import CoinSnapshot
from generator.compose.regime import Regime
from generator.values.hours import PredictionMade
from generator.values.market import OpenInterest

NAME: Final = ASSET_NAMES[DEFAULT_ASSET]


def examples(bodies: FreeBodies, due: Sequence[PredictionMade], now_ms: int, mode: SourceMode) -> dict[str, str]:
    """Return the sentence of each term that has one.

    Args:
        due: hourly forecasts that came due or were void, newest first.
    """
    coin = bodies.main_brain.coins[DEFAULT_ASSET]
    own_due = (prediction for prediction in due if prediction.asset == DEFAULT_ASSET)

    sentences = [
        *_regime(bodies.market_regime.regime, coin),
        *_ranges(coin),
        *_futures(bodies.derivatives.assets[DEFAULT_ASSET]),
        *_book(bodies.liquidity_lite.assets[DEFAULT_ASSET]),
        *_realised(next(own_due, None), now_ms),
    ]

    when = "In the replay" if mode is SourceMode.RECORDED else "Today"
    return {term: f"{when}: {sentence}." for term, sentence in sentences}


def _regime(regime: Regime, coin: CoinSnapshot) -> Iterator[tuple[str, str]]:
    if regime.label is RegimeLabel.UNKNOWN:
        return

    yield "regime", f"the regime is {REGIME[regime.label]}"

    confidence = f"confidence in the regime is {percent(regime.confidence)}"
    if coin.confidence is not None:
        confidence += f", in {NAME}'s forecast {percent(coin.confidence)}"
    yield "confidence", confidence


def _ranges(coin: CoinSnapshot) -> Iterator[tuple[str, str]]:
    hour = (coin.ranges or {}).get("1h")
    if hour is None:
        return

    nine = f"{signed(hour.low_90)} and {signed(hour.high_90)}"
    half = f"{signed(hour.low_50)} and {signed(hour.high_50)}"
    yield "range", f"nine times in ten, {NAME} should end the next hour between {nine}"
    yield "50% range", f"one time in two, {NAME} should end the next hour between {half}"


def _futures(asset: DerivativesAsset) -> Iterator[tuple[str, str]]:
    if asset.funding:
        yield "funding", _funding(asset.funding)
    if asset.open_interest and asset.open_interest.contracts is not None:
        yield "open interest", _open_interest(asset.open_interest, asset.open_interest.contracts)


def _funding(funding: Funding) -> str:
    rate = funding.rate_8h_percent
    if rate > 0:
        who_pays = "longs pay shorts"
    elif rate < 0:
        who_pays = "shorts pay longs"
    else:
        who_pays = "neither side pays"
    return f"{NAME}'s funding is {signed(rate, 4)} per 8 hours: {who_pays}"


def _open_interest(interest: OpenInterest, contracts: float) -> str:
    open_now = f"futures on {contracts:,.0f} {DEFAULT_ASSET} are open"
    if interest.usd is None:
        return open_now
    return f"{open_now}, worth {usd(interest.usd)}"


def _book(asset: LiquidityLiteAsset) -> Iterator[tuple[str, str]]:
    if asset.spread_bps is not None:
        yield "spread", f"{NAME}'s best bid and best ask are {asset.spread_bps:.3g} basis points apart"
    if asset.depth_1pct_usd is not None:
        yield "depth", f"bids and asks worth {usd(asset.depth_1pct_usd)} rest within 1% of {NAME}'s price"


def _realised(newest: PredictionMade | None, now_ms: int) -> Iterator[tuple[str, str]]:
    """Read what the record keeps of the day before the newest hour that came due."""
    if newest is None or now_ms - newest.start_ms >= DAY_MS:
        return
    ranges = (newest.ranges or {}).get("1h")
    if ranges is None:
        return

    hour = f"{figures.clock(newest.start_ms)} UTC"
    sigma = percent(ranges.last_day, 2)
    yield "realised volatility", f"over the day before {hour}, {NAME}'s realised volatility was {sigma} an hour"
