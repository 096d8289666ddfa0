"""What a check of the record proved, and what not, in words that fit what was there to check."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

from generator.record.audit.auditing import Audit

LOG: Final = (
    "every entry is in the log that its keeper signed, in its order; nothing seen on an earlier visit was changed, "
    "dropped or moved since; forecasts open to their digests; outcomes, lessons and scores follow from the logged "
    "prices, votes and bands"
)
NOT_LOG: Final = (
    "It does not prove: when an entry was written, beyond this: what an earlier visit saw was there at that visit, so a "
    "forecast whose seal you saw before its round was fixed before it. Nor that two visitors are shown the same log "
    "(compare heads with someone), that the prices were the market's, that no ballot was left out, or any skill."
)
ROUND: Final = (
    "This proves: the entries of this round are in the log that its keeper signed, its forecast opens to the digest "
    "that stood before its start, its outcome and lesson follow from the logged prices, votes and band, and it is "
    "published as it was logged{ballots}."
)
NOT_ROUND: Final = "Nothing is proved about other rounds; the whole check, without --round, reads them all."
ROWS: Final = """This proves: each revealed forecast is the one whose digest the row carries; outcomes, flags and scores follow
from the published prices, votes and bands by the published rules.
It does not prove: that a digest was published before its round, that no round is missing (there is no signed log
here), that the prices were the market's, or any skill."""


def of_log(rows: Sequence[Mapping[str, Any]], audit: Audit, counted: int) -> str:
    """Tell what the whole check proved.

    Args:
        rows: of `/arena/rounds.json`.
        audit: of the log.
        counted: rounds whose ballots were counted again.
    """
    logged = sum(str(row.get("round_id")) in audit.rounds for row in rows)
    warm_up = sum(bool(row.get("warm_up")) for row in rows)
    parts = [LOG, _of_rounds(logged), _of_ballots(counted)]
    parts += [_of_others(warm_up, "warm_up, made by a stepped clock before the start")]
    parts += [_of_others(len(rows) - logged - warm_up, "older than the log")]
    return "\n".join(map(_lines, (f"This proves: {'; '.join(filter(None, parts))}.", NOT_LOG)))


def of_round(counted: int | None) -> str:
    """Tell what the check of one round proved.

    Args:
        counted: its ballots that were counted again, None where it had none.
    """
    ballots = "" if counted is None else "; its real votes are the published ballots, each signed by its voter"
    return "\n".join(map(_lines, (ROUND.format(ballots=ballots), NOT_LOG, NOT_ROUND)))


def _of_rounds(logged: int) -> str:
    if not logged:
        return "no published round is in the log yet, so of rounds nothing is proved"
    return f"of the published rounds {logged} stand in the log, as they are published, none left out since the oldest"


def _of_others(number: int, what: str) -> str:
    told = f"{number} more ({what}) are not in the log: nothing is proved about them but that each adds up"
    return told if number else ""


def _of_ballots(counted: int) -> str:
    if not counted:
        return "no round in the log has real votes to count again"
    return f"in {counted} with real votes these are the published ballots, each signed by its voter, one a voter"


def _lines(text: str) -> str:
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)
