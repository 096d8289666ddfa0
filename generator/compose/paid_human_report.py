"""GET /api/x402-atlas-human-report.php, once paid: a story of the day, its place in the month, and what may come."""

from typing import Final

from pydantic import Field

from generator.arena.values import Lesson
from generator.catalog.assets import ASSET_NAMES, ASSETS, DEFAULT_ASSET
from generator.catalog.formats import change, price
from generator.catalog.products import PRODUCT_BY_ID
from generator.catalog.text.labels import FAMILY, OUTCOME
from generator.catalog.text.story import ahead, day
from generator.catalog.text.story.facts import StoryFacts
from generator.catalog.text.story.ideas import idea_of
from generator.catalog.words import Side
from generator.compose.body import Body
from generator.compose.context import TickContext
from generator.compose.envelope import PaidResponse, as_of, paid_envelope
from generator.compose.inputs import observed
from generator.compose.ladder import LadderLevel, asset_ladder
from generator.compose.paid_atlas import evidence_of
from generator.compose.plots import Plot, plots
from generator.compose.scores import score_limits
from generator.compose.story import story_facts


class ReportSection(Body):
    """A part of the report."""

    text: str = Field(description="The part in a few sentences.")
    points: tuple[str, ...] = Field(description="Its single points.")


class ReportLadder(ReportSection):
    """How far Bitcoin may go, in words and by level."""

    levels: dict[str, tuple[LadderLevel, ...]] | None = Field(
        description="How likely moves of Bitcoin beyond several levels are, by horizon; null without a reading."
    )


class ReportAsset(Body):
    """One coin's day by its own measure."""

    asset: str = Field(description="Asset symbol.")
    name: str = Field(description="Name of the coin.")
    price: float | None = Field(description="Price in US dollars, 6 significant digits.")
    change_24h: float | None = Field(description="Change over 24 hours, percent.")
    usual_day_percent: float | None = Field(description="Median size of its days, up to 30; null with fewer than 3.")
    text: str = Field(description="Size of its day in usual days.")


class ReportLoss(Body):
    """One Arena round that the brain got wrong."""

    round_id: str = Field(description="The round.")
    called: str = Field(description="What was called.")
    came: str = Field(description="What came.")
    backtest: bool = Field(description="True: played by backtest before the start, not counted.")


class ReportTrackRecord(Body):
    """How past forecasts turned out, losses first-class."""

    text: str = Field(description="The record in plain words.")
    n: int = Field(description="Calls whose outcome is known.")
    right: int = Field(description="How many were right.")
    losses: int = Field(description="How many were wrong.")
    warm_up: int = Field(description="How many more forecasts were made by backtest before the start; not in n.")
    latest_arena_losses: tuple[ReportLoss, ...] = Field(
        description="The newest Arena rounds that the brain got wrong; a record of its own, not part of n."
    )


class UsedEvidence(Body):
    """Which evidence the report rests on: families and how many coins have each."""

    used: tuple[str, ...] = Field(description="What was read.")
    missing: tuple[str, ...] = Field(description="What could not be read.")
    disagreeing: tuple[str, ...] = Field(description="What speaks against the shown direction.")


class ReportIdea(Body):
    """One idea of markets, with this hour's numbers."""

    text: str = Field(description="The idea in a few sentences.")
    question: str = Field(description="A question to think about.")


class Receipt(Body):
    """What was bought; the payment itself is in PAYMENT-RESPONSE."""

    snapshotId: str = Field(description="The snapshot that was quoted.")  # noqa: N815 -- a name of the contract
    product: str = Field(description="Identity of the product.")
    price_atomic: int = Field(description="Price, atomic units of USDC (6 decimals).")
    as_of: str = Field(description="Market time of the snapshot, ISO 8601 UTC.")


class HumanReport(Body):
    """The report."""

    title: str = Field(description="What kind of day it was.")
    verdict: str = Field(description="The day against the month, and how far the next one may go.")
    as_of: str = Field(description="Market time of the report, ISO 8601 UTC.")
    what_changed: tuple[str, ...] = Field(description="The day's biggest hour and its place in week and month.")
    together: ReportSection = Field(description="Whether the coins move alone or together, and who made the average.")
    assets: tuple[ReportAsset, ...] = Field(description="Each coin's day by its own measure.")
    derivatives: ReportSection = Field(description="Who pays whom in the futures, and how much for the month.")
    liquidity: ReportSection = Field(description="How deep the order books are, and how much was traded.")
    ladder: ReportLadder = Field(description="How far Bitcoin may go, and the record of such ranges.")
    spells: ReportSection = Field(description="How long such states last, and what ends them.")
    partition: ReportSection = Field(description="The next four hours in three parts, of which one comes true.")
    arena: ReportSection = Field(description="The guessing game.")
    track_record: ReportTrackRecord = Field(description="How past forecasts turned out.")
    idea: ReportIdea | None = Field(description="One idea, explained with this hour's numbers; null without them.")
    evidence: UsedEvidence = Field(description="Which evidence the report rests on.")
    plots: tuple[Plot, ...] = Field(description="Numbers to draw, at most 60 places each; none of what is unknown.")
    limits: tuple[str, ...] = Field(description="What the report cannot do.")
    receipt: Receipt = Field(description="What was bought.")


class X402HumanReportPaidResponse(PaidResponse):
    """The plain-English report."""

    report: HumanReport = Field(description="The report.")


PRODUCT: Final = "x402-atlas-human-report"
_LATEST_LOSSES: Final = 5


def paid_human_report(ctx: TickContext) -> X402HumanReportPaidResponse:
    """Compose the plain-English report."""
    story = report(ctx)
    news = f"{story.title}. {story.verdict.partition('. ')[0].removesuffix('.')}."
    envelope = paid_envelope(ctx, PRODUCT, *score_limits(ctx.arena.hourly_record), news=news)
    return X402HumanReportPaidResponse(**envelope.as_fields(), report=story)


def report(ctx: TickContext) -> HumanReport:
    """Compose the report's parts."""
    facts = story_facts(ctx)
    return HumanReport(
        title=day.title(facts),
        verdict=" ".join(day.opening(facts)),
        as_of=as_of(ctx),
        what_changed=tuple(day.hour(facts)),
        together=_section(day.together(facts)),
        assets=tuple(report_asset(ctx, facts, asset) for asset in ASSETS),
        derivatives=_section(day.futures(facts)),
        liquidity=_section(day.depth(facts)),
        ladder=ReportLadder(text=" ".join(ahead.how_far(facts)), points=(), levels=asset_ladder(ctx, DEFAULT_ASSET)),
        spells=_section(ahead.endings(facts)),
        partition=_section(ahead.partition(facts), tuple(ahead.graded(facts))),
        arena=_section(ahead.arena(facts)),
        track_record=track_record(ctx, facts),
        idea=_idea(facts),
        evidence=evidence(ctx),
        plots=plots(ctx),
        limits=tuple(ahead.limits(facts)),
        receipt=receipt(ctx),
    )


def _section(sentences: list[str], points: tuple[str, ...] = ()) -> ReportSection:
    return ReportSection(text=" ".join(sentences), points=points)


def _idea(facts: StoryFacts) -> ReportIdea | None:
    idea = idea_of(facts)
    return None if idea is None else ReportIdea(text=" ".join(idea.sentences), question=idea.question)


def receipt(ctx: TickContext) -> Receipt:
    """Say what was bought."""
    return Receipt(
        snapshotId=ctx.freshness.generation,
        product=PRODUCT,
        price_atomic=PRODUCT_BY_ID[PRODUCT].price_atomic,
        as_of=as_of(ctx),
    )


def report_asset(ctx: TickContext, facts: StoryFacts, asset: str) -> ReportAsset:
    """Compose one coin's day."""
    seen = observed(ctx, asset)
    return ReportAsset(
        asset=asset,
        name=ASSET_NAMES[asset],
        price=price(seen.price),
        change_24h=change(seen.change_24h_percent),
        usual_day_percent=facts.usual_days.get(asset),
        text=day.coin(facts, asset),
    )


def track_record(ctx: TickContext, facts: StoryFacts) -> ReportTrackRecord:
    """Say how past forecasts turned out, losses first."""
    record = ctx.arena.hourly_record
    losses = [lesson for lesson in ctx.arena.lessons if not lesson.brain_correct and lesson.brain_called != 0]
    return ReportTrackRecord(
        text=" ".join(ahead.record(facts)),
        n=record.hit.n,
        right=record.hit.hits,
        losses=record.hit.n - record.hit.hits,
        warm_up=record.warm_up,
        latest_arena_losses=tuple(_loss(lesson) for lesson in losses[:_LATEST_LOSSES]),
    )


def _loss(lesson: Lesson) -> ReportLoss:
    return ReportLoss(
        round_id=lesson.round_id,
        called=OUTCOME[lesson.brain_prediction],
        came=OUTCOME[lesson.actual_outcome],
        backtest=lesson.warm_up,
    )


def evidence(ctx: TickContext) -> UsedEvidence:
    """Say which evidence the report rests on."""
    return UsedEvidence(
        used=_families(ctx, Side.FOR, Side.AGAINST, Side.NEUTRAL),
        missing=_families(ctx, Side.MISSING),
        disagreeing=_families(ctx, Side.AGAINST),
    )


def _families(ctx: TickContext, *sides: Side) -> tuple[str, ...]:
    """Name the families of evidence on some sides, with how many coins have each."""
    found = evidence_of(ctx, *sides)
    return tuple(f"{FAMILY[family].removeprefix('the ')} ({len(assets)})" for family, assets in found.items())
