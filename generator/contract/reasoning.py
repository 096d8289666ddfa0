"""GET /api/reasoning.php and /api/reasoning/<ASSET>.json."""

from pydantic import Field

from generator.catalog.words import Points, Prediction, Side
from generator.contract.base import Body
from generator.contract.envelope import NoticeResponse
from generator.contract.forecast import Weighed


class Reason(Body):
    """One family of evidence: which way it points, and how that bears on the forecast."""

    family: str = Field(description="trend, momentum, volatility, breadth, liquidity or derivatives.")
    points: Points | None = Field(description="up, down or flat; null where it points nowhere or is unknown.")
    bears_on_call: Side = Field(description="for, against or neutral to the direction shown; missing where unknown.")
    text: str = Field(description="The evidence in words.")


class Reasoning(Weighed):
    """The forecast for one asset and the evidence next to it."""

    prediction: Prediction = Field(
        description="The likeliest class if it clearly exceeds its base rate, else NEUTRAL; "
        "NEUTRAL with confidence null means that no forecast is made."
    )
    brain_silent: bool = Field(
        description="True where no forecast is made: the NEUTRAL next to it claims nothing and is never scored."
    )
    summary: str = Field(description="The reading in words.")
    reason_points: tuple[str, ...] = Field(description="The evidence in words, each after the direction it points to.")
    reasons: tuple[Reason, ...] = Field(description="The same by family of evidence.")
    horizon_minutes: int | None = Field(description="How far ahead the forecast looks, minutes.")


class ReasoningResponse(NoticeResponse):
    """The evidence behind one asset's prediction."""

    asset: str = Field(description="Asset symbol.")
    reasoning: Reasoning = Field(description="Prediction, chances and reasons.")
    supported_assets: tuple[str, ...] = Field(description="Assets that the asset parameter accepts.")
    developer_note: str = Field(description="Advice for clients.")
