"""What was published first in each hour is kept for good."""

import sqlalchemy as sa
from alembic import op

revision = "6"
down_revision = "5"


def upgrade() -> None:
    """Make its table."""
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
