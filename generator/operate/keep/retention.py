"""How a backup is named, and which stay: of each part the newest of each of the last hours, days and months with one.

A name is the second at which the backup began, so names sort by time, and the first letters of a name are its month,
its day, its hour.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

FORM: Final = "%Y%m%dT%H%M%SZ"
SPANS: Final = ((len("20261125T20"), 48), (len("20261125"), 30), (len("202611"), 12))
"""For hours, days and months: the letters that name one, and how many of them keep a backup."""


def name_at(time: datetime) -> str:
    """Return the name of a backup that begins at a time.

    >>> name_at(datetime(2026, 11, 25, 20, 4, 9, tzinfo=UTC))
    '20261125T200409Z'
    """
    return time.astimezone(UTC).strftime(FORM)


def is_name(text: str) -> bool:
    """Return whether a text is a backup's name.

    >>> [is_name(text) for text in ("20261125T200409Z", "20261325T200409Z", ".lock")]
    [True, False, False]
    """
    try:
        return name_at(datetime.strptime(text, FORM).replace(tzinfo=UTC)) == text
    except ValueError:
        return False


def kept(backups: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Return which backups stay: for each part by itself, the newest of the spans that have one with that part.

    So no backup takes the place of another that holds what it lacks.

    >>> sorted(kept({"20261125T200409Z": ["ledger"], "20261125T203000Z": ["ledger"], "20261125T210000Z": ["ledger"]}))
    ['20261125T203000Z', '20261125T210000Z']
    >>> sorted(kept({"20261125T200409Z": ["ledger", "keys"], "20261125T203000Z": ["ledger"]}))
    ['20261125T200409Z', '20261125T203000Z']

    Args:
        backups: what each holds, by its name.
    """
    staying: set[str] = set()
    for part in {part for parts in backups.values() for part in parts}:
        newest_first = sorted((name for name, parts in backups.items() if part in parts), reverse=True)
        for letters, most in SPANS:
            newest: dict[str, str] = {}
            for name in newest_first:
                newest.setdefault(name[:letters], name)
            staying.update(list(newest.values())[:most])
    return frozenset(staying)
