"""Ladders by hour, and the files of the days that are over; hours of before have none."""

import sqlalchemy as sa
from alembic import op

revision = "12"
down_revision = "11"


def upgrade() -> None:
    """Add the tables, empty."""
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
