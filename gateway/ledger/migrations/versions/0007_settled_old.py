"""Payments whose body went long ago move to a table of a hundred bytes a row; their whole rows are exported before."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the table, empty."""
    op.create_table(
        "settled_old",
        sa.Column("txid", sa.LargeBinary(32), primary_key=True),
        sa.Column("product", sa.String, nullable=False),
        sa.Column("amount_atomic", sa.BigInteger, nullable=False),
        sa.Column("settled_at", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
