"""GET /status.json: the state of the last tick in one small file."""

from __future__ import annotations

from pydantic import Field

from generator.catalog.words import SourceMode, Status
from generator.contract import envelope
from generator.contract.base import Body, absent


class TicksBlock(Body):
    """Ticks of the last 24 hours, this one not counted."""

    published_24h: int = Field(description="Ticks published.")
    failed_24h: int = Field(description="Ticks failed.")
    missed_24h: int = Field(description="Full minutes since the first tick in which none began.")


class StatusResponse(Body):
    """Whether the service is up to date."""

    success: bool = Field(description="True on every 200.")
    project: str = Field(description="Name of the service.")
    status: Status = Field(description=envelope.STATUS)
    generation: str = Field(description="12-digit release counter, never reused.")
    tick_id: str = Field(description="Minute of the tick, e.g. 20261120T095300Z.")
    generated_at: str = Field(description="Wall time of the tick, ISO 8601 UTC.")
    valid_until: str = Field(description="Past this time the whole site is stale.")
    next_update_at: str = Field(description="When the next tick is due, ISO 8601 UTC.")
    source_mode: SourceMode = Field(description=envelope.MODE)
    sources: tuple[envelope.SourceRow, ...] = Field(description="Every market source that was asked.")
    ticks: TicksBlock = Field(description="Ticks of the last 24 hours.")
    disclaimer: str = Field(description=envelope.EDUCATIONAL)
    replay: envelope.Replay | None = Field(
        default=None, exclude_if=absent, description="Only while a recorded market is replayed: its position."
    )
