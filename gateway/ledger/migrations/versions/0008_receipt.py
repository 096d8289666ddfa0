"""A settled payment keeps the receipt that was signed for it, as long as its body."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the receipt, which no payment of before has, and find those of a body."""
    op.add_column("payments", sa.Column("receipt", sa.Text))
    has_one = sa.text("receipt IS NOT NULL")
    op.create_index("payments_receipt", "payments", ["sha256"], sqlite_where=has_one, postgresql_where=has_one)
