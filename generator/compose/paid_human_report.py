"""GET /api/x402-atlas-human-report.php, once paid: the day, how far prices may go, what followed such days."""

from typing import Final

from pydantic import Field

from generator.catalog.assets import ASSET_NAMES, ASSETS, DEFAULT_ASSET
from generator.catalog.formats import change, fixed, price
from generator.catalog.products import PRODUCT_BY_ID
from generator.catalog.text.now import headline
from generator.catalog.text.report.sentences import Part, news
from generator.catalog.text.report.sentences import report as parts_of
from generator.compose.body import Body
from generator.compose.envelope import PaidResponse, as_of, paid_envelope
from generator.compose.events import EVENTS, MarketEventsShort, events_of_report
from generator.compose.inputs import reading_of
from generator.compose.joint import JOINT, JointShort, joint_short
from generator.compose.ladder import LadderLevels, asset_levels
from generator.compose.plots import Plot, plots
from generator.compose.scores import score_limits
from generator.compose.tick import Tick


class ReportSection(Body):
    """A part of the report."""

    heading: str = Field(description="What the part is about.")
    text: str = Field(description="The part in a few sentences.")


class ReportAsset(Body):
    """One coin's day by its own measure."""

    asset: str = Field(description="Asset symbol.")
    name: str = Field(description="Name of the coin.")
    price: float | None = Field(description="Price in US dollars, 6 significant digits.")
    change_24h: float | None = Field(description="Change over 24 hours, percent.")
    usual_day_percent: float | None = Field(description="Median size of its days, up to 30; null with fewer than 3.")
    usual_days: float | None = Field(description="Size of its change in usual days; null where either is not known.")


class Receipt(Body):
    """What was bought; the payment itself is in PAYMENT-RESPONSE."""

    snapshotId: str = Field(description="The snapshot that was quoted.")  # noqa: N815 -- a name of the contract
    product: str = Field(description="Identity of the product.")
    price_atomic: int = Field(description="Price, atomic units of USDC (6 decimals).")
    as_of: str = Field(description="Market time of the snapshot, ISO 8601 UTC.")


_NOTHING: Final = "null where nothing is known of it."


class HumanReport(Body):
    """The report: 350 to 650 words by a table of sentences, each with its condition; what is not known is left out."""

    title: str = Field(description="The news, as in the free headline.")
    as_of: str = Field(description="Market time of the report, ISO 8601 UTC.")
    happened: ReportSection | None = Field(description=f"The day in figures and against a usual day; {_NOTHING}")
    rough: ReportSection | None = Field(description=f"How rough the market is against its record; {_NOTHING}")
    far: ReportSection | None = Field(description=f"Where Bitcoin should end, and how such ranges held; {_NOTHING}")
    after: ReportSection | None = Field(description=f"What followed days like this one on record; {_NOTHING}")
    long: ReportSection | None = Field(description=f"For how long it has been as rough as now; {_NOTHING}")
    yesterday: ReportSection | None = Field(description=f"How the ranges of a day ago did; {_NOTHING}")
    idea: ReportSection | None = Field(description=f"One idea of markets with its figures; {_NOTHING}")
    question: ReportSection | None = Field(description="A question to think about.")
    assets: tuple[ReportAsset, ...] = Field(description="Each coin's day by its own measure.")
    levels: dict[str, LadderLevels] | None = Field(
        description="How likely moves of Bitcoin beyond several levels are, by horizon; null without a reading."
    )
    together: JointShort | None = Field(description=JOINT)
    events: MarketEventsShort | None = Field(description=EVENTS)
    plots: tuple[Plot, ...] = Field(description="Numbers to draw, at most 60 places each; none of what is unknown.")
    receipt: Receipt = Field(description="What was bought.")


class X402HumanReportPaidResponse(PaidResponse):
    """The plain-English report."""

    report: HumanReport = Field(description="The report.")


PRODUCT: Final = "x402-atlas-human-report"


def paid_human_report(ctx: Tick) -> X402HumanReportPaidResponse:
    """Compose the plain-English report."""
    envelope = paid_envelope(ctx, PRODUCT, *score_limits(ctx.arena.hourly_record), news=news(ctx.report))
    return X402HumanReportPaidResponse(**envelope.as_fields(), report=report(ctx))


def report(ctx: Tick) -> HumanReport:
    """Compose the report's parts."""
    texts = parts_of(ctx.report)
    sections = {
        part.name.lower(): ReportSection(heading=part.value, text=texts[part]) if part in texts else None
        for part in Part
    }

    return HumanReport(
        title=headline(ctx.report),
        as_of=as_of(ctx),
        **sections,
        assets=tuple(_asset(ctx, asset) for asset in ASSETS),
        levels=asset_levels(ctx, DEFAULT_ASSET),
        together=joint_short(ctx),
        events=events_of_report(ctx),
        plots=plots(ctx),
        receipt=receipt(ctx),
    )


def receipt(ctx: Tick) -> Receipt:
    """Say what was bought."""
    return Receipt(
        snapshotId=ctx.freshness.generation,
        product=PRODUCT,
        price_atomic=PRODUCT_BY_ID[PRODUCT].price_atomic,
        as_of=as_of(ctx),
    )


def _asset(ctx: Tick, asset: str) -> ReportAsset:
    """Compose one coin's day."""
    seen = ctx.seen[asset]
    read = reading_of(ctx, asset)
    moved = change(seen.change_24h_percent)
    usual = None if read is None or read.facts.usual_day is None else fixed(100 * read.facts.usual_day, 2)

    return ReportAsset(
        asset=asset,
        name=ASSET_NAMES[asset],
        price=price(seen.price),
        change_24h=moved,
        usual_day_percent=usual,
        usual_days=None if moved is None or not usual else fixed(abs(moved) / usual, 1),
    )
