"""What can be downloaded of the record: files and their columns, which docs/howto/build.md explains."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from generator.catalog.counts import ASSETS_IN_WORDS
from generator.catalog.links import (
    DAILY_BRAIN_JSON,
    DAILY_JSON,
    LADDER_JSON,
    PRACTICE_MONTHS,
    ROUNDS_JSON,
    TRACK_RECORD,
    VOTERS_JSON,
)

CSV: Final = "text/csv"
JSON_LINES: Final = "application/jsonl"
SUMS: Final = f"{TRACK_RECORD}SHA256SUMS"
MONTHS: Final = "/files/track-record/"  # below it, a folder for every month that is over


class PublicFile(NamedTuple):
    """One published file: path, media type, what it holds."""

    path: str
    media_type: str
    purpose: str


@dataclass(frozen=True, slots=True)
class RecordFile:
    """One file as it was made: its path, series and format, content, and month (None: the running one)."""

    path: str
    series: str
    ending: str
    rows: int
    bytes: int
    sha256: str
    month: str | None = None

    @property
    def name(self) -> str:
        """The last part of its path; no two files share it."""
        return self.path.rsplit("/", 1)[-1]


class Field(NamedTuple):
    """One column of a CSV file, and the keys that lead to the same value in a line of JSON."""

    name: str
    keys: tuple[str, ...]


def _plain(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name, (name,)) for name in names)


def _triple(prefix: str, *place: str) -> tuple[Field, ...]:
    return tuple(Field(f"{prefix}_{side}", (*place, side)) for side in ("down", "neutral", "up"))


def _below(place: str, *names: str) -> tuple[Field, ...]:
    return tuple(Field(name, (place, name)) for name in names)


_PRICES: Final = ("start_price", "end_price", "change_bps", "outcome")

_MOVE: Final = (Field("move_chance", ("move", "chance")), Field("move_base_rate", ("move", "base_rate")))

HOURLY_FIELDS: Final = (
    *_plain("asset", "start", "end", "made", "source_mode", "warm_up", "prediction", "call"),
    *_triple("probability", "probabilities"),
    *_triple("base_rate", "base_rate"),
    *_MOVE,
    *_plain("previous_outcome", "band_bps", *_PRICES, "correct", "void_reason", "chances_kind"),
)
ROUND_FIELDS: Final = (
    *_plain("round_id", "asset", "phase", "opened", "start", "end", "source_mode", "warm_up", "commitment", "salt"),
    *_below("forecast", "prediction", "call", "confidence"),
    *_triple("probability", "forecast", "probabilities"),
    *_triple("base_rate", "forecast", "base_rate"),
    *(Field(name, ("forecast", *keys)) for name, keys in _MOVE),
    *_plain("previous_outcome"),
    *_below("forecast", "band_bps", "regime_mode"),
    *_plain("price_basis", *_PRICES, "void_reason"),
    *(Field(f"votes_{side}", ("votes", side)) for side in ("bullish", "bearish", "neutral")),
    *(Field(f"simulated_{side}", ("simulated_votes", side)) for side in ("bullish", "bearish", "neutral")),
    *_below(
        "lesson",
        "human_consensus",
        "brain_called",
        "brain_correct",
        "crowd_correct",
        "pattern_type",
        "shared_intelligence_score",
        "learning_score",
    ),
    *_below("forecast", "chances_kind"),
)
_HORIZONS: Final = ("15m", "1h", "4h", "24h")
OF_RANGE: Final = ("sigma", "low_90", "low_50", "high_50", "high_90", "last_hour", "last_day", "ewma")
RANGE_FIELDS: Final = (
    *_plain("asset", "start", "made", "source_mode", "warm_up", "start_price"),
    *(
        Field(f"{name}_{horizon}", ("ranges", horizon, name))
        for horizon in _HORIZONS
        for name in (*OF_RANGE, "end_price", "move", "void_reason")
    ),
)


class Series(NamedTuple):
    """One kind of rows: name of its files, what they are, and their fields."""

    name: str
    title: str
    fields: tuple[Field, ...]


SERIES: Final = (
    Series("ranges", f"Ranges of {ASSETS_IN_WORDS} assets over four horizons and the moves", RANGE_FIELDS),
    Series("hourly", f"Hourly forecasts of {ASSETS_IN_WORDS} assets and what happened", HOURLY_FIELDS),
    Series("rounds", "Finished Arena rounds with forecast, votes and outcome", ROUND_FIELDS),
)
PRACTICE_ITEMS: Final = "practice"  # further files of a month that is over
PRACTICE_TRUTHS: Final = "practice-truths"
VOTERS: Final = "voters"
FORMATS: Final = (("csv", CSV, "CSV"), ("jsonl", JSON_LINES, "JSON Lines"))

DOWNLOADS: Final = (
    *(
        PublicFile(f"{TRACK_RECORD}{series.name}.{ending}", media_type, f"{series.title}, this month, as {name}")
        for series in SERIES
        for ending, media_type, name in FORMATS
    ),
    PublicFile(
        SUMS, "text/plain; charset=utf-8", "SHA-256 of the other files of this folder and of the months that are over"
    ),
    PublicFile(
        ROUNDS_JSON, "application/json", "The last 500 finished Arena rounds with forecast, salt, votes and prices"
    ),
    PublicFile(
        VOTERS_JSON,
        "application/json",
        "Which files hold what each voter said: `/arena/voters/<first two characters>.json`, and those of months over",
    ),
    PublicFile(
        DAILY_JSON,
        "application/json",
        "The last daily questions: ranges of the brain and a usual day, prices, move and scores",
    ),
    PublicFile(
        DAILY_BRAIN_JSON,
        "application/json",
        "The ranges that are sealed of the daily question now; pages load it after an answer",
    ),
    PublicFile(
        LADDER_JSON,
        "application/json",
        "How often moves beyond each level happened: scores next to base rates, and reliability",
    ),
    PublicFile(PRACTICE_MONTHS, "application/json", "The months of past hours to judge: their items and truths"),
)
