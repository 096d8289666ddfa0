"""Index only what is unknown, and keep the version where Alembic keeps it."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Replace the index over every payment by one over the open ones."""
    op.execute("DROP TABLE IF EXISTS meta")
    op.drop_index("payments_open", "payments")
    unknown = sa.text("state = 'intent'")
    op.create_index("payments_unknown", "payments", ["created_at"], sqlite_where=unknown, postgresql_where=unknown)
