"""Who runs the service: a URL, an e-mail address, both, or neither where none is set."""

import re
from typing import Final, NamedTuple

_URL: Final = re.compile(r"https?://[^\s/,]+[^\s,]*")
_EMAIL: Final = re.compile(r"(?:mailto:)?([^\s@,:]+@[^\s@,]+)")


class Contact(NamedTuple):
    """Where to ask."""

    url: str | None
    email: str | None


def contact_of(text: str) -> Contact:
    """Read a contact setting; raise ValueError where it is something else."""
    found: dict[str, str] = {}
    for part in map(str.strip, text.split(",") if text.strip() else ()):
        email = _EMAIL.fullmatch(part)
        kind = "email" if email else "url"
        if kind in found or not (email or _URL.fullmatch(part)):
            raise ValueError("must be a URL, an e-mail address, or one of each with a comma between")
        found[kind] = email.group(1) if email else part
    return Contact(found.get("url"), found.get("email"))
