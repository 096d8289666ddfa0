"""From commit 8e1bc11a: the daily question counts from the price when it was asked, and has forecasts of its close."""

import sqlalchemy as sa
from alembic import op

revision = "21"
down_revision = "20"


def upgrade() -> None:
    """Add the columns, empty in every earlier row: questions asked before count from the price of their close."""
    op.add_column("daily_questions", sa.Column("base_price", sa.Float))
    for name in ("closing_brain", "closing_usual"):
        op.add_column("daily_questions", sa.Column(name, sa.Text))
