"""What changed for those who use the API or read the site, newest version first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the catalogue (`info.version` in /openapi.json).

    Args:
        number: semantic version.
        summary: one sentence.
        changes: (kind, text); kind is added, changed, fixed, deprecated or removed.
    """

    number: str
    summary: str
    changes: tuple[tuple[str, str], ...]


VERSIONS: Final[tuple[Version, ...]] = (
    Version(
        "1.3.0",
        "First release: nine free endpoints, four endpoints paid per call by x402 v2, discovery files, the Arena, the "
        "devnet.",
        (
            ("added", "Nine free endpoints with freshness, limitations and a strong ETag in every answer."),
            ("added", "Four endpoints paid per request by x402, version 2, in USDC on Algorand."),
            ("added", "The Arena: one round at a time, votes as signed notes, the brain's forecast sealed beforehand."),
            ("added", "OpenAPI 3.1, llms.txt, an API catalogue (RFC 9727) and a Markdown twin of every page."),
            ("added", "Pages for the Arena, for the track record with every miss, for learning and for prices."),
        ),
    ),
)
