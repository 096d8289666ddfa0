"""From commit efe88186: what an answer to the daily question saved against a usual day, for ranks."""

import sqlalchemy as sa
from alembic import op

revision = "22"
down_revision = "21"


def upgrade() -> None:
    """Add the column, empty in every earlier answer: ranks begin with the first question that has a base."""
    op.add_column("daily_answers", sa.Column("saved", sa.BigInteger))
