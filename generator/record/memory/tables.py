"""The tables of the memory, as the newest migration leaves them. Times are UTC ms."""

from typing import Any, Final

import sqlalchemy as sa

SCHEMA_VERSION: Final = "22"
"""The newest migration; a memory of this schema needs no Alembic to start."""
SCHEMA_KEY: Final = "schema_version"
FENCE_KEY: Final = "fence"
GENERATION_KEY: Final = "generation"
BEHIND_KEY: Final = "log_may_be_behind"  # why it is meant that readers have more of the log; empty once they have not
CHANCES: Final = ("p_down", "p_neutral", "p_up", "base_down", "base_neutral", "base_up")

metadata = sa.MetaData()
# Alembic's own, one row: the schema that the tables have.
stamp = sa.Table("memory_version", sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True))


def _id() -> sa.Column[Any]:
    return sa.Column("id", sa.Integer, primary_key=True)


def _key(kind: Any, *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, primary_key=True) for name in names]


def _unique(kind: Any, *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False, unique=True) for name in names]


def _given(kind: Any, *names: str, index: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False, index=index) for name in names]


def _maybe(kind: Any, *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind) for name in names]


meta = sa.Table("meta", metadata, *_key(sa.String(64), "key"), *_given(sa.Text, "value"))

ticks = sa.Table(
    "ticks",
    metadata,
    _id(),
    *_unique(sa.String(32), "tick_id"),
    *_maybe(sa.String(12), "generation"),
    *_given(sa.BigInteger, "at_ms", index=True),
    *_given(sa.Boolean, "ok", "warm_up"),
    *_maybe(sa.Text, "reason"),
)

rounds = sa.Table(
    "rounds",
    metadata,
    _id(),
    *_unique(sa.String(32), "round_id"),
    *_unique(sa.BigInteger, "start_ms"),  # one round a slot
    *_given(sa.BigInteger, "opens_ms", "end_ms"),
    *_given(sa.String(16), "asset", "phase"),
    *_given(sa.Boolean, "warm_up", "simulated_crowd"),
    *_maybe(sa.Float, *CHANCES, "band_bps", "confidence_percent", "start_price", "end_price", "change_bps"),
    *_maybe(sa.String(8), "prediction", "previous", "outcome"),
    *_maybe(
        sa.String(16), "regime_mode", "call"
    ),  # call: NULL without a forecast, and where it was sealed before calls
    *_maybe(sa.String(16), "chances_kind"),  # NULL without a forecast, and where it was sealed before kinds existed
    *_maybe(sa.String(32), "price_basis"),
    *_maybe(sa.String(64), "sealed_digest"),
    *_maybe(sa.String(128), "salt"),
    *_maybe(sa.Text, "void_reason"),
    *_maybe(sa.Text, "closing"),  # JSON: the second seal; NULL: opened before there was one, and in a backtest
    sa.Index("rounds_by_phase", "phase", "start_ms"),
    sa.Index("rounds_by_asset", "asset", "phase", "end_ms"),
)

ballots = sa.Table(
    "ballots",
    metadata,
    *_key(sa.String(52), "txid"),
    *_given(sa.String(32), "round_id"),
    *_given(sa.String(58), "voter"),
    *_given(sa.String(8), "choice"),
    *_given(sa.BigInteger, "arrived_ms"),
    *_given(sa.Boolean, "counts"),  # the voter's last before the close
    *_maybe(sa.Integer, "q_up", "q_neutral", "q_down"),  # chances in whole percent; NULL: a word alone
    sa.Index("ballots_by_round", "round_id", "counts", "choice"),
)

rejected = sa.Table("rejected_ballots", metadata, *_key(sa.String(80), "reason"), *_given(sa.Integer, "n"))

# Ballots on chain that were refused: they are read again after a restart, and counted once.
refused_on_chain = sa.Table("refused_on_chain", metadata, _id(), *_unique(sa.String(64), "txid"))

tallies = sa.Table(
    "crowd_tallies",
    metadata,
    *_key(sa.String(32), "round_id"),
    *_key(sa.Boolean, "simulated"),
    *_given(sa.Integer, "bullish", "bearish", "neutral"),
    # Of how many votes that gave chances, and the sums of these in percent; NULL: locked before a vote could.
    *_maybe(sa.Integer, "gave_chances", "sum_up", "sum_neutral", "sum_down"),
)

predictions = sa.Table(
    "predictions",
    metadata,
    _id(),
    *_given(sa.String(16), "asset"),
    *_given(sa.BigInteger, "start_ms", "end_ms"),
    *_given(sa.Float, *CHANCES, "band_bps"),
    *_given(sa.String(8), "prediction"),
    *_given(sa.Boolean, "warm_up", "settled"),
    *_maybe(sa.BigInteger, "made_ms", "due_ms"),  # when it was made, when the next horizon ends
    *_maybe(sa.Float, "start_price", "end_price", "change_bps"),
    *_maybe(sa.String(8), "previous", "outcome"),
    *_maybe(sa.Text, "void_reason", "ranges", "moves"),  # the last two JSON, by horizon
    *_maybe(sa.String(16), "call"),  # NULL: made before calls existed
    *_maybe(sa.String(16), "chances_kind"),  # how the chances were made; NULL: before kinds existed
    sa.UniqueConstraint("asset", "start_ms"),
    sa.Index("predictions_by_due", "due_ms"),
    sa.Index("predictions_by_state", "settled", "start_ms"),
    sa.Index("predictions_by_start", "start_ms"),
)

lessons = sa.Table(
    "lessons",
    metadata,
    _id(),
    *_unique(sa.String(48), "lesson_id"),
    *_unique(sa.String(32), "round_id"),
    *_given(sa.String(16), "asset", "pattern_type"),
    *_given(sa.String(8), "brain_prediction", "human_consensus", "actual_outcome"),
    *_given(sa.Integer, "brain_correct", "crowd_correct", "agreement"),
    *_given(sa.Float, "shared_intelligence_score", "learning_score"),
    *_given(sa.Text, "summary"),
    *_given(sa.BigInteger, "created_ms"),
    *_given(sa.Boolean, "warm_up", "simulated_crowd"),
    *_maybe(sa.Integer, "brain_called"),  # NULL: of a forecast that was sealed before calls existed
    *_maybe(sa.String(16), "concept"),
    *_maybe(sa.Text, "point", "question", "answer"),
    sa.Index("lessons_by_concept", "concept", "id"),
)

events = sa.Table(
    "events", metadata, _id(), *_given(sa.BigInteger, "at_ms"), *_given(sa.String(32), "kind"), *_given(sa.Text, "text")
)

brain_state = sa.Table(
    "brain_state", metadata, _id(), *_given(sa.BigInteger, "at_ms"), *_given(sa.LargeBinary, "state")
)

regime_history = sa.Table(
    "regime_history",
    metadata,
    _id(),
    *_unique(sa.BigInteger, "at_ms"),
    *_given(sa.String(24), "label"),
    *_given(sa.String(16), "mode"),
    *_maybe(sa.Float, "confidence", "risk_score"),
    # The label or the state by the two axes differs from the last that was known: such a row is never pruned.
    *_given(sa.Boolean, "warm_up", "changed"),
    *_maybe(sa.String(16), "volatility", "side"),  # NULL: of a tick from before the axes were kept
    *_maybe(sa.String(32), "confidence_kind"),  # NULL: without a confidence, and before kinds existed
)

# What was published first in each hour; kept for good.
hours = sa.Table(
    "hours",
    metadata,
    *_key(sa.BigInteger, "at_ms"),
    *_given(sa.BigInteger, "market_ms"),
    *_given(sa.String(24), "label"),
    *_given(sa.Text, "chances", "headline", "prices"),  # JSON: of the four regimes or null; prices JSON, by asset
    *_given(sa.Boolean, "warm_up"),
    *_maybe(sa.String(32), "chances_kind"),  # NULL: without chances, and before kinds existed
    *_maybe(sa.String(16), "situation"),  # of the headline; NULL: unknown, and before it was kept
)

# What venues said of books and futures, as it was first in each 5 minutes (a day of them) and in each hour.
venues = sa.Table(
    "venues",
    metadata,
    _id(),
    *_given(sa.Integer, "minutes"),  # 5 or 60
    *_given(sa.BigInteger, "at_ms", "market_ms"),  # wall time of the tick, and its market time
    *_given(sa.Text, "assets"),  # JSON: by asset funding by venue, interest, depth, spread, disagreement; null: unknown
    sa.Index("venues_by_time", "minutes", "at_ms"),
)

# The 5-minute bars that ticks saw: two months of them.
bars = sa.Table(
    "bars",
    metadata,
    _id(),
    sa.Column("opens_ms", sa.BigInteger, nullable=False, unique=True),  # market time
    *_given(sa.Text, "assets"),  # JSON: by asset the values of `BAR_FIELDS`; null: unknown
)

# The transparency log: entries in order, and the roots of its full tiles (`index` counts tiles of a level).
log_entries = sa.Table(
    "log_entries",
    metadata,
    _id(),  # the entry's number plus one: databases count from one
    *_given(sa.String(24), "kind", index=True),
    sa.Column("subject", sa.String(32), index=True),
    *_given(sa.LargeBinary, "data"),
)

log_nodes = sa.Table(
    "log_nodes", metadata, *_key(sa.Integer, "level"), *_key(sa.BigInteger, "index"), *_given(sa.LargeBinary, "value")
)

# The running totals, in one row: which rule counted them, and the newest rows of the record that they hold.
totals = sa.Table(
    "running_totals",
    metadata,
    _id(),
    *_given(sa.String(16), "rule"),
    *_given(sa.BigInteger, "rounds", "predictions", "lessons"),  # their highest numbers, 0 for none
    *_given(sa.Text, "sums"),  # JSON
)

# Per voter the rounds voted in that resolved, how many of these votes were right, and the start of the first. Of the
# rounds in which the voter gave chances: how many, the sums of Brier and log score (in 10^-8 and 10^-9), and those of
# the base rate over the same rounds. NULL: none so far. `by_hits` and `by_chances` are `arena.ranks.Saved`, JSON: how
# much oftener the votes were right than the likeliest outcome came, and what the chances saved against the base rate.
voters = sa.Table(
    "voters",
    metadata,
    *_key(sa.String(58), "address"),
    *_given(sa.Integer, "resolved", "hits"),
    *_given(sa.BigInteger, "since_ms"),
    *_given(sa.Text, "by_hits", "by_chances"),
    *_maybe(sa.Integer, "scored"),
    *_maybe(sa.BigInteger, "brier", "base_brier", "log_score", "base_log_score"),
)

# What was computed from a round's real votes at its lock, as JSON.
locked_crowds = sa.Table("locked_crowds", metadata, *_key(sa.String(32), "round_id"), *_given(sa.Text, "crowd"))

# Valid ballots as they were signed: of an open round all of them, of a locked one those that count; see `ballots`.
signed_ballots = sa.Table(
    "signed_ballots",
    metadata,
    *_key(sa.String(52), "txid"),
    *_given(sa.String(32), "round_id", index=True),
    *_given(sa.LargeBinary, "data"),
)

# How many ballots of a locked round count, and how many of them are published: the column is called `put`.
ballot_sheets = sa.Table(
    "ballot_sheets",
    metadata,
    *_key(sa.String(32), "round_id"),
    *_given(sa.BigInteger, "start_ms"),
    *_given(sa.Integer, "ballots"),
    sa.Column("put", sa.Integer, key="published", nullable=False),
)
_due = ballot_sheets.c.published < ballot_sheets.c.ballots
sa.Index("ballot_sheets_due", ballot_sheets.c.start_ms, sqlite_where=_due, postgresql_where=_due)

# Heads of the log as witnesses signed them, by the number of entries; `published` once readers have them.
witnessed_heads = sa.Table(
    "witnessed_heads",
    metadata,
    *_key(sa.BigInteger, "size"),
    *_given(sa.LargeBinary, "note"),
    *_given(sa.Boolean, "published"),
)

# What was said of each hour's ladders and what came; the last four are JSON. Those of days long published are deleted.
ladders = sa.Table(
    "ladders",
    metadata,
    _id(),
    *_unique(sa.BigInteger, "start_ms"),
    *_given(sa.BigInteger, "made_ms"),
    *_maybe(sa.BigInteger, "due_ms"),
    *_given(sa.Boolean, "warm_up"),
    *_given(sa.Text, "said", "base", "prices", "came"),
    *_maybe(sa.Text, "void_reason"),
    sa.Index("ladders_by_due", "due_ms"),
)

# The files that reveal the ladders of days that are over, compressed; `published` once readers have them.
ladder_days = sa.Table(
    "ladder_days",
    metadata,
    *_key(sa.Integer, "day"),
    *_given(sa.LargeBinary, "data"),
    *_given(sa.Boolean, "published"),
)

# The daily questions; `brain` and `usual` are four ends each, as JSON.
daily_questions = sa.Table(
    "daily_questions",
    metadata,
    _id(),
    *_unique(sa.String(32), "question_id"),
    *_given(sa.BigInteger, "asked_ms", "closes_ms", "measured_ms"),
    *_given(sa.String(16), "phase"),
    *_given(sa.Text, "brain", "usual"),
    *_given(sa.String(128), "salt"),
    *_given(sa.String(64), "commitment"),
    *_maybe(sa.Float, "start_price", "end_price", "move", "people"),
    *_maybe(sa.String(32), "price_basis"),
    *_maybe(sa.String(64), "answers_sha256"),
    *_maybe(sa.Integer, "answers"),
    *_maybe(sa.Text, "void_reason"),
    *_maybe(sa.Float, "base_price"),
    *_maybe(sa.Text, "closing_brain", "closing_usual"),
    sa.Index("daily_questions_by_phase", "phase", "closes_ms"),
)

# Valid answers to them as they were signed; `ranges` are four ends, as JSON.
daily_answers = sa.Table(
    "daily_answers",
    metadata,
    *_key(sa.String(52), "txid"),
    *_given(sa.String(32), "question_id"),
    *_given(sa.String(58), "voter"),
    *_given(sa.Text, "ranges"),
    *_given(sa.BigInteger, "arrived_ms"),
    *_given(sa.Boolean, "counts"),  # the voter's last before the close
    *_given(sa.LargeBinary, "data"),
    *_maybe(sa.BigInteger, "saved"),  # against a usual day, 10^-4 points; NULL until measured, and without a base
    sa.Index("daily_answers_by_question", "question_id", "counts", "txid"),
)

# What games of one life sealed (`arena.sealed`): JSON is the content, what was seen at both ends, and the scores.
claims = sa.Table(
    "sealed",
    metadata,
    _id(),
    *_given(sa.String(16), "kind", "horizon"),
    *_given(sa.BigInteger, "start_ms", "end_ms", "made_ms"),
    *_given(sa.String(16), "phase"),
    *_given(sa.Text, "content"),
    *_maybe(sa.Text, "at_start", "at_end", "scores", "void_reason"),
    sa.UniqueConstraint("kind", "start_ms", "horizon"),
    sa.Index("sealed_by_phase", "kind", "phase"),
)
