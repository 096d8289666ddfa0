"""Heads of the log that witnesses signed, each once."""

import sqlalchemy as sa
from alembic import op

revision = "10"
down_revision = "9"


def upgrade() -> None:
    """Add the table, empty."""
    op.create_table(
        "witnessed_heads",
        sa.Column("size", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("note", sa.LargeBinary, nullable=False),
        sa.Column("published", sa.Boolean, nullable=False),
    )
