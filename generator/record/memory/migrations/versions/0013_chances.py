"""Chances of votes: of each ballot, of each round's crowd, and the scores of voters; words have none."""

import sqlalchemy as sa
from alembic import op

revision = "13"
down_revision = "12"


def upgrade() -> None:
    """Add the columns, empty: what was voted before gave no chances."""
    for name in ("q_up", "q_neutral", "q_down"):
        op.add_column("ballots", sa.Column(name, sa.Integer))
    for name in ("gave_chances", "sum_up", "sum_neutral", "sum_down"):
        op.add_column("crowd_tallies", sa.Column(name, sa.Integer))

    op.add_column("voters", sa.Column("scored", sa.Integer))
    for name in ("brier", "base_brier", "log_score", "base_log_score", "squares"):
        op.add_column("voters", sa.Column(name, sa.BigInteger))
