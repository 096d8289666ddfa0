"""The ballots' part of `emi verify`: the real votes of each round are counted again from the published ballots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from generator.cli._log_audit import LogComplaint
from generator.cli._published import Published
from generator.market.source import Progress
from generator.record.audit.recount import RecountError, path_of, recount

NEWEST: Final = 500  # rounds; each is a request or more


@dataclass(frozen=True, slots=True)
class Recounted:
    """How many rounds were counted again, their ballots, and the older rounds that were not."""

    rounds: int = 0
    ballots: int = 0
    older: int = 0

    @property
    def lines(self) -> list[str]:
        """Tell it, in no line where nobody voted."""
        if not self.rounds:
            return []
        older = f"; {self.older} older rounds with votes were not" if self.older else ""
        return [f"ballots counted again: {self.ballots} of {self.rounds} rounds, every signature checked{older}"]


def recount_rounds(site: Published, rounds: Mapping[str, Mapping[str, Any]], progress: Progress) -> Recounted:
    """Count the newest rounds again that had real votes.

    Args:
        site: where the ballots are published.
        rounds: rows of an audit, by id.
        progress: told about rounds.

    Raises:
        LogComplaint: naming the round whose ballots do not hold, or are not there.
        PublishedError: something cannot be read.
    """
    voted = sorted((row["start"], name) for name, row in rounds.items() if real_votes(row))
    newest = voted[-NEWEST:]
    ballots = 0
    for number, (_, name) in enumerate(newest, 1):
        ballots += recount_one(site, name, rounds[name])
        progress(number, len(newest), "rounds' ballots")
    return Recounted(len(newest), ballots, len(voted) - len(newest))


def recount_one(site: Published, name: str, row: Mapping[str, Any]) -> int:
    """Count one round with real votes again and return its ballots.

    No round is excepted: the release that shows a lock in the log has the first of its ballots beside it.

    Raises:
        LogComplaint: they do not hold, or are not there.
    """
    try:
        found = recount(name, row, site.read)
    except RecountError as error:
        raise LogComplaint(f"round {name}: published ballots: {error}") from None
    if found is None:
        raise LogComplaint(
            f"round {name}: {path_of(name)} is not published; the log counted {real_votes(row)} ballots at the lock, "
            f"of the digest {row['ballots_sha256']}"
        )
    return found.ballots


def real_votes(row: Mapping[str, Any]) -> int:
    """Return a round's real votes; one that never locked has none."""
    if "ballots_sha256" not in row:
        return 0
    return sum(votes - row["simulated_votes"][word] for word, votes in row["votes"].items())
