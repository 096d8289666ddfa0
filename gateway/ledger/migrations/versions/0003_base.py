"""The oldest schema that is brought up to date: payments and the bodies they bought."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = None


def upgrade() -> None:
    """Make both tables; only tests begin here, a new ledger is made with the newest schema at once."""
    op.create_table(
        "bodies",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "payments",
        sa.Column("txid", sa.String(52), primary_key=True),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("product", sa.String, nullable=False),
        sa.Column("path", sa.String, nullable=False),
        sa.Column("cache_control", sa.String, nullable=False),
        sa.Column("snapshot_id", sa.String(12), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("price_atomic", sa.BigInteger, nullable=False),
        sa.Column("payer", sa.String(58), nullable=False),
        sa.Column("network", sa.String, nullable=False),
        sa.Column("identifier", sa.String(128), unique=True),
        sa.Column("last_valid", sa.BigInteger, nullable=False),
        sa.Column("intent_round", sa.BigInteger),
        sa.Column("watched_round", sa.BigInteger),
        sa.Column("owner", sa.String, nullable=False),
        sa.Column("settles", sa.Integer, nullable=False),
        sa.Column("settling_until", sa.Double, nullable=False),
        sa.Column("reason", sa.String),
        sa.Column("evidence", sa.String),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("closed_at", sa.Double),
        sa.Column("keep_until", sa.Double, nullable=False),
        sa.Column("deliveries", sa.Integer, nullable=False),
        sa.Column("refusal_round", sa.BigInteger),
    )
    unknown = sa.text("state = 'intent'")
    op.create_index("payments_unknown", "payments", ["created_at"], sqlite_where=unknown, postgresql_where=unknown)
    unproven = sa.text("evidence IN ('facilitator', 'before_broadcast')")
    op.create_index("payments_unproven", "payments", ["closed_at"], sqlite_where=unproven, postgresql_where=unproven)
