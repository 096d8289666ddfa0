"""/now.json: the market now in one small file, without the envelope of the answers."""

from collections.abc import Sequence
from typing import Final

from pydantic import Field

from generator.catalog import links, words
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import fixed, iso
from generator.catalog.text.answers import DISCLAIMER
from generator.compose.body import Body
from generator.compose.envelope import BaseResponse, as_of, replay
from generator.compose.inputs import reading_of
from generator.compose.plots import LADDER_HOURS
from generator.compose.tick import Tick

_DECIMALS: Final = 2


class NowAsset(Body):
    """One asset now; null is unknown, and its reasoning says why."""

    price: float | None = Field(description="Price in US dollars, 6 significant digits.")
    change_24h: float | None = Field(description="Change over 24 hours, percent.")
    change_1h: float | None = Field(description="Change over the last hour of closed bars, percent.")
    side: words.MarketSide = Field(description="Side of its last 24 hours.")
    volatility: words.VolatilityWord = Field(description="How rough the next four hours look in its kept record.")
    ranges: dict[str, tuple[float, float, float, float]] | None = Field(
        description="Horizon to low_90, low_50, high_50 and high_90 of the move from now, percent."
    )
    move_chance: float | None = Field(description="Chance that the next hour ends beyond a small move's band, 0..1.")


class NowLadder(Body):
    """How likely Bitcoin moves beyond a few levels in the next four hours, either way."""

    levels_percent: tuple[float, ...] = Field(description="Moves from the price now, either way, percent.")
    end_either: tuple[float, ...] = Field(description="That it ends beyond the level, 0..1.")
    touch_either: tuple[float, ...] = Field(description="That it goes beyond it on the way, 0..1.")


class NowQuestion(Body):
    """The daily question that takes answers now."""

    question_id: str = Field(description="Such as BTC-DAILY-20261124.")
    closes: str = Field(description="When it takes no more answers, ISO 8601 UTC.")


class NowFile(BaseResponse):
    """The market now in under 1,000 tokens."""

    as_of: str = Field(description="Market time, ISO 8601 UTC.")
    valid_until: str = Field(description="Past this wall time it says nothing about now, ISO 8601 UTC.")
    source_mode: words.SourceMode = Field(description="live, recorded or simulated; only live is a market.")
    headline: str = Field(description="The news of the market.")
    side: words.MarketSide = Field(description="Side of the market's last 24 hours.")
    volatility: words.VolatilityWord = Field(description="How rough the market's next four hours look in the record.")
    assets: dict[str, NowAsset] = Field(description="Asset symbol to what is known of it now.")
    btc_4h: NowLadder | None = Field(description="Chances of moves of Bitcoin; null where unknown or not about it.")
    question: NowQuestion | None = Field(description="The daily question; null while none takes answers.")
    links: dict[str, str] = Field(description="Where more is said.")
    disclaimer: str = Field(description="For education only, and what it is not.")


def now_file(ctx: Tick, assets: Sequence[str] = ASSETS) -> NowFile:
    """Compose the market now, of some assets."""
    axes = ctx.regime.axes
    return NowFile(
        success=True,
        project=ctx.site.project,
        as_of=as_of(ctx),
        valid_until=iso(ctx.freshness.valid_until_ms),
        source_mode=ctx.observation.mode,
        headline=ctx.headline,
        side=axes.side,
        volatility=axes.swings,
        assets={asset: _asset(ctx, asset) for asset in assets},
        btc_4h=_ladder(ctx) if DEFAULT_ASSET in assets else None,
        question=_question(ctx),
        links={
            "reasons": ENDPOINT_BY_ID["reasoning"].path,
            "record": links.TRACK_RECORD,
            "question": links.DAILY,
            "guide": links.LLMS_TXT,
        },
        disclaimer=DISCLAIMER,
        replay=replay(ctx),
    )


def _asset(ctx: Tick, asset: str) -> NowAsset:
    # As in the answers, number for number.
    quote = ctx.quotes[asset]
    forecast = ctx.forecasts[asset]
    read = reading_of(ctx, asset)
    hour = read.facts.hour if read else None

    return NowAsset(
        price=quote.price,
        change_24h=quote.change_24h,
        change_1h=None if hour is None else fixed(100 * hour, _DECIMALS),
        side=read.side if read else words.MarketSide.UNKNOWN,
        volatility=read.volatility if read else words.VolatilityWord.UNKNOWN,
        ranges={name: move.ends for name, move in forecast.ranges.items()} if forecast.ranges else None,
        move_chance=forecast.move.chance if forecast.move else None,
    )


def _ladder(ctx: Tick) -> NowLadder | None:
    read = reading_of(ctx, DEFAULT_ASSET)
    if read is None or read.ladder is None:
        return None
    levels = read.ladder[LADDER_HOURS]
    return NowLadder(
        levels_percent=tuple(level.level for level in levels),
        end_either=tuple(level.end.either for level in levels),
        touch_either=tuple(level.touch.either for level in levels),
    )


def _question(ctx: Tick) -> NowQuestion | None:
    question = next((asked for asked in ctx.arena.daily if asked.phase is words.RoundPhase.OPEN), None)
    if question is None:
        return None
    return NowQuestion(question_id=question.question_id, closes=iso(question.closes_ms))
