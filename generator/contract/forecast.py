"""What several bodies say of one asset: its price, how far, which way."""

from pydantic import Field

from generator.catalog.words import ConfidenceKind
from generator.contract.base import Body
from generator.contract.scores import KIND, Probabilities


class MoveRange(Body):
    """Where the price may be at the end of a horizon, as a move from now. How far is forecast, not which way."""

    low_90: float = Field(description="In 5 of 100 cases the move is below this, percent.")
    low_50: float = Field(description="In 25 of 100 cases the move is below this, percent.")
    high_50: float = Field(description="In 25 of 100 cases the move is above this, percent.")
    high_90: float = Field(description="In 5 of 100 cases the move is above this, percent.")


RANGES = "Ranges of the move by horizon (15m, 1h, 4h, 24h), percent; null without a reading."


class Quoted(Body):
    """An asset and its price."""

    asset: str = Field(description="Asset symbol.")
    price: float | None = Field(description="Price in US dollars, 6 significant digits.")
    change_24h: float | None = Field(description="Change over 24 hours, percent.")


class Forecasted(Body):
    """How far an asset may move, and the chances of each direction."""

    confidence: float | None = Field(description="Chance of the shown class over 60 minutes, percent 0..100.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.CLASS_PROBABILITY, description=KIND)
    probabilities: Probabilities | None = Field(description="Chances of the three outcomes; null without a forecast.")
    base_rates: Probabilities | None = Field(
        description="How often each outcome came up in the past, the comparison; null without a forecast."
    )
    ranges: dict[str, MoveRange] | None = Field(description=RANGES)


class Agreeing(Body):
    """How far the evidence agrees."""

    agreement_percent: float | None = Field(description="Agreement between families of evidence, percent 0..100.")
    coverage_percent: float | None = Field(description="Families of evidence present, percent 0..100.")


class Weighed(Agreeing, Forecasted):
    """The same with its neutral band and how far the evidence agrees."""

    band_bps: float | None = Field(description="A move within this many basis points counts as neutral.")
