"""What the landing page shows, worked out from the tick and from the bodies as published."""

import json
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.horizons import HOUR
from generator.catalog.links import asset_path
from generator.catalog.text.answers import (
    BARS_MISSING,
    NEEDS_5_MINUTE_BARS,
    PLAY_NOTICE,
    RECORDED_NOTICE,
    SIMULATED_NOTICE,
    clause,
)
from generator.catalog.text.figures import UNKNOWN, price, signed_size
from generator.catalog.text.state import ROUGHNESS
from generator.catalog.words import RegimeLabel
from generator.compose.free import FreeBodies
from generator.compose.inputs import missing_reason
from generator.compose.tick import Tick
from generator.market.bars import BAR_MS
from generator.site.charts.now import sparkline
from generator.site.pages.daily import Daily, daily_view
from generator.site.words.record import far_sentence

EXAMPLE: Final = next(row.path for row in ENDPOINTS if row.path.startswith("/api/reasoning"))
_IN_BANNER: Final = frozenset({SIMULATED_NOTICE, RECORDED_NOTICE, PLAY_NOTICE})


class Chip(NamedTuple):
    """A fact in a word or two, and what it means, which a press shows."""

    name: str
    shown: str
    meaning: str


class CoinLink(NamedTuple):
    """A coin: its page, and the line of its last day."""

    asset: str
    path: str
    spark: Markup | None


class Landing(NamedTuple):
    """The market now; every text is ready."""

    headline: str
    first_screen: str
    chips: tuple[Chip, ...]
    daily: Daily
    worth: str
    coins: tuple[CoinLink, ...]
    example: str  # a path
    answer: str  # what it returns, shortened; JSON


def landing(ctx: Tick, bodies: FreeBodies) -> Landing:
    """Return what pages/index.html reads as `now`."""
    known = bodies.market_regime.regime.label is not RegimeLabel.UNKNOWN
    why_unknown = "" if known else _why_unknown(ctx)

    return Landing(
        headline=bodies.market_regime.headline,
        first_screen=bodies.main_brain.summary,
        chips=_chips(bodies, why_unknown),
        daily=daily_view(ctx),
        worth=_worth(ctx),
        coins=tuple(_coin(asset, ctx, bodies) for asset in ASSETS),
        example=EXAMPLE,
        answer=_answer(bodies),
    )


def missing(ctx: Tick, bodies: FreeBodies) -> tuple[str, ...]:
    """List what the answers call unknown or restricted, each reason once, with the assets it concerns."""
    of_answers = (
        *ctx.observation.limitations,
        *bodies.market_regime.limitations,
        *bodies.main_brain.limitations,
        *(bodies.derivatives.limitations or ()),
    )
    general = list(dict.fromkeys(of_answers))

    assets_by_reason: dict[str, list[str]] = {}
    for asset in ASSETS:
        for reason in dict.fromkeys(_asset_limitations(bodies, asset)):
            assets_by_reason.setdefault(reason, []).append(asset)

    own = []
    for reason, assets in assets_by_reason.items():
        if reason in general:
            continue
        if len(assets) == len(ASSETS):
            own.append(reason)
        else:
            own.append(f"{', '.join(assets)}: {reason}")
    return tuple(reason for reason in (*general, *own) if reason not in _IN_BANNER)


def _asset_limitations(bodies: FreeBodies, asset: str) -> tuple[str, ...]:
    """Return what the answers call unknown of one asset; a reason may come more than once."""
    coin = bodies.main_brain.coins[asset]
    book = bodies.liquidity_lite.assets[asset]
    futures = bodies.derivatives.assets[asset]
    return (*coin.limitations, *book.limitations, *(futures.limitations or ()))


def _chips(bodies: FreeBodies, why_unknown: str) -> tuple[Chip, ...]:
    """Return price, day and state."""
    coin = bodies.main_brain.coins[DEFAULT_ASSET]
    regime = bodies.market_regime
    state = f"The regime is unknown: {why_unknown}." if why_unknown else regime.summary

    return (
        Chip("price", price(coin.price), "The price of one bitcoin in US dollars."),
        Chip("day", UNKNOWN if coin.change_24h is None else signed_size(coin.change_24h), "Its change over 24 hours."),
        Chip("state", ROUGHNESS[regime.regime.volatility], state),
    )


def _coin(asset: str, ctx: Tick, bodies: FreeBodies) -> CoinLink:
    change = bodies.main_brain.coins[asset].change_24h
    return CoinLink(asset, asset_path(asset), sparkline(asset, ctx.closes.get(asset, ()), change))


def _answer(bodies: FreeBodies) -> str:
    """Write what the example returns, shortened to what the page speaks of."""
    coin = bodies.main_brain.coins[DEFAULT_ASSET]
    hour = (coin.ranges or {}).get(HOUR)
    ranges: dict[str, Any] | None = None
    if hour is not None:
        ranges = {HOUR: {"low_90": hour.low_90, "high_90": hour.high_90}}
    return json.dumps({"reasoning": {"ranges": ranges}})


def _worth(ctx: Tick) -> str:
    """Say what the ranges were worth; where nothing is forecast, nothing is scored, and why."""
    if ctx.reading is None and not ctx.arena.how_far:
        return f"Nothing is forecast, so nothing is scored: {clause(missing_reason(ctx))}."
    return far_sentence(ctx.arena, ctx.freshness.generated_ms)


def _why_unknown(ctx: Tick) -> str:
    """Say why nothing is read, as a clause."""
    if ctx.reading is None:
        return clause(missing_reason(ctx))
    if ctx.observation.bar_interval_ms != BAR_MS:
        return clause(NEEDS_5_MINUTE_BARS)
    if ctx.observation.ended:
        return "the recording has ended"
    return clause(next(iter(ctx.reading.limitations), BARS_MISSING))
