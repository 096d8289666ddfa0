"""From commit 78f9e24c: what venues said, bars, games of one life, kinds of chances, and an hour's situation."""

import sqlalchemy as sa
from alembic import op

revision = "19"
down_revision = "14"


def upgrade() -> None:
    """Add the tables, empty, and the columns, empty in every earlier row."""
    op.create_table(
        "venues",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("minutes", sa.Integer, nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("market_ms", sa.BigInteger, nullable=False),
        sa.Column("assets", sa.Text, nullable=False),
    )
    op.create_index("venues_by_time", "venues", ["minutes", "at_ms"])

    op.create_table(
        "sealed",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("horizon", sa.String(16), nullable=False),
        sa.Column("start_ms", sa.BigInteger, nullable=False),
        sa.Column("end_ms", sa.BigInteger, nullable=False),
        sa.Column("made_ms", sa.BigInteger, nullable=False),
        sa.Column("phase", sa.String(16), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("at_start", sa.Text),
        sa.Column("at_end", sa.Text),
        sa.Column("scores", sa.Text),
        sa.Column("void_reason", sa.Text),
        sa.UniqueConstraint("kind", "start_ms", "horizon"),
    )
    op.create_index("sealed_by_phase", "sealed", ["kind", "phase"])

    op.create_table(
        "bars",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("opens_ms", sa.BigInteger, nullable=False, unique=True),
        sa.Column("assets", sa.Text, nullable=False),
    )

    for table in ("rounds", "predictions"):
        op.add_column(table, sa.Column("chances_kind", sa.String(16)))
    op.add_column("hours", sa.Column("chances_kind", sa.String(32)))
    op.add_column("regime_history", sa.Column("confidence_kind", sa.String(32)))
    op.add_column("hours", sa.Column("situation", sa.String(16)))
