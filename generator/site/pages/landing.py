"""What the landing page shows, worked out from the tick and from the bodies as published."""

from typing import Final, NamedTuple

from markupsafe import Markup

from generator.catalog.assets import ASSET_NAMES, ASSETS
from generator.catalog.formats import chance_percent
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
from generator.catalog.text.figures import UNKNOWN, duration, percent, price, signed, usd
from generator.catalog.text.labels import STATE
from generator.catalog.text.now import call_sentence
from generator.catalog.text.state import ROUGHNESS, side_words
from generator.catalog.words import DerivativesState, MarketSide, RegimeLabel
from generator.compose.free import FreeBodies
from generator.compose.inputs import missing_reason
from generator.compose.main_brain import CoinSnapshot
from generator.compose.market_regime import MarketRegimeResponse
from generator.compose.regime import Regime
from generator.compose.tick import Tick
from generator.market.bars import BAR_MS
from generator.site.charts.now import sparkline
from generator.site.charts.plot import Chart
from generator.site.charts.ranges import hour_ranges
from generator.site.pages.arena import brain_words, crowd_words
from generator.site.pages.record import Fact, direction
from generator.site.words.format import word
from generator.site.words.record import far_sentence
from generator.values.rounds import Lesson, Round

_IN_BANNER: Final = frozenset({SIMULATED_NOTICE, RECORDED_NOTICE, PLAY_NOTICE})
NO_FUTURES: Final = "There is no futures reading at the moment."


class AssetRow(NamedTuple):
    """One asset: its row in the table of prices, and in that of order books and futures."""

    asset: str
    name: str
    path: str
    price: str
    change: str
    range: str
    move: str
    spark: Markup | None
    liquidity: str
    structure: str
    spread: str
    futures: str
    funding: str
    open_interest: str

    @property
    def books_known(self) -> bool:
        """Whether anything is known of its order books and futures."""
        of_books = (self.liquidity, self.spread, self.structure, self.futures, self.funding, self.open_interest)
        return any(shown != UNKNOWN for shown in of_books)


class RegimeCard(NamedTuple):
    """The regime; `why_unknown` is a clause."""

    headline: str
    summary: str
    known: bool
    why_unknown: str
    facts: tuple[Fact, ...]


class ArenaLine(NamedTuple):
    """The live round in a line."""

    live: Round | None
    crowd: str
    brain: str


class Landing(NamedTuple):
    """The market now; every text is ready, `unknown` where there is no number."""

    books_known: bool
    regime: RegimeCard
    far_chart: Chart | None
    call: str
    worth: str
    first_screen: str
    chart: Markup | None
    rows: tuple[AssetRow, ...]
    futures_summary: str
    arena: ArenaLine
    lesson: Lesson | None
    direction: str
    missing: tuple[str, ...]


def landing(ctx: Tick, bodies: FreeBodies, chart: Markup | None = None) -> Landing:
    """Return what pages/index.html reads as `now`."""
    rows = tuple(_row(asset, ctx, bodies) for asset in ASSETS)

    return Landing(
        books_known=any(row.books_known for row in rows),
        regime=_regime(ctx, bodies.market_regime),
        far_chart=hour_ranges(ctx),
        call=call_sentence(ctx.market_now),
        worth=_worth(ctx),
        first_screen=bodies.main_brain.summary,
        chart=chart,
        rows=rows,
        futures_summary=bodies.derivatives.summary or NO_FUTURES,
        arena=_arena(ctx),
        lesson=next(iter(ctx.arena.lessons), None),
        direction=direction(ctx.arena.hourly_record),
        missing=missing(ctx, bodies),
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


def _arena(ctx: Tick) -> ArenaLine:
    live = ctx.arena.live
    return ArenaLine(live, crowd_words(ctx), brain_words(live))


def _worth(ctx: Tick) -> str:
    """Say what the ranges were worth; where nothing is forecast, nothing is scored, and why."""
    if ctx.reading is None and not ctx.arena.how_far:
        return f"Nothing is forecast, so nothing is scored: {clause(missing_reason(ctx))}."
    return far_sentence(ctx.arena, ctx.freshness.generated_ms)


def _regime(ctx: Tick, body: MarketRegimeResponse) -> RegimeCard:
    regime = body.regime
    known = regime.label is not RegimeLabel.UNKNOWN

    rank = UNKNOWN if regime.risk_score is None else f"{regime.risk_score:.1f}"

    facts = (
        Fact(
            "Volatility",
            ROUGHNESS[regime.volatility],
            "how rough the next four hours look, against the whole record",
        ),
        _side(regime),
        Fact("Breadth", percent(regime.breadth_percent), "of the assets rose more than 0.1% in 24 hours"),
        Fact("Risk score", rank, "where the volatility of the next four hours ranks on record, of 100"),
        Fact("State", regime.state.value, f"{STATE[regime.state]}; a description, not an order"),
        Fact("Confidence", percent(regime.confidence), "how likely this label still stands in four hours"),
        Fact("This label for", duration(regime.dwell_minutes), ""),
    )
    return RegimeCard(
        headline=body.headline,
        summary=body.summary,
        known=known,
        why_unknown=_why_unknown(ctx),
        facts=tuple(map(_without_meaning_if_unknown, facts)),
    )


def _side(regime: Regime) -> Fact:
    """Return what the last 24 hours of the market were."""
    side = regime.axes.side
    shown = UNKNOWN if side is MarketSide.UNKNOWN else side_words(side).removeprefix("a ")
    return Fact("Last 24 hours", shown, "by their move against a usual day's")


def _without_meaning_if_unknown(fact: Fact) -> Fact:
    return fact._replace(meaning="") if fact.value == UNKNOWN else fact


def _why_unknown(ctx: Tick) -> str:
    """Say why nothing is read, as a clause."""
    if ctx.reading is None:
        return clause(missing_reason(ctx))
    if ctx.observation.bar_interval_ms != BAR_MS:
        return clause(NEEDS_5_MINUTE_BARS)
    if ctx.observation.ended:
        return "the recording has ended"
    return clause(next(iter(ctx.reading.limitations), BARS_MISSING))


def _row(asset: str, ctx: Tick, bodies: FreeBodies) -> AssetRow:
    coin = bodies.main_brain.coins[asset]
    book = bodies.liquidity_lite.assets[asset]
    futures = bodies.derivatives.assets[asset]

    spread = UNKNOWN if book.spread_bps is None else f"{book.spread_bps:.3g} bps"
    state = None if futures.state is DerivativesState.UNAVAILABLE else futures.state
    interest_usd = futures.open_interest.usd if futures.open_interest else None

    return AssetRow(
        asset=asset,
        name=ASSET_NAMES[asset],
        path=asset_path(asset),
        price=price(coin.price),
        change=signed(coin.change_24h),
        range=_hour_range(coin),
        move=_move(coin),
        spark=sparkline(asset, ctx.closes.get(asset, ()), coin.change_24h),
        liquidity=word(book.liquidity_context),
        structure=word(book.market_structure),
        spread=spread,
        futures=word(state),
        funding=signed(_funding_rate(bodies, asset), 4),
        open_interest=usd(interest_usd),
    )


def _hour_range(coin: CoinSnapshot) -> str:
    """Write the 90% range of the next hour in percent."""
    hour = (coin.ranges or {}).get(HOUR)
    if hour is None:
        return UNKNOWN
    return f"{signed(hour.low_90)} to {signed(hour.high_90)}"


def _move(coin: CoinSnapshot) -> str:
    """Write the chance of a move beyond the band next to its base rate."""
    if coin.move is None:
        return UNKNOWN
    return f"{percent(chance_percent(coin.move.chance))} (usually {percent(chance_percent(coin.move.base_rate))})"


def _funding_rate(bodies: FreeBodies, asset: str) -> float | None:
    """Return what longs pay shorts every 8 hours, percent; None where it is not known."""
    funding = bodies.derivatives.assets[asset].funding
    return funding.rate_8h_percent if funding else None
