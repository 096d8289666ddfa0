"""CHANGELOG.md as the page about changes shows it, newest version first."""

import re
from typing import NamedTuple

_KIND = r"### (Added|Changed|Fixed|Deprecated|Removed)\n(.*?)(?=\n### |\Z)"


class Version(NamedTuple):
    """One version of the catalogue (`info.version` in /openapi.json); `changes` are (kind in lower case, text)."""

    number: str
    summary: str
    changes: tuple[tuple[str, str], ...]


def versions(changelog: str) -> tuple[Version, ...]:
    """Parse the file; sections of other names are left out."""
    parts = re.split(r"^## (\S+)\n", changelog, flags=re.MULTILINE)[1:]
    return tuple(_version(number, text) for number, text in zip(parts[::2], parts[1::2], strict=True))


def _version(number: str, text: str) -> Version:
    changes = [
        (kind.lower(), _joined(item))
        for kind, items in re.findall(_KIND, text, re.DOTALL)
        for item in re.split(r"^- ", items, flags=re.MULTILINE)[1:]
    ]
    return Version(number, _joined(text.strip().partition("\n\n")[0]), tuple(changes))


def _joined(lines: str) -> str:
    return " ".join(lines.replace("`", "").split())
