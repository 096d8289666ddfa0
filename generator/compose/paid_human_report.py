"""GET /api/x402-atlas-human-report.php, once paid: plain English."""

from collections.abc import Mapping
from typing import Final

from pydantic import Field

from generator.arena.rates import enough, share
from generator.arena.values import ForecastScores, Lesson
from generator.catalog.assets import ASSET_NAMES, ASSETS, DEFAULT_ASSET
from generator.catalog.counts import listed, quantity
from generator.catalog.formats import change, price
from generator.catalog.products import PRODUCT_BY_ID
from generator.catalog.text.answers import REPORT_LIMITS, REPORT_REPLAYED, REPORT_SIMULATED, REPORT_TITLE
from generator.catalog.text.forecast import drift_note
from generator.catalog.text.glossary import GLOSSARY
from generator.catalog.text.labels import FAMILY, LIQUIDITY, NO_CALL, OUTCOME
from generator.catalog.text.ladder import PARTITION
from generator.catalog.text.market import signed
from generator.catalog.words import Call, LiquidityContext, Side, SourceMode
from generator.compose.body import Body
from generator.compose.coins import liquidity_of
from generator.compose.context import TickContext
from generator.compose.derivatives import funding, who_pays
from generator.compose.envelope import PaidResponse, as_of, paid_envelope
from generator.compose.facts import asset_sentence, moves, regime_sentence
from generator.compose.inputs import futures_of, is_simulated, observed
from generator.compose.ladder import LadderLevel, asset_ladder, partition_points
from generator.compose.paid_atlas import evidence_of
from generator.compose.regime import regime_change
from generator.compose.rounds import live_tally, sealed, shown_round, simulated_votes
from generator.compose.scores import looks_better, score_limits, sides_called


class ReportSection(Body):
    """A part of the report."""

    text: str = Field(description="The part in a few sentences.")
    points: tuple[str, ...] = Field(description="Its single points.")


class ReportAsset(Body):
    """One coin in plain words."""

    asset: str = Field(description="Asset symbol.")
    name: str = Field(description="Name of the coin.")
    price: float | None = Field(description="Price in US dollars, 6 significant digits.")
    change_24h: float | None = Field(description="Change over 24 hours, percent.")
    text: str = Field(description="What is read of it, in plain words.")


class ReportTrackRecord(Body):
    """How past forecasts turned out, losses first-class."""

    text: str = Field(description="The record in plain words.")
    n: int = Field(description="Forecasts whose outcome is known.")
    right: int = Field(description="How many were right.")
    losses: int = Field(description="How many were wrong.")
    warm_up: int = Field(description="How many more were made by backtest before the start; not in n.")
    latest_arena_losses: tuple[str, ...] = Field(
        description="The newest Arena rounds that the brain got wrong; a record of its own, not part of n."
    )


class UsedEvidence(Body):
    """Which evidence the report rests on, in words."""

    used: tuple[str, ...] = Field(description="What was read.")
    missing: tuple[str, ...] = Field(description="What could not be read.")
    disagreeing: tuple[str, ...] = Field(description="What speaks against the shown direction.")


class ReportChart(Body):
    """One chart of the report: the picture as drawn by the service, and the same numbers as a table."""

    name: str = Field(description="Its name; ids inside the picture begin with it.")
    part: str = Field(description="The part of the report that it belongs to, e.g. track_record.")
    title: str = Field(description="What it shows, as a sentence.")
    description: str = Field(description="How to read it, for those who do not see it.")
    source: str = Field(description="Where the numbers come from, and as of when.")
    columns: tuple[str, ...] = Field(description="Heads of its table.")
    rows: tuple[tuple[str, ...], ...] = Field(description="Rows of its table, as many cells each.")
    svg: str = Field(
        description="The picture: an SVG of shapes, words and class names without style, script or address. "
        "Examples are cut short."
    )


class GlossaryRow(Body):
    """One word and its meaning."""

    word: str = Field(description="The word.")
    meaning: str = Field(description="What it means here.")


class Receipt(Body):
    """What was bought; the payment itself is in PAYMENT-RESPONSE."""

    snapshotId: str = Field(description="The snapshot that was quoted.")  # noqa: N815 -- a name of the contract
    product: str = Field(description="Identity of the product.")
    price_atomic: int = Field(description="Price, atomic units of USDC (6 decimals).")
    as_of: str = Field(description="Market time of the snapshot, ISO 8601 UTC.")


class HumanReport(Body):
    """The report."""

    title: str = Field(description="Its title.")
    verdict: str = Field(description="The reading in two or three sentences.")
    as_of: str = Field(description="Market time of the report, ISO 8601 UTC.")
    what_changed: tuple[str, ...] = Field(description="What changed over the last 24 hours.")
    assets: tuple[ReportAsset, ...] = Field(description="Each coin.")
    derivatives: ReportSection = Field(description="Futures.")
    liquidity: ReportSection = Field(description="How deep the order books are.")
    ladder: dict[str, tuple[LadderLevel, ...]] | None = Field(
        description="How likely moves of Bitcoin beyond several levels are, by horizon; null without a reading."
    )
    partition: ReportSection = Field(description="The next four hours in three parts, of which one comes true.")
    arena: ReportSection = Field(description="The guessing game.")
    track_record: ReportTrackRecord = Field(description="How past forecasts turned out.")
    evidence: UsedEvidence = Field(description="Which evidence the report rests on.")
    charts: tuple[ReportChart, ...] = Field(description="Its charts; none of what is unknown.")
    glossary: tuple[GlossaryRow, ...] = Field(description="Words and their meanings.")
    limits: tuple[str, ...] = Field(description="What the report cannot tell.")
    receipt: Receipt = Field(description="What was bought.")


class X402HumanReportPaidResponse(PaidResponse):
    """The plain-English report."""

    report: HumanReport = Field(description="The report.")


PRODUCT: Final = "x402-atlas-human-report"
_MODE_LIMITS: Final = {SourceMode.SIMULATED: REPORT_SIMULATED, SourceMode.RECORDED: REPORT_REPLAYED}
_LATEST_LOSSES: Final = 5
_PRICE_DECIMALS: Final = ((10_000.0, 0), (10.0, 2), (0.1, 4))  # a price from which on it is written with so many


def paid_human_report(ctx: TickContext) -> X402HumanReportPaidResponse:
    """Compose the plain-English report."""
    limits_of_scores = score_limits(ctx.arena.hourly_record)
    return X402HumanReportPaidResponse(**paid_envelope(ctx, PRODUCT, *limits_of_scores).as_fields(), report=report(ctx))


def report(ctx: TickContext) -> HumanReport:
    """Compose the report's parts."""
    return HumanReport(
        title=REPORT_TITLE,
        verdict=regime_sentence(ctx),
        as_of=as_of(ctx),
        what_changed=changed(ctx),
        assets=tuple(report_asset(ctx, asset) for asset in ASSETS),
        derivatives=futures(ctx),
        liquidity=liquidity(ctx),
        ladder=asset_ladder(ctx, DEFAULT_ASSET),
        partition=ReportSection(text=PARTITION, points=partition_points(ctx)),
        arena=arena(ctx),
        track_record=track_record(ctx, ctx.arena.hourly_record),
        evidence=evidence(ctx),
        charts=(),  # drawn where the report is published, from the same tick
        glossary=tuple(GlossaryRow(word=word, meaning=meaning) for word, meaning in GLOSSARY.items()),
        limits=limits(ctx),
        receipt=receipt(ctx),
    )


def receipt(ctx: TickContext) -> Receipt:
    """Say what was bought."""
    return Receipt(
        snapshotId=ctx.freshness.generation,
        product=PRODUCT,
        price_atomic=PRODUCT_BY_ID[PRODUCT].price_atomic,
        as_of=as_of(ctx),
    )


def changed(ctx: TickContext) -> tuple[str, ...]:
    """Say what changed over the last 24 hours."""
    changes = moves(ctx)
    if not changes:
        return (regime_change(ctx),)

    weakest = _named_change(changes, min(changes, key=changes.__getitem__))
    strongest = _named_change(changes, max(changes, key=changes.__getitem__))
    return (regime_change(ctx), f"Changes on the day run from {weakest} to {strongest}.")


def _named_change(changes: Mapping[str, float], asset: str) -> str:
    return f"{signed(changes[asset], 2)} ({ASSET_NAMES[asset]})"


def limits(ctx: TickContext) -> tuple[str, ...]:
    """Say what the report cannot tell."""
    mode = ctx.observation.mode
    texts = [*REPORT_LIMITS]
    if mode in _MODE_LIMITS:
        texts.insert(0, _MODE_LIMITS[mode])
    if ctx.reading is None:
        texts.append("Some facts are missing: the lists above say which.")
    return tuple(texts)


def report_asset(ctx: TickContext, asset: str) -> ReportAsset:
    """Say what is read of one coin."""
    seen = observed(ctx, asset)
    name = ASSET_NAMES[asset]
    price_now = price(seen.price)

    if price_now is None:
        trades_at = f"The price of {name} is not known."
    else:
        trades_at = f"{name} trades at ${_amount(price_now)}."

    # The name has just been said.
    rest = asset_sentence(ctx, asset).replace(f"{name} is", "It is", 1)
    return ReportAsset(
        asset=asset,
        name=name,
        price=price_now,
        change_24h=change(seen.change_24h_percent),
        text=f"{trades_at} {rest}",
    )


def _amount(value: float) -> str:
    """Return a price as people write it: `70,345`, `2,549.66`, `0.3187`."""
    decimals = next((decimals for least, decimals in _PRICE_DECIMALS if value >= least), 6)
    return f"{value:,.{decimals}f}"


def futures(ctx: TickContext) -> ReportSection:
    """Say which side of each perpetual future pays the other."""
    points = []
    unknown = []
    for asset in ASSETS:
        rate = funding(observed(ctx, asset), futures_of(ctx, asset))
        if rate is None:
            unknown.append(ASSET_NAMES[asset])
        else:
            points.append(f"{ASSET_NAMES[asset]}: {who_pays(rate)}")
    if unknown:
        points.append(f"Funding is not known for {listed(unknown)}.")

    return ReportSection(
        text="A perpetual future has no end date, and each contract has one long and one short. Funding keeps its "
        "price near the spot price: the side in demand pays the other. It shows which side pays, not who is right.",
        points=tuple(points),
    )


def liquidity(ctx: TickContext) -> ReportSection:
    """Say how deep the order books are."""
    points = []
    unknown = []
    for asset in ASSETS:
        book = observed(ctx, asset).book
        if book is None:
            unknown.append(ASSET_NAMES[asset])
            continue

        word = liquidity_of(ctx, asset)
        judged = "" if word is LiquidityContext.UNKNOWN else f"{LIQUIDITY[word].report}; "
        amount = f"about {_round_usd(book.depth_1pct_usd)} rest within 1% of the price"
        points.append(f"{ASSET_NAMES[asset]}: {judged}{amount}.")
    if unknown:
        points.append(f"The order book is not known for {listed(unknown)}.")

    return ReportSection(
        text="Depth is what rests in the order book within 1% of the price. Where it is thin, a small trade moves the "
        "price far. This can change from one minute to the next.",
        points=tuple(points),
    )


def _round_usd(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:.3g} million dollars"
    if value >= 1e3:
        return f"{value / 1e3:.3g} thousand dollars"
    return f"{value:.3g} dollars"


def arena(ctx: TickContext) -> ReportSection:
    """Say where the guessing game is; a sealed forecast stays sealed."""
    current = shown_round(ctx)
    name = ASSET_NAMES.get(current.asset, current.asset)

    if sealed(ctx, current) or current.prediction is None:
        points = ["The brain's guess is not shown yet."]
    else:
        called = NO_CALL if current.call is Call.NONE else OUTCOME[current.prediction]
        note = drift_note(current.call, simulated=is_simulated(ctx))
        points = [f"The brain said: {called}. {note}".rstrip()]

    tally = live_tally(ctx)
    if tally.total:
        choices = f"{tally.bullish} said up, {tally.bearish} said down and {tally.neutral} said small move"
        points.append(f"{tally.total} votes were cast. {choices}.")
    else:
        points.append("No one has voted.")

    simulated = simulated_votes(ctx)
    if simulated:
        points.append(f"{simulated} of these votes were cast by a simulated crowd, to show how it works.")

    return ReportSection(
        text=f"In the Arena people and the brain guess where {name} goes next. There is nothing to win or lose.",
        points=tuple(points),
    )


def track_record(ctx: TickContext, record: ForecastScores) -> ReportTrackRecord:
    """Say how past forecasts turned out, losses first."""
    losses = [lesson for lesson in ctx.arena.lessons if not lesson.brain_correct and lesson.brain_called != 0]

    return ReportTrackRecord(
        text=_record_text(record, simulated=is_simulated(ctx)),
        n=record.hit.n,
        right=record.hit.hits,
        losses=record.hit.n - record.hit.hits,
        warm_up=record.warm_up,
        latest_arena_losses=tuple(_loss(lesson) for lesson in losses[:_LATEST_LOSSES]),
    )


def _loss(lesson: Lesson) -> str:
    forecast = OUTCOME[lesson.brain_prediction]
    outcome = OUTCOME[lesson.actual_outcome]
    apart = " Played before the start, not counted." if lesson.warm_up else ""
    before = " Its word, from before calls existed." if lesson.brain_called is None else ""
    return f"{lesson.round_id}: said {forecast}, it was {outcome}.{before}{apart}"


def _record_text(record: ForecastScores, *, simulated: bool) -> str:
    n = record.hit.n
    right = record.hit.hits
    apart = sides_called(record, simulated=simulated)
    if record.warm_up:
        apart += f" A backtest before the start, which does not count, made {record.warm_up} forecasts."

    if not n and record.no_calls:
        return f"None of {quantity(record.no_calls, 'forecast')} made a call, so none was right or wrong.{apart}"
    if not n:
        return f"No call has been scored yet.{apart}"
    verb = "was" if right == 1 else "were"
    counts = f"Of {quantity(n, 'call')} {right} {verb} right and {n - right} wrong"
    if not enough(record.hit):
        return f"{counts}: too few to tell.{apart}"

    usual = f"always naming the outcome most frequent before would have been right in {share(record.chance)}"
    if looks_better(record):
        shown = "That is better so far, but assets move together, so it may still be luck."
    else:
        shown = "No skill is shown."
    return f"{counts} ({share(record.hit)}); {usual}. {shown}{apart}"


def evidence(ctx: TickContext) -> UsedEvidence:
    """Say which evidence the report rests on, in plain words."""
    return UsedEvidence(
        used=_plain_lines(ctx, Side.FOR, Side.AGAINST, Side.NEUTRAL),
        missing=_plain_lines(ctx, Side.MISSING),
        disagreeing=_plain_lines(ctx, Side.AGAINST),
    )


def _plain_lines(ctx: TickContext, *sides: Side) -> tuple[str, ...]:
    """Write one line a family, e.g. `Trend: BTC, ETH`."""
    lines = []
    for family, assets in evidence_of(ctx, *sides).items():
        name = FAMILY[family]
        whom = "all assets" if len(assets) == len(ASSETS) else ", ".join(assets)
        lines.append(f"{name[:1].upper()}{name[1:]}: {whom}")
    return tuple(lines)
