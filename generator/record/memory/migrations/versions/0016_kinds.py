"""The kind of an hour's chances and of a regime's confidence, empty in earlier rows."""

import sqlalchemy as sa
from alembic import op

revision = "16"
down_revision = "15"


def upgrade() -> None:
    """Add the columns, empty in every earlier row."""
    op.add_column("hours", sa.Column("chances_kind", sa.String(32)))
    op.add_column("regime_history", sa.Column("confidence_kind", sa.String(32)))
