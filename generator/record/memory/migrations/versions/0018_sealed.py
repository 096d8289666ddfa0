"""What games of one life sealed; earlier memories have none."""

import sqlalchemy as sa
from alembic import op

revision = "18"
down_revision = "17"


def upgrade() -> None:
    """Add the table, empty."""
    op.create_table(
        "sealed",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("horizon", sa.String(16), nullable=False),
        sa.Column("start_ms", sa.BigInteger, nullable=False),
        sa.Column("end_ms", sa.BigInteger, nullable=False),
        sa.Column("made_ms", sa.BigInteger, nullable=False),
        sa.Column("phase", sa.String(16), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("at_start", sa.Text),
        sa.Column("at_end", sa.Text),
        sa.Column("scores", sa.Text),
        sa.Column("void_reason", sa.Text),
        sa.UniqueConstraint("kind", "start_ms", "horizon"),
    )
    op.create_index("sealed_by_phase", "sealed", ["kind", "phase"])
