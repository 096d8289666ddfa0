"""What can be downloaded of the record: files, and every field of their rows. One list for header, schema and docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from generator.catalog.links import ROUNDS_JSON, TRACK_RECORD

CSV: Final = "text/csv"
JSON_LINES: Final = "application/jsonl"
SUMS: Final = f"{TRACK_RECORD}SHA256SUMS"
DATA_PACKAGE: Final = f"{TRACK_RECORD}datapackage.json"
MONTHS: Final = "/files/track-record/"  # below it, a folder for every month that is over


@dataclass(frozen=True, slots=True)
class Download:
    """One file of the record that people can check on their own: path, media type, what it holds."""

    path: str
    media_type: str
    purpose: str


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a CSV file, and the place of the same value in a line of JSON.

    Args:
        name: of the column.
        type: as in Table Schema: string, datetime, number, integer, boolean.
        meaning: one sentence.
        place: keys that lead to it in a line of JSON; the name when not given.
    """

    name: str
    type: str
    meaning: str
    place: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that lead to the value."""
        return self.place or (self.name,)


def _triple(prefix: str, what: str, *place: str) -> tuple[Field, ...]:
    words = (("down", "BEARISH"), ("neutral", "NEUTRAL"), ("up", "BULLISH"))
    return tuple(
        Field(f"{prefix}_{side}", "number", f"{what} of {word}, 0 to 1.", (*place, side)) for side, word in words
    )


_COMMON: Final = (
    Field("source_mode", "string", "Where the prices come from: live, recorded or simulated. Only live is a market."),
    Field(
        "warm_up",
        "boolean",
        "True for what was played on past data before the service first started; counted apart in every score.",
    ),
)
_PRICES: Final = (
    Field("start_price", "number", "Price in USD at the start, 6 significant digits."),
    Field("end_price", "number", "Price in USD at the end."),
    Field("change_bps", "number", "Change between the two prices in basis points (hundredths of a percent)."),
    Field("outcome", "string", "What came: BULLISH above the band, BEARISH below it, else NEUTRAL; empty when void."),
)
_VOID: Final = Field("void_reason", "string", "Why there is no outcome; such a row is kept and not scored.")

HOURLY_FIELDS: Final = (
    Field("asset", "string", "Ticker of the asset."),
    Field("start", "datetime", "Start of the hour, UTC."),
    Field("end", "datetime", "End of the hour, UTC."),
    Field("made", "datetime", "When the forecast was stored, before the start."),
    *_COMMON,
    Field("prediction", "string", "The forecast in one word: BULLISH, BEARISH or NEUTRAL."),
    *_triple("probability", "Chance that the forecast gave", "probabilities"),
    *_triple("base_rate", "How often that came before, as known when the forecast was made: share", "base_rate"),
    Field("previous_outcome", "string", "The asset's last outcome known when the forecast was made."),
    Field("band_bps", "number", "Half width of the neutral band in basis points, fixed with the forecast."),
    *_PRICES,
    Field("correct", "boolean", "Whether the word was what came; empty when void."),
    _VOID,
)
ROUND_FIELDS: Final = (
    Field("round_id", "string", "Asset and start of the round."),
    Field("asset", "string", "Ticker of the asset."),
    Field("phase", "string", "resolved or void."),
    Field("opened", "datetime", "When votes opened and the forecast was sealed, UTC."),
    Field("start", "datetime", "When votes closed and the round went live, UTC."),
    Field("end", "datetime", "When it ended, UTC."),
    *_COMMON,
    Field("commitment", "string", "SHA-256 of the sealed forecast (canonical JSON, in the JSON Lines) and its salt."),
    Field("salt", "string", "The salt."),
    Field("prediction", "string", "The brain's word: BULLISH, BEARISH or NEUTRAL.", ("forecast", "prediction")),
    Field("confidence", "number", "The chance of that word, 0 to 100.", ("forecast", "confidence")),
    *_triple("probability", "Chance that the brain gave", "forecast", "probabilities"),
    *_triple("base_rate", "How often that came before: share", "forecast", "base_rate"),
    Field("previous_outcome", "string", "The asset's last outcome known when the forecast was sealed."),
    Field("band_bps", "number", "Half width of the neutral band in basis points.", ("forecast", "band_bps")),
    Field("regime_mode", "string", "The market's regime when it was sealed.", ("forecast", "regime_mode")),
    Field("price_basis", "string", "How prices were fixed."),
    *_PRICES,
    _VOID,
    Field("votes_bullish", "integer", "Votes counted for BULLISH, simulated ones included.", ("votes", "bullish")),
    Field("votes_bearish", "integer", "Votes counted for BEARISH.", ("votes", "bearish")),
    Field("votes_neutral", "integer", "Votes counted for NEUTRAL.", ("votes", "neutral")),
    Field("simulated_bullish", "integer", "Of them simulated by the demo.", ("simulated_votes", "bullish")),
    Field("simulated_bearish", "integer", "Of them simulated by the demo.", ("simulated_votes", "bearish")),
    Field("simulated_neutral", "integer", "Of them simulated by the demo.", ("simulated_votes", "neutral")),
    Field("human_consensus", "string", "What most voters said; NONE without votes.", ("lesson", "human_consensus")),
    Field("brain_correct", "integer", "1 if the brain was right, else 0.", ("lesson", "brain_correct")),
    Field("crowd_correct", "integer", "1 if the voters were right, else 0.", ("lesson", "crowd_correct")),
    Field("pattern_type", "string", "Who was right, in one word.", ("lesson", "pattern_type")),
    Field(
        "shared_intelligence_score",
        "number",
        "0 to 100, defined in the methodology.",
        ("lesson", "shared_intelligence_score"),
    ),
    Field("learning_score", "number", "0 to 100, defined in the methodology.", ("lesson", "learning_score")),
)


@dataclass(frozen=True, slots=True)
class Series:
    """One kind of rows: name of its files, what they are, and their fields."""

    name: str
    title: str
    fields: tuple[Field, ...]

    @property
    def schema(self) -> str:
        """The path of the Table Schema of its CSV files."""
        return f"{TRACK_RECORD}{self.name}.schema.json"


SERIES: Final = (
    Series("hourly", "Hourly forecasts of seven assets and what came true", HOURLY_FIELDS),
    Series("rounds", "Finished Arena rounds with forecast, votes and outcome", ROUND_FIELDS),
)
FORMATS: Final = (("csv", CSV, "CSV"), ("jsonl", JSON_LINES, "JSON Lines"))

DOWNLOADS: Final = (
    *(
        Download(f"{TRACK_RECORD}{series.name}.{ending}", media_type, f"{series.title}, this month, as {name}")
        for series in SERIES
        for ending, media_type, name in FORMATS
    ),
    Download(
        SUMS, "text/plain; charset=utf-8", "SHA-256 of the other files of this folder and of the months that are over"
    ),
    Download(DATA_PACKAGE, "application/json", "Every file with its rows and digest, as a Data Package"),
    *(
        Download(series.schema, "application/json", f"Every column of {series.name}.csv described, as a Table Schema")
        for series in SERIES
    ),
    Download(
        ROUNDS_JSON, "application/json", "The last 500 finished Arena rounds with forecast, salt, votes and prices"
    ),
)
