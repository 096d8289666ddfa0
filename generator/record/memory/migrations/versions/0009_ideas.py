"""Lessons explain an idea; those of before keep the text they had."""

import sqlalchemy as sa
from alembic import op

revision = "9"
down_revision = "8"


def upgrade() -> None:
    """Add the columns, empty in every earlier row, and the index by which the newest lesson of an idea is found."""
    op.add_column("lessons", sa.Column("concept", sa.String(16)))
    for name in ("point", "question", "answer"):
        op.add_column("lessons", sa.Column(name, sa.Text))
    op.create_index("lessons_by_concept", "lessons", ["concept", "id"])
