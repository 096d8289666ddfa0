"""How far prices may move: hourly predictions get ranges, and the moves that are judged by them."""

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    """Add the columns, empty in every earlier row, and the index by which due ranges are found."""
    op.add_column("predictions", sa.Column("ranges", sa.Text))
    op.add_column("predictions", sa.Column("moves", sa.Text))
    op.add_column("predictions", sa.Column("due_ms", sa.BigInteger))
    op.create_index("predictions_by_due", "predictions", ["due_ms"])
