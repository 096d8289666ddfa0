"""From commit fac0d958: the second seal of a round, and what voters saved against a reference, by days.

The sums of voters are made again from the ballots, which are kept for good, as `arena.ranks` makes them.
"""

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "20"
down_revision = "19"

DAY_MS = 24 * 60 * 60 * 1000
WORDS = ("BEARISH", "NEUTRAL", "BULLISH")  # down, neutral, up
NOTHING = (0, 0, 0, 0, 0)  # answers, total, squares of the days' totals, newest day, its total
KEPT = sa.text("SELECT address, resolved, hits, scored, brier, base_brier, log_score, base_log_score FROM voters")
VOTES = sa.text(
    "SELECT b.voter, b.choice, b.q_up, b.q_neutral, b.q_down, r.start_ms, r.outcome, r.base_down, r.base_neutral, "
    "r.base_up FROM rounds r JOIN ballots b ON b.round_id = r.round_id "
    "WHERE r.phase = 'resolved' AND b.counts AND r.base_down IS NOT NULL ORDER BY r.start_ms, b.txid"
)


def upgrade() -> None:
    """Add the column, empty in every earlier round, and make the table of voters anew."""
    op.add_column("rounds", sa.Column("closing", sa.Text))

    connection = op.get_bind()
    before = [dict(row) for row in connection.execute(KEPT).mappings()]
    op.drop_table("voters")
    voters = op.create_table(
        "voters",
        sa.Column("address", sa.String(58), primary_key=True),
        sa.Column("resolved", sa.Integer, nullable=False),
        sa.Column("hits", sa.Integer, nullable=False),
        sa.Column("since_ms", sa.BigInteger, nullable=False),
        sa.Column("by_hits", sa.Text, nullable=False),
        sa.Column("by_chances", sa.Text, nullable=False),
        sa.Column("scored", sa.Integer),
        sa.Column("brier", sa.BigInteger),
        sa.Column("base_brier", sa.BigInteger),
        sa.Column("log_score", sa.BigInteger),
        sa.Column("base_log_score", sa.BigInteger),
    )

    sums = _sums(connection)
    nothing = {"since_ms": 0, "by_hits": NOTHING, "by_chances": NOTHING}
    rows = [row | _text(sums.get(row["address"], nothing)) for row in before]
    if rows:
        op.bulk_insert(voters, rows)


def _text(of_voter: dict[str, Any]) -> dict[str, Any]:
    return {name: json.dumps(value) if name != "since_ms" else value for name, value in of_voter.items()}


def _sums(connection: sa.Connection) -> dict[str, dict[str, Any]]:
    """Return by voter the start of the first round, and both sums."""
    sums: dict[str, dict[str, Any]] = {}
    for voter, start_ms, by_hits, by_chances in _saved(connection):
        of_voter = sums.setdefault(voter, {"since_ms": start_ms, "by_hits": NOTHING, "by_chances": NOTHING})
        of_voter["by_hits"] = _plus(of_voter["by_hits"], by_hits, start_ms // DAY_MS)
        if by_chances is not None:
            of_voter["by_chances"] = _plus(of_voter["by_chances"], by_chances, start_ms // DAY_MS)
    return sums


def _saved(connection: sa.Connection) -> Iterator[tuple[str, int, int, int | None]]:
    """Give each counted vote: its voter, the round's start, and what was saved by hits and by chances, in 10^-4."""
    for voter, choice, up, neutral, down, start_ms, outcome, *base in connection.execute(VOTES):
        usual = [round(10_000 * chance) for chance in base]
        likeliest = WORDS[usual.index(max(usual))]
        by_hits = 10_000 * ((choice == outcome) - (likeliest == outcome))

        by_chances = None
        if up is not None:
            own = [100 * chance for chance in (down, neutral, up)]
            by_chances = round((_brier(usual, outcome) - _brier(own, outcome)) / 10_000)
        yield voter, start_ms, by_hits, by_chances


def _brier(units: list[int], outcome: str) -> int:
    return sum((unit - 10_000 * (word == outcome)) ** 2 for unit, word in zip(units, WORDS, strict=True))


def _plus(of: tuple[int, ...], saved: int, day: int) -> tuple[int, ...]:
    answers, total, squares, newest, in_day = of
    before = in_day if answers and day == newest else 0
    now = before + saved
    return answers + 1, total + saved, squares + now * now - before * before, day, now
