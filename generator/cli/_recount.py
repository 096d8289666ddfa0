"""The ballots' part of `emi verify`: the real votes of each round are counted again from the published ballots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from generator.arena.recount import RecountError, recount
from generator.cli._log_audit import LogComplaint
from generator.cli._published import Published
from generator.market.source import Progress

NEWEST: Final = 500  # rounds; each is a request or more


def recount_rounds(site: Published, rounds: Mapping[str, Mapping[str, Any]], progress: Progress) -> list[str]:
    """Count the newest rounds again that had real votes.

    Args:
        site: where the ballots are published.
        rounds: rows of an audit, by id.
        progress: told about rounds.

    Returns:
        One line that tells what was counted, none where nobody voted.

    Raises:
        LogComplaint: naming the round whose ballots do not hold.
        PublishedError: something cannot be read.
    """
    voted = sorted((row["start"], name) for name, row in rounds.items() if real_votes(row))[-NEWEST:]
    counted = ballots = 0
    for number, (_, name) in enumerate(voted, 1):
        found = recount_one(site, name, rounds[name])
        counted += found is not None
        ballots += found or 0
        progress(number, len(voted), "rounds' ballots")
    if not voted:
        return []
    without = f"; {len(voted) - counted} rounds with votes publish no ballots" if counted < len(voted) else ""
    return [f"ballots counted again: {ballots} of {counted} rounds, every signature checked{without}"]


def recount_one(site: Published, name: str, row: Mapping[str, Any]) -> int | None:
    """Count one round again and return its ballots, None where none are published.

    Raises:
        LogComplaint: they do not hold.
    """
    try:
        found = recount(name, row, site.read)
    except RecountError as error:
        raise LogComplaint(f"round {name}: published ballots: {error}") from None
    return None if found is None else found.ballots


def real_votes(row: Mapping[str, Any]) -> int:
    """Return a round's real votes; one that never locked has none."""
    if "ballots_sha256" not in row:
        return 0
    return sum(votes - row["simulated_votes"][word] for word, votes in row["votes"].items())
