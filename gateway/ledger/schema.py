"""Which schemas of the payments ledger this program can use, and what to do about the others."""

import re
from typing import Final

from gateway.ledger.tables import REVISION

OLDEST: Final = "0008"
"""The oldest schema that is brought up to date; every later change of a table comes with its migration."""
STEP_BETWEEN: Final = "78f9e24c"
"""The commit that brings a ledger from 0003 on to the oldest schema."""
_FORM: Final = re.compile(r"\d{4}")


def unusable_schema(revision: str) -> str | None:
    """Return why a database of this schema cannot be used and what to do, None when it can be brought up to date.

    >>> unusable_schema(OLDEST), unusable_schema(REVISION)
    (None, None)
    >>> print(unusable_schema("abc"))
    has schema 'abc', which is none of this program's: look whose database it is
    """
    if not _FORM.fullmatch(revision):
        return f"has schema {revision[:20]!r}, which is none of this program's: look whose database it is"
    if revision > REVISION:
        return (
            f"has schema {revision}, newer than {REVISION}, the newest that this program knows: "
            "install the version that wrote it, or restore the backup made before that upgrade"
        )
    if revision < OLDEST:
        return (
            f"has schema {revision}, older than {OLDEST}, the oldest that this program can upgrade: "
            f"start commit {STEP_BETWEEN} on it once, or list and export its payments with the version that wrote it"
        )
    return None
