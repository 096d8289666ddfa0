"""The oldest schema that is upgraded, that of commit 78f9e24c: payments, their bodies, and what is left of old ones."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = None


def upgrade() -> None:
    """Make the tables; only tests begin here, a new ledger is made with the newest schema at once."""
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
        sa.Column("reason", sa.String),
        sa.Column("evidence", sa.String),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("closed_at", sa.Double),
        sa.Column("deliveries", sa.Integer, nullable=False),
        sa.Column("refusal_round", sa.BigInteger),
        sa.Column("keep_round", sa.BigInteger, nullable=False),
        sa.Column("delivered_round", sa.BigInteger),
        sa.Column("receipt", sa.Text),
    )
    unknown = sa.text("state = 'intent'")
    op.create_index("payments_unknown", "payments", ["created_at"], sqlite_where=unknown, postgresql_where=unknown)
    unproven = sa.text("evidence IN ('facilitator', 'before_broadcast')")
    op.create_index("payments_unproven", "payments", ["closed_at"], sqlite_where=unproven, postgresql_where=unproven)
    op.create_index("payments_kept", "payments", ["keep_round"])
    has_receipt = sa.text("receipt IS NOT NULL")
    op.create_index("payments_receipt", "payments", ["sha256"], sqlite_where=has_receipt, postgresql_where=has_receipt)

    op.create_table(
        "settled_old",
        sa.Column("txid", sa.LargeBinary(32), primary_key=True),
        sa.Column("product", sa.String, nullable=False),
        sa.Column("amount_atomic", sa.BigInteger, nullable=False),
        sa.Column("settled_at", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )

    op.create_table(
        "probe",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
