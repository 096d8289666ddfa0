"""Keep since which round a refusal is being checked, and index what only the facilitator vouches for."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add a column and an index."""
    op.add_column("payments", sa.Column("refusal_round", sa.BigInteger))
    unproven = sa.text("evidence IN ('facilitator', 'before_broadcast')")
    op.create_index("payments_unproven", "payments", ["closed_at"], sqlite_where=unproven, postgresql_where=unproven)
