"""What each tool answers: small models, with their time first, and what is said where there is no answer."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from generator.catalog.horizons import HORIZONS
from generator.errors import GeneratorError

MOST_BYTES: Final = 4_800
"""Of an answer as JSON: 1,200 tokens of four bytes."""
MOST_SCHEMA_BYTES: Final = 1_000
Text = Annotated[str, Field(max_length=1_200)]
Range = tuple[float, float, float, float]
"""Percent of the price now: low 90%, low 50%, high 50%, high 90%."""


class ToolError(GeneratorError):
    """There is no answer; the text says why and what to do.

    `details` says the same for a program, of the tool that has no output schema: where there is one, clients hold
    structured content of an error against it too, and throw the words away.
    """

    def __init__(self, text: str, **details: Any) -> None:
        super().__init__(text)
        self.details = details


class Answer(BaseModel):
    """What every tool that reads the market answers first."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)

    as_of: str
    valid_until: str
    source_mode: str


class AssetNow(BaseModel):
    """One asset's price."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)

    asset: str
    price: float | None
    change_24h_percent: float | None


class MarketNow(Answer):
    """The state of the market."""

    headline: Text
    volatility: str
    side: str
    regime: str
    regime_percent: float | None
    status: str
    asset: AssetNow | None
    limitations: list[Text]


class HowFar(Answer):
    """How far one asset may move."""

    asset: str
    ranges_percent: dict[str, Range] | None
    move_chance: float | None
    move_usual: float | None
    move_beyond_percent: float | None
    how_to_read: Text


class Why(Answer):
    """Why the brain says what it says of one asset."""

    asset: str
    call: str | None
    confidence_percent: float | None
    confidence_kind: str | None
    chances: dict[str, float] | None
    usual_chances: dict[str, float] | None
    summary: Text
    reasons: list[Text]
    limitations: list[Text]


class ArenaRound(Answer):
    """The round that takes votes, and the one that runs."""

    open_round: str | None
    open_until: str | None
    commitment: str | None
    live_round: str | None
    live_until: str | None
    live_call: str | None
    live_chances: dict[str, float] | None
    votes: int
    simulated_votes: int
    note: Text


class TrackRecord(Answer):
    """How right the forecasts of one horizon were."""

    window: str
    ranges_n: int
    inside_50_percent: float | None
    inside_90_percent: float | None
    ranges: Text
    move: Text
    direction: Text


class Lesson(Answer):
    """What one finished round teaches."""

    round_id: str
    asset: str
    outcome: str
    backtest: bool
    summary: Text
    topics: list[str]


class Verified(BaseModel):
    """What was checked of the signed record."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    log: str
    entries: int
    round: Text | None
    checked: list[Text]
    proves: Annotated[str, Field(max_length=2_000)]


class Purchased(BaseModel):
    """A purchase that is settled and delivered."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    purchase_id: str
    paid_now: bool
    product: str
    amount_usdc: str
    transaction: str
    network: str
    payer: str
    snapshot: str
    sha256: str
    headline: Text
    receipt: Annotated[str, Field(max_length=2_000)] | None
    path: str | None
    resource: str | None
    pages: int


# Purchased is not among them: the answers of `buy` are of three kinds, bought, refused and the demand for a payment,
# which the x402 transport for MCP wants as structured content of an error. No schema of one kind fits them.
ANSWERS: Final[dict[str, type[BaseModel]]] = {
    "market_now": MarketNow,
    "how_far": HowFar,
    "why": Why,
    "arena_round": ArenaRound,
    "track_record": TrackRecord,
    "lesson": Lesson,
    "verify": Verified,
}
WINDOWS: Final = tuple(HORIZONS)


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's JSON Schema without the titles and texts that a reader of its values does not need."""
    stripped: dict[str, Any] = _stripped(model.model_json_schema())
    return stripped


def _stripped(part: Any) -> Any:
    if isinstance(part, list):
        return [_stripped(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        name: {key: _stripped(value) for key, value in inner.items()} if name == "properties" else _stripped(inner)
        for name, inner in part.items()
        if name not in {"title", "description", "maxLength"} or isinstance(inner, dict)
    }
