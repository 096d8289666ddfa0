"""What an hour's headline is about, empty in earlier rows."""

import sqlalchemy as sa
from alembic import op

revision = "17"
down_revision = "16"


def upgrade() -> None:
    """Add the column, empty in every earlier row."""
    op.add_column("hours", sa.Column("situation", sa.String(16)))
