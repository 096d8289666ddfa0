"""Forecasts hold a call; what was sealed before keeps none, and its word, result and lesson stay as they were."""

import sqlalchemy as sa
from alembic import op

revision = "8"
down_revision = "7"


def upgrade() -> None:
    """Add the columns, empty in every earlier row."""
    op.add_column("rounds", sa.Column("call", sa.String(16)))
    op.add_column("predictions", sa.Column("call", sa.String(16)))
    op.add_column("lessons", sa.Column("brain_called", sa.Integer))
