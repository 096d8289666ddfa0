"""Lessons explain an idea; those of before keep the text they had."""

import sqlalchemy as sa
from alembic import op

revision = "9"
down_revision = "8"


def upgrade() -> None:
    """Add the columns, empty in every earlier row."""
    op.add_column("lessons", sa.Column("concept", sa.String(16)))
    for name in ("point", "question", "answer"):
        op.add_column("lessons", sa.Column(name, sa.Text))
