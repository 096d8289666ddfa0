"""How complete the inputs of a tick are: the status words and the limitations of every body."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from generator.brain.derivatives import NO_PRESSURE, Pressure
from generator.brain.reading import AssetReading
from generator.catalog.assets import ASSETS
from generator.catalog.durations import MINUTE_MS
from generator.catalog.text import answers
from generator.catalog.text.labels import NO_FUTURES
from generator.catalog.text.market import listed
from generator.catalog.text.readings import NO_BOOK
from generator.catalog.words import DerivativesState, Side, SourceMode, SourceStatus, Status
from generator.compose.context import TickContext
from generator.market.bars import BAR_MS
from generator.market.observation import AssetObservation

FRESH_MS: Final = 180_000
FEWEST: Final = 3  # assets of which a word for all can be said
OLD_BAR_MS: Final = 2 * BAR_MS
_KINDS: Final = {
    "order book": "book", "funding": "funding", "open interest": "open_interest", "liquidations": "liquidations",
}  # fmt: skip
_MODE_NOTICE: Final = {SourceMode.SIMULATED: answers.SIMULATED_NOTICE, SourceMode.RECORDED: answers.RECORDED_NOTICE}


def observed(ctx: TickContext, asset: str) -> AssetObservation:
    """Return what the tick knows of an asset; an empty observation where the source left it out."""
    return ctx.observation.assets.get(asset) or AssetObservation(asset, limitations=("not covered by this source",))


def reading_of(ctx: TickContext, asset: str) -> AssetReading | None:
    """Return what the brain says of an asset; None without a reading."""
    return ctx.reading.assets.get(asset) if ctx.reading else None


def futures_of(ctx: TickContext, asset: str) -> Pressure:
    """Return the derivatives word of an asset, from the reading or, without one, from funding and contracts alone."""
    read = reading_of(ctx, asset)
    return read.pressure if read else ctx.futures.get(asset, NO_PRESSURE)


def fresh(ctx: TickContext, asset: str) -> bool:
    """Return whether an asset has a price that is not older than the source's own step allows."""
    seen = observed(ctx, asset)
    if seen.price is None or seen.price_as_of_ms is None or ctx.observation.ended:
        return False
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
    readable = any(fresh(ctx, asset) for asset in ASSETS)
    sources = [source.status is SourceStatus.OK for source in ctx.observation.sources]
    prices = [fresh(ctx, asset) for asset in ASSETS]
    whole = ctx.reading is not None and not reading_age(ctx) and all(map(_whole, ctx.reading.assets.values()))
    return graded([*sources, *prices, whole], readable=readable)


def _whole(read: AssetReading) -> bool:
    """Say whether every family of evidence has its data; a derivatives state that is merely young has it."""
    missing = {row.family for row in read.evidence if row.side is Side.MISSING}
    return not missing or (missing == {"derivatives"} and read.pressure.state is not DerivativesState.UNAVAILABLE)


def status_over(ctx: TickContext, assets: Iterable[Status | None]) -> Status:
    """Grade an answer by its own assets as well as by the tick."""
    words = set(assets)
    if words == {Status.UNAVAILABLE}:
        return Status.UNAVAILABLE
    return market_status(ctx) if words == {Status.AVAILABLE} else Status.DEGRADED


def reading_age(ctx: TickContext) -> tuple[str, ...]:
    """Say that the reading is of an old bar; nothing while bars come in time."""
    if ctx.reading is None:
        return ()
    age_ms = ctx.observation.market_ms - (ctx.reading.t_ms + BAR_MS)
    return (f"the last closed bar is {age_ms // MINUTE_MS} minutes old",) if age_ms > OLD_BAR_MS else ()


def commonest(words: Iterable[str], tie: str) -> str | None:
    """Return the word that most assets have, `tie` where two lead, None with fewer than three words."""
    counted = Counter(words)
    if counted.total() < FEWEST:
        return None
    (first, count), *others = counted.most_common(2)
    return tie if others and others[0][1] == count else first


def missing_reason(ctx: TickContext) -> str:
    """Say why there is no reading."""
    if answers.NOT_STARTED in ctx.observation.limitations:
        return answers.NOT_STARTED
    if ctx.observation.ended:
        return answers.RECORDING_ENDED
    return answers.NEEDS_5_MINUTE_BARS if ctx.observation.bar_interval_ms != BAR_MS else answers.BARS_MISSING


def unique(texts: Iterable[str]) -> tuple[str, ...]:
    """Drop repeats, keeping the order."""
    return tuple(dict.fromkeys(texts))


def market_limitations(ctx: TickContext, *more: str) -> tuple[str, ...]:
    """Name what is restricted in the whole tick: the mode, the sources, the reading, the missing assets."""
    notice = _MODE_NOTICE.get(ctx.observation.mode)
    failed = (
        f"source {source.name} ({source.kind}) is {source.status}"
        for source in ctx.observation.sources
        if source.status is not SourceStatus.OK
    )
    stale = [asset for asset in ASSETS if not fresh(ctx, asset)]
    without = (f"no fresh price: {', '.join(stale)}",) if stale else ()
    said = ctx.reading.limitations if ctx.reading else (missing_reason(ctx),)
    first = (*([notice] if notice else []), *ctx.observation.limitations, *failed, *without)
    return unique([*first, *said, *reading_age(ctx), *market_gaps(ctx), *more])


def lacked_by(ctx: TickContext) -> dict[str, list[str]]:
    """Return kind of data apart from the price -> the assets that lack it."""
    return {
        kind: [asset for asset in ASSETS if getattr(observed(ctx, asset), field) is None]
        for kind, field in _KINDS.items()
    }


def lacked_by_all(ctx: TickContext) -> list[str]:
    """Return the kinds of data that no asset has: one sentence of the whole answer says so."""
    return [kind for kind, assets in lacked_by(ctx).items() if len(assets) == len(ASSETS)]


def market_gaps(ctx: TickContext) -> list[str]:
    """Name the kinds of data that assets lack."""
    nowhere = lacked_by_all(ctx)
    some = [
        f"no {kind} for {', '.join(assets)}"
        for kind, assets in lacked_by(ctx).items()
        if assets and kind not in nowhere
    ]
    return [*([f"no {listed(nowhere, 'or')} from any source"] if nowhere else []), *some]


def forecast_reason(ctx: TickContext, asset: str) -> str:
    """Say why an asset has no forecast."""
    read = reading_of(ctx, asset)
    if ctx.reading is None:
        return missing_reason(ctx)
    return "; ".join(read.limitations) if read and read.limitations else answers.BARS_MISSING


def asset_limitations(ctx: TickContext, asset: str, *more: str) -> tuple[str, ...]:
    """Name what is unknown of one asset, and why, but for what the whole answer says of all: the source's words first."""
    seen, read = observed(ctx, asset), reading_of(ctx, asset)
    nowhere = lacked_by_all(ctx)
    above = {NO_BOOK, NO_FUTURES, *(ctx.reading.limitations if ctx.reading else ())}
    said = [text for text in read.limitations if text not in above] if read else []
    own = [text for text in seen.limitations if not any(kind in text for kind in nowhere)]
    gaps = []
    if seen.price is None:
        gaps.append("no price")
    if seen.price is not None and seen.change_24h_percent is None:
        gaps.append("no price of 24 hours ago")
    if read is not None and read.forecast is None and not read.limitations:
        gaps.append(answers.BARS_MISSING)
    stated = " ".join([*seen.limitations, *nowhere])
    gaps += [
        f"no {kind} from any source"
        for kind, assets in lacked_by(ctx).items()
        if asset in assets and kind not in stated
    ]
    return unique([*own, *gaps, *said, *more])
