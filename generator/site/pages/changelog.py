"""CHANGELOG.md as the page about changes shows it, newest version first."""

import re
from dataclasses import dataclass

_KIND = r"### (Added|Changed|Fixed|Deprecated|Removed)\n(.*?)(?=\n### |\Z)"


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the catalogue (`info.version` in /openapi.json).

    Args:
        changes: (kind, text); kind is added, changed, fixed, deprecated or removed.
    """

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
