"""The tables of the memory. Times are UTC ms. A change of these needs a new `SCHEMA_VERSION`."""

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

SCHEMA_VERSION: Final = "6"
ADDED_TO: Final = frozenset({"4", "5"})  # versions that only lack tables, or columns of `predictions`
SCHEMA_KEY: Final = "schema_version"
FENCE_KEY: Final = "fence"
GENERATION_KEY: Final = "generation"
CHANCES: Final = ("p_down", "p_neutral", "p_up", "base_down", "base_neutral", "base_up")

metadata = MetaData()


def _id() -> Column[Any]:
    return Column("id", Integer, primary_key=True)


def _key(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind, primary_key=True) for name in names]


def _unique(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False, unique=True) for name in names]


def _given(kind: Any, *names: str, index: bool = False) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False, index=index) for name in names]


def _maybe(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind) for name in names]


meta = Table("meta", metadata, *_key(String(64), "key"), *_given(Text, "value"))

ticks = Table(
    "ticks",
    metadata,
    _id(),
    *_unique(String(32), "tick_id"),
    *_maybe(String(12), "generation"),
    *_given(BigInteger, "at_ms", index=True),
    *_given(Boolean, "ok", "warm_up"),
    *_maybe(Text, "reason"),
)

rounds = Table(
    "rounds",
    metadata,
    _id(),
    *_unique(String(32), "round_id"),
    *_unique(BigInteger, "start_ms"),  # one round a slot
    *_given(BigInteger, "opens_ms", "end_ms"),
    *_given(String(16), "asset", "phase"),
    *_given(Boolean, "warm_up", "simulated_crowd"),
    *_maybe(Float, *CHANCES, "band_bps", "confidence_percent", "start_price", "end_price", "change_bps"),
    *_maybe(String(8), "prediction", "previous", "outcome"),
    *_maybe(String(16), "regime_mode"),
    *_maybe(String(32), "price_basis"),
    *_maybe(String(64), "sealed_digest"),
    *_maybe(String(128), "salt"),
    *_maybe(Text, "void_reason"),
    Index("rounds_by_phase", "phase", "start_ms"),
    Index("rounds_by_asset", "asset", "phase", "end_ms"),
)

ballots = Table(
    "ballots",
    metadata,
    *_key(String(52), "txid"),
    *_given(String(32), "round_id"),
    *_given(String(58), "voter"),
    *_given(String(8), "choice"),
    *_given(BigInteger, "arrived_ms"),
    *_given(Boolean, "counts"),  # the voter's last before the close
    Index("ballots_by_round", "round_id", "counts", "choice"),
)

rejected = Table("rejected_ballots", metadata, *_key(String(80), "reason"), *_given(Integer, "n"))

# Ballots on chain that were refused: they are read again after a restart, and counted once.
refused_on_chain = Table("refused_on_chain", metadata, _id(), *_unique(String(64), "txid"))

tallies = Table(
    "crowd_tallies",
    metadata,
    *_key(String(32), "round_id"),
    *_key(Boolean, "simulated"),
    *_given(Integer, "bullish", "bearish", "neutral"),
)

predictions = Table(
    "predictions",
    metadata,
    _id(),
    *_given(String(16), "asset"),
    *_given(BigInteger, "start_ms", "end_ms"),
    *_given(Float, *CHANCES, "band_bps"),
    *_given(String(8), "prediction"),
    *_given(Boolean, "warm_up", "settled"),
    *_maybe(BigInteger, "made_ms", "due_ms"),  # when it was made, when the next horizon ends
    *_maybe(Float, "start_price", "end_price", "change_bps"),
    *_maybe(String(8), "previous", "outcome"),
    *_maybe(Text, "void_reason", "ranges", "moves"),  # the last two JSON, by horizon
    UniqueConstraint("asset", "start_ms"),
    Index("predictions_by_due", "due_ms"),
    Index("predictions_by_state", "settled", "start_ms"),
    Index("predictions_by_start", "start_ms"),
)

lessons = Table(
    "lessons",
    metadata,
    _id(),
    *_unique(String(48), "lesson_id"),
    *_unique(String(32), "round_id"),
    *_given(String(16), "asset", "pattern_type"),
    *_given(String(8), "brain_prediction", "human_consensus", "actual_outcome"),
    *_given(Integer, "brain_correct", "crowd_correct", "agreement"),
    *_given(Float, "shared_intelligence_score", "learning_score"),
    *_given(Text, "summary"),
    *_given(BigInteger, "created_ms"),
    *_given(Boolean, "warm_up", "simulated_crowd"),
)

events = Table(
    "events", metadata, _id(), *_given(BigInteger, "at_ms"), *_given(String(32), "kind"), *_given(Text, "text")
)

brain_state = Table("brain_state", metadata, _id(), *_given(BigInteger, "at_ms"), *_given(LargeBinary, "state"))

regime_history = Table(
    "regime_history",
    metadata,
    _id(),
    *_unique(BigInteger, "at_ms"),
    *_given(String(24), "label"),
    *_given(String(16), "mode"),
    *_maybe(Float, "confidence", "risk_score"),
    *_given(Boolean, "warm_up", "changed"),  # the label differs from the row before: such a row is never pruned
)

# What was published first in each hour; kept for good.
hours = Table(
    "hours",
    metadata,
    *_key(BigInteger, "at_ms"),
    *_given(BigInteger, "market_ms"),
    *_given(String(24), "label"),
    *_given(Text, "chances", "headline", "prices"),  # JSON: of the four regimes or null; prices JSON, by asset
    *_given(Boolean, "warm_up"),
)

# The transparency log: entries in order, and the roots of its full tiles (`index` counts tiles of a level).
log_entries = Table(
    "log_entries",
    metadata,
    _id(),  # the entry's number plus one: databases count from one
    *_given(String(24), "kind", index=True),
    Column("subject", String(32), index=True),
    *_given(LargeBinary, "data"),
)

log_nodes = Table(
    "log_nodes", metadata, *_key(Integer, "level"), *_key(BigInteger, "index"), *_given(LargeBinary, "value")
)

# Per voter the rounds voted in that resolved, and how many of these votes were right.
voters = Table("voters", metadata, *_key(String(58), "address"), *_given(Integer, "resolved", "hits"))

# What was computed from a round's real votes at its lock, as JSON.
locked_crowds = Table("locked_crowds", metadata, *_key(String(32), "round_id"), *_given(Text, "crowd"))

# Valid ballots as they were signed: of an open round all of them, of a locked one those that count; see `ballots`.
signed_ballots = Table(
    "signed_ballots",
    metadata,
    *_key(String(52), "txid"),
    *_given(String(32), "round_id", index=True),
    *_given(LargeBinary, "data"),
)

# How many ballots of a locked round count, and how many of them are published (`put`).
ballot_sheets = Table(
    "ballot_sheets",
    metadata,
    *_key(String(32), "round_id"),
    *_given(BigInteger, "start_ms"),
    *_given(Integer, "ballots", "put"),
)
