"""The oldest schema that is upgraded, that of commit 78f9e24c: games, ballots, lessons, the log, the service itself."""

import sqlalchemy as sa
from alembic import op

revision = "14"
down_revision = None

CHANCES = ("p_down", "p_neutral", "p_up", "base_down", "base_neutral", "base_up")


def upgrade() -> None:
    """Make all tables; only tests begin here, a new memory is made with the newest schema at once."""
    _make_arena()
    _make_ballots()
    _make_hourly()
    _make_daily()
    _make_service()
    _make_log()


def _make_arena() -> None:
    op.create_table(
        "rounds",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("round_id", sa.String(32), nullable=False, unique=True),
        sa.Column("asset", sa.String(16), nullable=False),
        sa.Column("opens_ms", sa.BigInteger, nullable=False),
        sa.Column("start_ms", sa.BigInteger, nullable=False, unique=True),
        sa.Column("end_ms", sa.BigInteger, nullable=False),
        sa.Column("phase", sa.String(16), nullable=False),
        sa.Column("band_bps", sa.Float),
        sa.Column("sealed_digest", sa.String(64)),
        sa.Column("salt", sa.String(128)),
        sa.Column("prediction", sa.String(8)),
        *(sa.Column(name, sa.Float) for name in CHANCES),
        sa.Column("confidence_percent", sa.Float),
        sa.Column("regime_mode", sa.String(16)),
        sa.Column("call", sa.String(16)),
        sa.Column("previous", sa.String(8)),
        sa.Column("start_price", sa.Float),
        sa.Column("end_price", sa.Float),
        sa.Column("change_bps", sa.Float),
        sa.Column("outcome", sa.String(8)),
        sa.Column("void_reason", sa.Text),
        sa.Column("price_basis", sa.String(32)),
        sa.Column("warm_up", sa.Boolean, nullable=False),
        sa.Column("simulated_crowd", sa.Boolean, nullable=False),
    )
    op.create_index("rounds_by_phase", "rounds", ["phase", "start_ms"])
    op.create_index("rounds_by_asset", "rounds", ["asset", "phase", "end_ms"])

    op.create_table(
        "lessons",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("lesson_id", sa.String(48), nullable=False, unique=True),
        sa.Column("round_id", sa.String(32), nullable=False, unique=True),
        sa.Column("asset", sa.String(16), nullable=False),
        sa.Column("brain_prediction", sa.String(8), nullable=False),
        sa.Column("human_consensus", sa.String(8), nullable=False),
        sa.Column("actual_outcome", sa.String(8), nullable=False),
        sa.Column("brain_correct", sa.Integer, nullable=False),
        sa.Column("crowd_correct", sa.Integer, nullable=False),
        sa.Column("agreement", sa.Integer, nullable=False),
        sa.Column("shared_intelligence_score", sa.Float, nullable=False),
        sa.Column("learning_score", sa.Float, nullable=False),
        sa.Column("pattern_type", sa.String(16), nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("warm_up", sa.Boolean, nullable=False),
        sa.Column("simulated_crowd", sa.Boolean, nullable=False),
        sa.Column("brain_called", sa.Integer),
        sa.Column("concept", sa.String(16)),
        *(sa.Column(name, sa.Text) for name in ("point", "question", "answer")),
    )
    op.create_index("lessons_by_concept", "lessons", ["concept", "id"])


def _make_ballots() -> None:
    op.create_table(
        "ballots",
        sa.Column("txid", sa.String(52), primary_key=True),
        sa.Column("round_id", sa.String(32), nullable=False),
        sa.Column("voter", sa.String(58), nullable=False),
        sa.Column("choice", sa.String(8), nullable=False),
        sa.Column("arrived_ms", sa.BigInteger, nullable=False),
        sa.Column("counts", sa.Boolean, nullable=False),
        *(sa.Column(name, sa.Integer) for name in ("q_up", "q_neutral", "q_down")),
    )
    op.create_index("ballots_by_round", "ballots", ["round_id", "counts", "choice"])

    op.create_table(
        "rejected_ballots",
        sa.Column("reason", sa.String(80), primary_key=True),
        sa.Column("n", sa.Integer, nullable=False),
    )

    op.create_table(
        "refused_on_chain",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("txid", sa.String(64), nullable=False, unique=True),
    )

    op.create_table(
        "crowd_tallies",
        sa.Column("round_id", sa.String(32), primary_key=True),
        sa.Column("simulated", sa.Boolean, primary_key=True),
        sa.Column("bullish", sa.Integer, nullable=False),
        sa.Column("bearish", sa.Integer, nullable=False),
        sa.Column("neutral", sa.Integer, nullable=False),
        *(sa.Column(name, sa.Integer) for name in ("gave_chances", "sum_up", "sum_neutral", "sum_down")),
    )

    op.create_table(
        "voters",
        sa.Column("address", sa.String(58), primary_key=True),
        sa.Column("resolved", sa.Integer, nullable=False),
        sa.Column("hits", sa.Integer, nullable=False),
        sa.Column("scored", sa.Integer),
        *(sa.Column(name, sa.BigInteger) for name in ("brier", "base_brier", "log_score", "base_log_score", "squares")),
    )

    op.create_table(
        "locked_crowds",
        sa.Column("round_id", sa.String(32), primary_key=True),
        sa.Column("crowd", sa.Text, nullable=False),
    )

    op.create_table(
        "signed_ballots",
        sa.Column("txid", sa.String(52), primary_key=True),
        sa.Column("round_id", sa.String(32), nullable=False, index=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )

    op.create_table(
        "ballot_sheets",
        sa.Column("round_id", sa.String(32), primary_key=True),
        sa.Column("start_ms", sa.BigInteger, nullable=False),
        sa.Column("ballots", sa.Integer, nullable=False),
        sa.Column("put", sa.Integer, nullable=False),
    )
    due = sa.text("put < ballots")
    op.create_index("ballot_sheets_due", "ballot_sheets", ["start_ms"], sqlite_where=due, postgresql_where=due)


def _make_hourly() -> None:
    op.create_table(
        "predictions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("asset", sa.String(16), nullable=False),
        sa.Column("start_ms", sa.BigInteger, nullable=False),
        sa.Column("end_ms", sa.BigInteger, nullable=False),
        sa.Column("made_ms", sa.BigInteger),
        *(sa.Column(name, sa.Float, nullable=False) for name in CHANCES),
        sa.Column("prediction", sa.String(8), nullable=False),
        sa.Column("previous", sa.String(8)),
        sa.Column("band_bps", sa.Float, nullable=False),
        sa.Column("start_price", sa.Float),
        sa.Column("end_price", sa.Float),
        sa.Column("change_bps", sa.Float),
        sa.Column("outcome", sa.String(8)),
        sa.Column("void_reason", sa.Text),
        sa.Column("warm_up", sa.Boolean, nullable=False),
        sa.Column("settled", sa.Boolean, nullable=False),
        *(sa.Column(name, sa.Text) for name in ("ranges", "moves")),
        sa.Column("due_ms", sa.BigInteger),
        sa.Column("call", sa.String(16)),
        sa.UniqueConstraint("asset", "start_ms"),
    )
    op.create_index("predictions_by_state", "predictions", ["settled", "start_ms"])
    op.create_index("predictions_by_start", "predictions", ["start_ms"])
    op.create_index("predictions_by_due", "predictions", ["due_ms"])

    op.create_table(
        "hours",
        sa.Column("at_ms", sa.BigInteger, primary_key=True),
        sa.Column("market_ms", sa.BigInteger, nullable=False),
        sa.Column("label", sa.String(24), nullable=False),
        sa.Column("chances", sa.Text, nullable=False),
        sa.Column("headline", sa.Text, nullable=False),
        sa.Column("prices", sa.Text, nullable=False),
        sa.Column("warm_up", sa.Boolean, nullable=False),
    )

    op.create_table(
        "ladders",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("start_ms", sa.BigInteger, nullable=False, unique=True),
        sa.Column("made_ms", sa.BigInteger, nullable=False),
        sa.Column("due_ms", sa.BigInteger),
        sa.Column("warm_up", sa.Boolean, nullable=False),
        sa.Column("said", sa.Text, nullable=False),
        sa.Column("base", sa.Text, nullable=False),
        sa.Column("prices", sa.Text, nullable=False),
        sa.Column("came", sa.Text, nullable=False),
        sa.Column("void_reason", sa.Text),
    )
    op.create_index("ladders_by_due", "ladders", ["due_ms"])

    op.create_table(
        "ladder_days",
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.Column("published", sa.Boolean, nullable=False),
    )


def _make_daily() -> None:
    op.create_table(
        "daily_questions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("question_id", sa.String(32), nullable=False, unique=True),
        sa.Column("asked_ms", sa.BigInteger, nullable=False),
        sa.Column("closes_ms", sa.BigInteger, nullable=False),
        sa.Column("measured_ms", sa.BigInteger, nullable=False),
        sa.Column("phase", sa.String(16), nullable=False),
        sa.Column("brain", sa.Text, nullable=False),
        sa.Column("usual", sa.Text, nullable=False),
        sa.Column("salt", sa.String(128), nullable=False),
        sa.Column("commitment", sa.String(64), nullable=False),
        sa.Column("start_price", sa.Float),
        sa.Column("end_price", sa.Float),
        sa.Column("move", sa.Float),
        sa.Column("people", sa.Float),
        sa.Column("price_basis", sa.String(32)),
        sa.Column("answers_sha256", sa.String(64)),
        sa.Column("answers", sa.Integer),
        sa.Column("void_reason", sa.Text),
    )
    op.create_index("daily_questions_by_phase", "daily_questions", ["phase", "closes_ms"])

    op.create_table(
        "daily_answers",
        sa.Column("txid", sa.String(52), primary_key=True),
        sa.Column("question_id", sa.String(32), nullable=False),
        sa.Column("voter", sa.String(58), nullable=False),
        sa.Column("ranges", sa.Text, nullable=False),
        sa.Column("arrived_ms", sa.BigInteger, nullable=False),
        sa.Column("counts", sa.Boolean, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_index("daily_answers_by_question", "daily_answers", ["question_id", "counts", "txid"])


def _make_service() -> None:
    op.create_table(
        "meta",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )

    op.create_table(
        "ticks",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("tick_id", sa.String(32), nullable=False, unique=True),
        sa.Column("generation", sa.String(12)),
        sa.Column("at_ms", sa.BigInteger, nullable=False, index=True),
        sa.Column("ok", sa.Boolean, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("warm_up", sa.Boolean, nullable=False),
    )

    op.create_table(
        "events",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )

    op.create_table(
        "brain_state",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("state", sa.LargeBinary, nullable=False),
    )

    op.create_table(
        "regime_history",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at_ms", sa.BigInteger, nullable=False, unique=True),
        sa.Column("label", sa.String(24), nullable=False),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("confidence", sa.Float),
        sa.Column("risk_score", sa.Float),
        sa.Column("changed", sa.Boolean, nullable=False),
        sa.Column("warm_up", sa.Boolean, nullable=False),
        *(sa.Column(name, sa.String(16)) for name in ("volatility", "side")),
    )

    op.create_table(
        "running_totals",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("rule", sa.String(16), nullable=False),
        sa.Column("rounds", sa.BigInteger, nullable=False),
        sa.Column("predictions", sa.BigInteger, nullable=False),
        sa.Column("lessons", sa.BigInteger, nullable=False),
        sa.Column("sums", sa.Text, nullable=False),
    )


def _make_log() -> None:
    op.create_table(
        "log_entries",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("kind", sa.String(24), nullable=False, index=True),
        sa.Column("subject", sa.String(32), index=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )

    op.create_table(
        "log_nodes",
        sa.Column("level", sa.Integer, primary_key=True),
        sa.Column("index", sa.BigInteger, primary_key=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
    )

    op.create_table(
        "witnessed_heads",
        sa.Column("size", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("note", sa.LargeBinary, nullable=False),
        sa.Column("published", sa.Boolean, nullable=False),
    )
