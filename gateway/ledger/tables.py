"""The tables of the payments ledger, as the newest migration leaves them."""

from typing import Final

import sqlalchemy as sa

REVISION: Final = "0008"
"""The newest migration; a database at this revision needs no Alembic to start."""

metadata: Final = sa.MetaData()
bodies: Final = sa.Table(
    "bodies",
    metadata,
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
payments: Final = sa.Table(
    "payments",
    metadata,
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
# Settled payments whose body went long ago: enough to answer 410 to their txid, and small.
settled_old: Final = sa.Table(
    "settled_old",
    metadata,
    sa.Column("txid", sa.LargeBinary(32), primary_key=True),
    sa.Column("product", sa.String, nullable=False),
    sa.Column("amount_atomic", sa.BigInteger, nullable=False),
    sa.Column("settled_at", sa.BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
# One row, written now and then to see whether the database takes what an intent needs.
probe: Final = sa.Table(
    "probe",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
sa.Index(
    "payments_unknown",
    payments.c.created_at,
    sqlite_where=payments.c.state == sa.literal_column("'intent'"),
    postgresql_where=payments.c.state == sa.literal_column("'intent'"),
)
# What was closed on the facilitator's word alone, to be rechecked.
UNPROVEN: Final = "evidence IN ('facilitator', 'before_broadcast')"
sa.Index("payments_unproven", payments.c.closed_at, sqlite_where=sa.text(UNPROVEN), postgresql_where=sa.text(UNPROVEN))
# The purge asks which bodies are still needed.
sa.Index("payments_kept", payments.c.keep_round)
_HAS_RECEIPT: Final = sa.text("receipt IS NOT NULL")
# The purge drops receipts with their body.
sa.Index("payments_receipt", payments.c.sha256, sqlite_where=_HAS_RECEIPT, postgresql_where=_HAS_RECEIPT)
