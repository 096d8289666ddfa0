"""The bars that ticks saw, for who exports a month of them; earlier memories have none."""

import sqlalchemy as sa
from alembic import op

revision = "19"
down_revision = "18"


def upgrade() -> None:
    """Add the table, empty."""
    op.create_table(
        "bars",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("opens_ms", sa.BigInteger, nullable=False, unique=True),
        sa.Column("assets", sa.Text, nullable=False),
    )
