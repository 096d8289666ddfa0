"""What each voter said and what came, by month and the first two characters of the address, for the page of a voter.

The files of the running month are in the release, and change only where a round that ended was voted in; those of a
month that is over are written once. Voters are real ones: the simulated crowd has no addresses.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from typing_extensions import TypedDict

from generator.catalog.downloads import VOTERS, RecordFile
from generator.catalog.links import VOTERS_JSON, voters_file, voters_once
from generator.catalog.text.answers import DISCLAIMER
from generator.compose.body import encode
from generator.record.memory.exports import VoterRow

Vote = str | tuple[int, ...]
VotedRow = tuple[str, Vote, str | float, float | None, float, float | None]
"""By `columns`: round or question, what was said, what came, its score, the usual one, the brain's at the close."""


class VotersOfMonth(TypedDict):
    """Where those of a month that is over are."""

    month: str
    """Such as 2026-11."""
    list: str
    """Path of the list of its files."""


class VotersIndex(TypedDict):
    """Which files hold what voters said."""

    month: str
    """The running month."""
    source_mode: str
    """What market it is of."""
    voters: int
    """Addresses that voted in it."""
    files: Sequence[str]
    """First two characters of their addresses: each has a file of the running month."""
    months: Sequence[VotersOfMonth]
    """Months that are over."""
    disclaimer: str
    """Educational notice."""


class VotersList(TypedDict):
    """The files of a month that is over."""

    month: str
    """Such as 2026-11."""
    source_mode: str
    """What market it is of."""
    files: Mapping[str, str]
    """First two characters of the addresses to the SHA-256 of their file."""


class VotersFile(TypedDict):
    """What the voters said whose addresses begin so, and what came."""

    month: str
    """Such as 2026-11."""
    source_mode: str
    """What market it is of."""
    columns: tuple[str, ...]
    """What a row holds."""
    left_out: int
    """Addresses that were too many for the file."""
    voters: Mapping[str, Sequence[VotedRow]]
    """Address to its rows."""


COLUMNS: Final = ("subject", "said", "came", "score", "usual", "brain")
PREFIX: Final = 2  # characters of an address
MOST_ROWS: Final = 60_000  # of a file, about 6 MB
DIGITS: Final = 12  # of a digest, in a name


@dataclass(frozen=True, slots=True)
class VotersMonth:
    """The files of a month that is over, and the list of them that the record names."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    listed: tuple[tuple[RecordFile, bytes], ...] = ()


def by_prefix(rows: Iterable[VoterRow]) -> dict[str, dict[str, list[VotedRow]]]:
    """Group rows by the beginning of the address and the address, in their order."""
    groups: dict[str, dict[str, list[VotedRow]]] = {}
    for row in rows:
        row_of = (row.subject, row.said, row.came, row.score, row.usual, row.brain)
        groups.setdefault(row.voter[:PREFIX], {}).setdefault(row.voter, []).append(row_of)
    return dict(sorted(groups.items()))


def running_voters(
    rows: Iterable[VoterRow], month: str, source_mode: str, months: Sequence[RecordFile]
) -> dict[str, bytes]:
    """Return the files of the running month and the list of what there is, by path."""
    groups = by_prefix(rows)
    files = {voters_file(prefix): _content(month, source_mode, voters) for prefix, voters in groups.items()}

    listed: VotersIndex = {
        "month": month,
        "source_mode": source_mode,
        "voters": sum(map(len, groups.values())),
        "files": list(groups),
        "months": [{"month": file.month, "list": file.path} for file in months if file.series == VOTERS and file.month],
        "disclaimer": DISCLAIMER,
    }

    return {**files, VOTERS_JSON: encode(listed)}


def voters_of_month(rows: Iterable[VoterRow], month: str, source_mode: str) -> VotersMonth:
    """Return the files of a month that is over; none where no one voted in it."""
    groups = by_prefix(rows)
    if not groups:
        return VotersMonth()

    files = {voters_once(month, prefix): _content(month, source_mode, voters) for prefix, voters in groups.items()}
    digests = {prefix: hashlib.sha256(files[voters_once(month, prefix)]).hexdigest() for prefix in groups}
    listed: VotersList = {"month": month, "source_mode": source_mode, "files": digests}
    data = encode(listed)

    digest = hashlib.sha256(data).hexdigest()
    path = voters_once(month, f"voters-{month}-{digest[:DIGITS]}")
    number = sum(map(len, groups.values()))
    file = RecordFile(path, VOTERS, "json", rows=number, bytes=len(data), sha256=digest, month=month)
    return VotersMonth(files, ((file, data),))


def _content(month: str, source_mode: str, voters: Mapping[str, Sequence[VotedRow]]) -> bytes:
    """Write a file; of a flood of addresses those of most rows, so that it can be published whatever comes."""
    kept: dict[str, Sequence[VotedRow]] = {}
    rows = 0
    for voter in sorted(voters, key=lambda address: (-len(voters[address]), address)):
        rows += len(voters[voter])
        if rows > MOST_ROWS:
            break
        kept[voter] = voters[voter]

    body: VotersFile = {
        "month": month,
        "source_mode": source_mode,
        "columns": COLUMNS,
        "left_out": len(voters) - len(kept),
        "voters": dict(sorted(kept.items())),
    }
    return encode(body)
