"""What venues said of books and futures, by the hour; and the kind of chances that a forecast holds, empty before."""

import sqlalchemy as sa
from alembic import op

revision = "15"
down_revision = "14"


def upgrade() -> None:
    """Add the table, empty, and the columns, empty in every earlier row."""
    op.create_table(
        "venues",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("minutes", sa.Integer, nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("market_ms", sa.BigInteger, nullable=False),
        sa.Column("assets", sa.Text, nullable=False),
    )
    op.create_index("venues_by_time", "venues", ["minutes", "at_ms"])
    op.add_column("rounds", sa.Column("chances_kind", sa.String(16)))
    op.add_column("predictions", sa.Column("chances_kind", sa.String(16)))
