"""A delivered payment that came without an identifier is repeated for so many rounds after its first delivery."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the round of the first delivery; where it was not noted, the last valid one, which counts if it is later."""
    op.add_column("payments", sa.Column("delivered_round", sa.BigInteger))
    op.execute("UPDATE payments SET delivered_round = last_valid WHERE deliveries > 0")
