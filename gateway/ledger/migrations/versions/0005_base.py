"""The schema of the first release; later revisions follow it."""

from alembic import op

from gateway.ledger.tables import metadata

revision = "0005"
down_revision = None


def upgrade() -> None:
    """Make every table."""
    metadata.create_all(op.get_bind())
