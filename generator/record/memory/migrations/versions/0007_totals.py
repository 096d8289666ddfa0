"""Running totals are kept with the record, and the ballots that are due are found by an index."""

import sqlalchemy as sa
from alembic import op

revision = "7"
down_revision = "6"


def upgrade() -> None:
    """Make the table, which the first start fills by counting the record, and the indexes."""
    op.create_table(
        "running_totals",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("rule", sa.String(16), nullable=False),
        sa.Column("rounds", sa.BigInteger, nullable=False),
        sa.Column("predictions", sa.BigInteger, nullable=False),
        sa.Column("lessons", sa.BigInteger, nullable=False),
        sa.Column("sums", sa.Text, nullable=False),
    )
    due = sa.text("put < ballots")
    op.create_index("ballot_sheets_due", "ballot_sheets", ["start_ms"], sqlite_where=due, postgresql_where=due)
    # Memories that schemas before 4 began lack these: their tables were there already, and kept the indexes they had.
    op.create_index("predictions_by_start", "predictions", ["start_ms"], if_not_exists=True)
    op.create_index("ix_log_entries_kind", "log_entries", ["kind"], if_not_exists=True)
