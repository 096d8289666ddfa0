"""Volatility and side of each tick, by which news are told; rows of before have neither."""

import sqlalchemy as sa
from alembic import op

revision = "11"
down_revision = "10"


def upgrade() -> None:
    """Add the columns, empty in every earlier row."""
    for name in ("volatility", "side"):
        op.add_column("regime_history", sa.Column(name, sa.String(16)))
