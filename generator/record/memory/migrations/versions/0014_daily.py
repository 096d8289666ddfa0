"""The daily question and its answers; earlier memories have none."""

import sqlalchemy as sa
from alembic import op

revision = "14"
down_revision = "13"


def upgrade() -> None:
    """Add the tables, empty."""
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
