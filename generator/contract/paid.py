"""The envelope of the paid answers, and the parts they share."""

from typing import Literal

from pydantic import Field

from generator.catalog.words import SourceMode, Status
from generator.contract import envelope
from generator.contract.base import Body


class PaidResponse(envelope.TickAnswer):
    """What every paid answer carries; nothing of the payer."""

    type: str = Field(description="Kind of the paid answer.")
    payment_status: Literal["settled"] = Field(description="settled.")
    product: str = Field(description="Name of the product.")
    product_id: str | None = Field(description="Catalogue id; null for the human report.")
    price: str = Field(description="What was paid, for people.")
    price_atomic: int = Field(description="What was paid, atomic units of USDC (6 decimals).")
    snapshotId: str = Field(description="The snapshot that was quoted.")  # noqa: N815 -- a name of the contract
    as_of: str = Field(description="Market time of the snapshot, ISO 8601 UTC.")
    valid_until: str = Field(description="Past this wall time the reading is stale, ISO 8601 UTC.")
    status: Status = Field(description=envelope.STATUS)
    source_mode: SourceMode = Field(description=envelope.MODE)
    educational_only: bool = Field(description="Always true.")
    limitations: tuple[str, ...] = Field(description=envelope.LIMITATIONS)
    disclaimer: str = Field(description=envelope.EDUCATIONAL)
    updated: str = Field(description=envelope.UPDATED)


class ExpectedMove(Body):
    """Expected size of moves: one standard deviation of the return, whichever the direction."""

    minutes_15_percent: float = Field(description="Over 15 minutes, percent, two decimals.")
    hour_1_percent: float = Field(description="Over one hour, percent, two decimals.")
    hours_4_percent: float = Field(description="Over four hours, percent, two decimals.")


class EvidenceBlock(Body):
    """Evidence in words, by how it bears on the shown direction."""

    supporting: tuple[str, ...] = Field(description="What supports it.")
    opposing: tuple[str, ...] = Field(description="What speaks against it.")
    neutral: tuple[str, ...] = Field(description="What says nothing either way.")
    missing: tuple[str, ...] = Field(description="What could not be read.")


class Scenario(Body):
    """One way in which the next hours may go; no chance is given to it."""

    name: str = Field(description="Its name.")
    description: str = Field(description="What it looks like.")
    supported_by: tuple[str, ...] = Field(description="What speaks for it now.")
    wrong_if: str = Field(description="What would prove it wrong.")
    horizon_hours: int = Field(description="How far it looks, hours.")
    expected_move_percent: float | None = Field(
        description="One standard deviation of the market's move over the horizon, percent; null without a reading."
    )
