"""Keep bodies until a round of the chain, not until a wall time.

How long a settle may take is watched, not written.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the round and its index, and drop both wall times."""
    op.add_column("payments", sa.Column("keep_round", sa.BigInteger, nullable=False, server_default="0"))
    # As `gateway.ledger.record` counts it: more than a day of rounds.
    op.execute("UPDATE payments SET keep_round = last_valid + 35000")
    op.create_index("payments_kept", "payments", ["keep_round"])
    op.drop_column("payments", "settling_until")
    op.drop_column("payments", "keep_until")
