"""GET /api/x402-atlas-human-report.php, once paid: plain English."""

from pydantic import Field

from generator.contract.base import Body
from generator.contract.paid import PaidResponse
from generator.contract.paid_atlas import UsedEvidence


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


class ReportScenario(Body):
    """One way in which the next hours may go."""

    name: str = Field(description="Its name.")
    text: str = Field(description="What it looks like.")
    wrong_if: str = Field(description="What would prove it wrong.")


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
    scenarios: tuple[ReportScenario, ...] = Field(description="Ways in which the next hours may go.")
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
