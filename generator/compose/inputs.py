"""How complete the inputs of a tick are: the status words and the limitations of every body."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from generator.brain.derivatives import NO_PRESSURE, Pressure
from generator.brain.reading import AssetReading
from generator.catalog.assets import ASSETS
from generator.catalog.counts import listed
from generator.catalog.durations import DAY_MS, MINUTE_MS
from generator.catalog.text import answers
from generator.catalog.text.labels import NO_FUTURES
from generator.catalog.text.ladder import OTHER_BARS, TOO_SHORT
from generator.catalog.text.readings import NO_BOOK, SOME_MISSING
from generator.catalog.words import DerivativesState, Side, SourceMode, SourceStatus, Status
from generator.compose.context import TickContext
from generator.market.bars import BAR_MS
from generator.values.market import SourceRow

FRESH_MS: Final = 180_000
FEWEST: Final = 3  # assets of which a word for all can be said
OLD_BAR_MS: Final = 2 * BAR_MS
ENOUGH_BARS: Final = int(0.95 * 30 * DAY_MS / BAR_MS)  # of a month: sources have holes
_KINDS: Final = {
    "order book": "book", "funding": "funding", "open interest": "open_interest", "liquidations": "liquidations",
}  # fmt: skip
_MODE_NOTICE: Final = {SourceMode.SIMULATED: answers.SIMULATED_NOTICE, SourceMode.RECORDED: answers.RECORDED_NOTICE}


def reading_of(ctx: TickContext, asset: str) -> AssetReading | None:
    """Return what the brain says of an asset; None without a reading."""
    return ctx.reading.assets.get(asset) if ctx.reading else None


def futures_of(ctx: TickContext, asset: str) -> Pressure:
    """Return the derivatives word of an asset, from the reading or, without one, from funding and contracts alone."""
    read = reading_of(ctx, asset)
    return read.pressure if read else ctx.futures.get(asset, NO_PRESSURE)


def fresh(ctx: TickContext, asset: str) -> bool:
    """Return whether an asset has a price that is not older than the source's own step allows."""
    seen = ctx.seen[asset]
    if seen.price is None or seen.price_as_of_ms is None or ctx.observation.ended:
        return False

    # A recording has one price a bar.
    step_ms = ctx.observation.bar_interval_ms if ctx.observation.mode is SourceMode.RECORDED else 0
    return ctx.observation.market_ms - seen.price_as_of_ms <= FRESH_MS + step_ms


def verified(ctx: TickContext) -> int:
    """Count the assets with a fresh price."""
    return sum(fresh(ctx, asset) for asset in ASSETS)


def graded(parts: Iterable[bool], *, readable: bool) -> Status:
    """Turn present and missing inputs into a status word."""
    if not readable:
        return Status.UNAVAILABLE
    return Status.AVAILABLE if all(parts) else Status.DEGRADED


def market_status(ctx: TickContext) -> Status:
    """Grade the tick: every source, every price, and every family of evidence of each asset."""
    sources = [source.status is SourceStatus.OK for source in ctx.observation.sources]
    prices = [fresh(ctx, asset) for asset in ASSETS]
    return graded([*sources, *prices, _read_whole(ctx)], readable=any(prices))


def _read_whole(ctx: TickContext) -> bool:
    """Say whether the reading is of a recent bar and has every family of evidence of each asset."""
    if ctx.reading is None or reading_age(ctx):
        return False
    return all(_whole(read) for read in ctx.reading.assets.values())


_OF_LONG_RECORDS: Final = {"week", "volume"}  # what a young record lacks, though every input is there
_OF_FUTURES: Final = {"funding", "interest"}


def _whole(read: AssetReading) -> bool:
    """Say whether every family of evidence has its data; a derivatives state that is merely young has it."""
    missing = {row.family for row in read.evidence if row.side is Side.MISSING} - _OF_LONG_RECORDS
    if not missing:
        return True
    return missing <= _OF_FUTURES and read.pressure.state is not DerivativesState.UNAVAILABLE


def status_over(market: Status, assets: Iterable[Status | None]) -> Status:
    """Grade an answer by its own assets as well as by the status of the whole tick."""
    words = set(assets)
    if words == {Status.UNAVAILABLE}:
        return Status.UNAVAILABLE
    if words == {Status.AVAILABLE}:
        return market
    return Status.DEGRADED


def reading_age(ctx: TickContext) -> tuple[str, ...]:
    """Say that the reading is of an old bar; nothing while bars come in time."""
    if ctx.reading is None:
        return ()

    # A bar is dated by its start, and known from its close on.
    age_ms = ctx.observation.market_ms - (ctx.reading.t_ms + BAR_MS)
    if age_ms <= OLD_BAR_MS:
        return ()
    return (f"the last closed bar is {age_ms // MINUTE_MS} minutes old",)


def commonest(words: Iterable[str], tie: str) -> str | None:
    """Return the word that most assets have, `tie` where two lead, None with fewer than three words."""
    counted = Counter(words)
    if counted.total() < FEWEST:
        return None

    # Two are enough: only the second can tie with the first.
    (first, most), *others = counted.most_common(2)
    for _, count in others:
        if count == most:
            return tie
    return first


def has_a_month(ctx: TickContext) -> bool:
    """Return whether the kept bars are a month of 5-minute bars."""
    return without_a_month(ctx) is None


def without_a_month(ctx: TickContext) -> str | None:
    """Say why what needs a month of 5-minute bars cannot be given; None where there is one."""
    step_ms = ctx.observation.bar_interval_ms
    if step_ms != BAR_MS:
        return OTHER_BARS.format(minutes=step_ms // MINUTE_MS)
    bars = 0 if ctx.bars is None else len(ctx.bars)
    if bars < ENOUGH_BARS:
        return TOO_SHORT.format(days=bars * BAR_MS / DAY_MS)
    return None


def until_a_month_ms(ctx: TickContext) -> int | None:
    """Return how long the market must run until there is a month of 5-minute bars; None where it never will."""
    if ctx.observation.ended or ctx.observation.bar_interval_ms != BAR_MS:
        return None
    bars = 0 if ctx.bars is None else len(ctx.bars)
    return max(0, ENOUGH_BARS - bars) * BAR_MS


def missing_reason(ctx: TickContext) -> str:
    """Say why there is no reading."""
    if answers.NOT_STARTED in ctx.observation.limitations:
        return answers.NOT_STARTED
    if ctx.observation.ended:
        return answers.RECORDING_ENDED
    if ctx.observation.bar_interval_ms != BAR_MS:
        return answers.NEEDS_5_MINUTE_BARS
    return answers.BARS_MISSING


def unique(texts: Iterable[str]) -> tuple[str, ...]:
    """Drop repeats, keeping the order."""
    return tuple(dict.fromkeys(texts))


def market_limitations(ctx: TickContext, lacked: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Name what is restricted in the whole tick: the mode, the sources, the reading, the missing assets.

    Args:
        lacked: kind of data -> the assets that lack it.
    """
    limits = []

    if ctx.observation.mode in _MODE_NOTICE:
        limits.append(_MODE_NOTICE[ctx.observation.mode])
    if ctx.site.play:
        limits.append(answers.PLAY_NOTICE)
    if answers.NOT_STARTED in ctx.observation.limitations:
        # No source has been asked, so nothing is said of any.
        return unique([answers.NOT_STARTED, *limits])

    limits += ctx.observation.limitations
    if not ctx.observation.ended:  # which says why nothing is fresh
        limits += _faulty_sources(ctx.observation.sources)
        limits += _stale_prices(ctx)

    if ctx.reading is None:
        limits.append(missing_reason(ctx))
    else:
        limits += [text for text in ctx.reading.limitations if text != SOME_MISSING or not _gaps_say_it(ctx)]
    return unique([*limits, *reading_age(ctx), *market_gaps(ctx, lacked)])


def _stale_prices(ctx: TickContext) -> list[str]:
    """Name the assets whose price is not fresh; one without any data is named elsewhere."""
    stale = [asset for asset in ASSETS if not fresh(ctx, asset) and not _has_nothing(ctx, asset)]
    if len(stale) == len(ASSETS):
        return ["no fresh price"]
    return [f"no fresh price: {', '.join(stale)}"] if stale else []


def _faulty_sources(sources: Iterable[SourceRow]) -> list[str]:
    """Name the sources that did not answer well, in one sentence for each fault."""
    every = tuple(sources)
    by_fault: dict[SourceStatus, list[str]] = {}
    for source in every:
        if source.status is not SourceStatus.OK:
            by_fault.setdefault(source.status, []).append(f"{source.name} ({source.kind})")
    return [
        f"every source is {fault}" if len(names) == len(every) else f"{fault} sources: {', '.join(names)}"
        for fault, names in by_fault.items()
    ]


def lacked_by(ctx: TickContext) -> dict[str, list[str]]:
    """Return kind of data apart from the price -> the assets that lack it."""
    return {
        kind: [asset for asset in ASSETS if getattr(ctx.seen[asset], field) is None] for kind, field in _KINDS.items()
    }


def lacked_by_all(lacked: Mapping[str, list[str]]) -> list[str]:
    """Return the kinds of data that no asset has: one sentence of the whole answer says so."""
    return [kind for kind, assets in lacked.items() if len(assets) == len(ASSETS)]


def market_gaps(ctx: TickContext, lacked: Mapping[str, list[str]]) -> list[str]:
    """Name the kinds of data that assets lack: in one sentence those that all lack, then each of the others.

    An asset without any data is named once.
    """
    nowhere = lacked_by_all(lacked)
    gaps = []
    if nowhere:
        gaps.append(f"no {listed(nowhere, 'or')}")

    lacking = {kind: assets for kind, assets in lacked.items() if kind not in nowhere}
    without_any = [asset for asset in ASSETS if _has_nothing(ctx, asset)]
    if without_any:
        gaps.append(f"no data for {', '.join(without_any)}")
    for kind, assets in lacking.items():
        others = [asset for asset in assets if asset not in without_any]
        if others:
            gaps.append(f"no {kind} for {', '.join(others)}")
    return gaps


def _gaps_say_it(ctx: TickContext) -> bool:
    """Say whether each asset without a reading is named as one without any data."""
    unread = [asset for asset in ASSETS if (read := reading_of(ctx, asset)) is None or read.regime_confidence is None]
    return all(_has_nothing(ctx, asset) for asset in unread)


def _has_nothing(ctx: TickContext, asset: str) -> bool:
    """Say whether an asset has neither a price nor any other data."""
    seen = ctx.seen[asset]
    return seen.price is None and all(getattr(seen, name) is None for name in _KINDS.values())


def forecast_reason(ctx: TickContext, asset: str) -> str:
    """Say why an asset has no forecast."""
    if ctx.reading is None:
        return missing_reason(ctx)

    read = reading_of(ctx, asset)
    if read and read.limitations:
        return "; ".join(read.limitations)
    return answers.BARS_MISSING


def said_once(by_asset: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return what is said of every asset alike, so that the whole answer says it once.

    >>> said_once({"BTC": ("too little history", "no funding"), "ETH": ("no funding",)})
    ('no funding',)
    """
    first, *others = by_asset.values()
    return tuple(text for text in first if all(text in limits for limits in others))


def asset_limitations(ctx: TickContext, asset: str, lacked: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Name what is unknown of one asset, and why; the source's own words come first.

    What the whole answer says of all assets is left out.
    """
    seen = ctx.seen[asset]
    if _has_nothing(ctx, asset):
        return unique([*seen.limitations, "no data"])

    nowhere = lacked_by_all(lacked)
    limits = [text for text in seen.limitations if not any(kind in text for kind in nowhere)]

    if seen.price is None:
        limits.append("no price")
    elif seen.change_24h_percent is None:
        limits.append("no price of 24 hours ago")

    read = reading_of(ctx, asset)
    if read and read.forecast is None and not read.limitations:
        limits.append(answers.BARS_MISSING)

    # The source's own words may have named a gap already; it is not named twice.
    stated = " ".join([*seen.limitations, *nowhere])
    for kind, assets in lacked.items():
        if asset in assets and kind not in stated:
            limits.append(f"no {kind} from any source")

    if read:
        said_of_all = {NO_BOOK, NO_FUTURES, *(ctx.reading.limitations if ctx.reading else ())}
        limits += [text for text in read.limitations if text not in said_of_all]
    return unique(limits)
