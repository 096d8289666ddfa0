"""The tables of the memory. Times are UTC ms. A change of these needs a new `SCHEMA_VERSION`."""

from typing import Final

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
ADDED_TO: Final = frozenset({"1", "2", "3", "4", "5"})  # versions that only lack tables, or columns of `predictions`
SCHEMA_KEY: Final = "schema_version"
FENCE_KEY: Final = "fence"
GENERATION_KEY: Final = "generation"

metadata = MetaData()

meta = Table("meta", metadata, Column("key", String(64), primary_key=True), Column("value", Text, nullable=False))

ticks = Table(
    "ticks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("tick_id", String(32), nullable=False, unique=True),
    Column("generation", String(12)),
    Column("at_ms", BigInteger, nullable=False, index=True),
    Column("ok", Boolean, nullable=False),
    Column("reason", Text),
    Column("warm_up", Boolean, nullable=False),
)

rounds = Table(
    "rounds",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("round_id", String(32), nullable=False, unique=True),
    Column("asset", String(16), nullable=False),
    Column("opens_ms", BigInteger, nullable=False),
    Column("start_ms", BigInteger, nullable=False, unique=True),  # one round a slot
    Column("end_ms", BigInteger, nullable=False),
    Column("phase", String(16), nullable=False),
    Column("band_bps", Float),
    Column("sealed_digest", String(64)),
    Column("salt", String(128)),
    Column("prediction", String(8)),
    Column("p_down", Float),
    Column("p_neutral", Float),
    Column("p_up", Float),
    Column("base_down", Float),
    Column("base_neutral", Float),
    Column("base_up", Float),
    Column("confidence_percent", Float),
    Column("regime_mode", String(16)),
    Column("previous", String(8)),
    Column("start_price", Float),
    Column("end_price", Float),
    Column("change_bps", Float),
    Column("outcome", String(8)),
    Column("void_reason", Text),
    Column("price_basis", String(32)),
    Column("warm_up", Boolean, nullable=False),
    Column("simulated_crowd", Boolean, nullable=False),
    Index("rounds_by_phase", "phase", "start_ms"),
    Index("rounds_by_asset", "asset", "phase", "end_ms"),
)

ballots = Table(
    "ballots",
    metadata,
    Column("txid", String(52), primary_key=True),
    Column("round_id", String(32), nullable=False),
    Column("voter", String(58), nullable=False),
    Column("choice", String(8), nullable=False),
    Column("arrived_ms", BigInteger, nullable=False),
    Column("counts", Boolean, nullable=False),  # the voter's last before the close
    Index("ballots_by_round", "round_id", "counts", "choice"),
)

rejected = Table(
    "rejected_ballots",
    metadata,
    Column("reason", String(80), primary_key=True),
    Column("n", Integer, nullable=False),
)

# Ballots on chain that were refused: they are read again after a restart, and counted once.
refused_on_chain = Table(
    "refused_on_chain",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("txid", String(64), nullable=False, unique=True),
)

tallies = Table(
    "crowd_tallies",
    metadata,
    Column("round_id", String(32), primary_key=True),
    Column("simulated", Boolean, primary_key=True),
    Column("bullish", Integer, nullable=False),
    Column("bearish", Integer, nullable=False),
    Column("neutral", Integer, nullable=False),
)

predictions = Table(
    "predictions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("asset", String(16), nullable=False),
    Column("start_ms", BigInteger, nullable=False),
    Column("end_ms", BigInteger, nullable=False),
    Column("made_ms", BigInteger),
    Column("p_down", Float, nullable=False),
    Column("p_neutral", Float, nullable=False),
    Column("p_up", Float, nullable=False),
    Column("base_down", Float, nullable=False),
    Column("base_neutral", Float, nullable=False),
    Column("base_up", Float, nullable=False),
    Column("prediction", String(8), nullable=False),
    Column("previous", String(8)),
    Column("band_bps", Float, nullable=False),
    Column("start_price", Float),
    Column("end_price", Float),
    Column("change_bps", Float),
    Column("outcome", String(8)),
    Column("void_reason", Text),
    Column("warm_up", Boolean, nullable=False),
    Column("settled", Boolean, nullable=False),
    Column("ranges", Text),  # JSON, by horizon
    Column("moves", Text),  # JSON, by horizon
    Column("due_ms", BigInteger),  # when the next horizon ends
    UniqueConstraint("asset", "start_ms"),
    Index("predictions_by_due", "due_ms"),
    Index("predictions_by_state", "settled", "start_ms"),
    Index("predictions_by_start", "start_ms"),
)

lessons = Table(
    "lessons",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("lesson_id", String(48), nullable=False, unique=True),
    Column("round_id", String(32), nullable=False, unique=True),
    Column("asset", String(16), nullable=False),
    Column("brain_prediction", String(8), nullable=False),
    Column("human_consensus", String(8), nullable=False),
    Column("actual_outcome", String(8), nullable=False),
    Column("brain_correct", Integer, nullable=False),
    Column("crowd_correct", Integer, nullable=False),
    Column("agreement", Integer, nullable=False),
    Column("shared_intelligence_score", Float, nullable=False),
    Column("learning_score", Float, nullable=False),
    Column("pattern_type", String(16), nullable=False),
    Column("summary", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("warm_up", Boolean, nullable=False),
    Column("simulated_crowd", Boolean, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("text", Text, nullable=False),
)

brain_state = Table(
    "brain_state",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("state", LargeBinary, nullable=False),
)

regime_history = Table(
    "regime_history",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at_ms", BigInteger, nullable=False, unique=True),
    Column("label", String(24), nullable=False),
    Column("mode", String(16), nullable=False),
    Column("confidence", Float),
    Column("risk_score", Float),
    Column("changed", Boolean, nullable=False),  # the label differs from the row before; never pruned
    Column("warm_up", Boolean, nullable=False),
)

# What was published first in each hour; kept for good.
hours = Table(
    "hours",
    metadata,
    Column("at_ms", BigInteger, primary_key=True),
    Column("market_ms", BigInteger, nullable=False),
    Column("label", String(24), nullable=False),
    Column("chances", Text, nullable=False),  # JSON: of the four regimes, or null
    Column("headline", Text, nullable=False),
    Column("prices", Text, nullable=False),  # JSON, by asset
    Column("warm_up", Boolean, nullable=False),
)

# The transparency log: entries in order, and the roots of its full tiles (`index` counts tiles of a level).
log_entries = Table(
    "log_entries",
    metadata,
    Column("id", Integer, primary_key=True),  # the entry's number plus one: databases count from one
    Column("kind", String(24), nullable=False, index=True),
    Column("subject", String(32), index=True),
    Column("data", LargeBinary, nullable=False),
)

log_nodes = Table(
    "log_nodes",
    metadata,
    Column("level", Integer, primary_key=True),
    Column("index", BigInteger, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)

voters = Table(
    "voters",
    metadata,
    Column("address", String(58), primary_key=True),
    Column("resolved", Integer, nullable=False),  # rounds voted in that resolved
    Column("hits", Integer, nullable=False),
)

# What was computed from a round's real votes at its lock, as JSON.
locked_crowds = Table(
    "locked_crowds",
    metadata,
    Column("round_id", String(32), primary_key=True),
    Column("crowd", Text, nullable=False),
)

# Valid ballots as they were signed: of an open round all of them, of a locked one those that count; see `ballots`.
signed_ballots = Table(
    "signed_ballots",
    metadata,
    Column("txid", String(52), primary_key=True),
    Column("round_id", String(32), nullable=False, index=True),
    Column("data", LargeBinary, nullable=False),
)

ballot_sheets = Table(
    "ballot_sheets",
    metadata,
    Column("round_id", String(32), primary_key=True),
    Column("start_ms", BigInteger, nullable=False),
    Column("ballots", Integer, nullable=False),
    Column("put", Integer, nullable=False),  # how many of them are published
)
