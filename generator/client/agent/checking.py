"""The tool that verifies the signed record, as `emi verify` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from generator.client.agent.answers import ToolError, Verified
from generator.client.published import Published, PublishedError, published_json

if TYPE_CHECKING:
    from generator.record import verify as record

MOST_LINES: Final = 8
WITHIN_S: Final = 60.0
MOST_ENTRIES: Final = 50_000
"""Of a log that is read for one answer: some seconds; `emi verify` reads longer ones."""


def verify(origin: str, seen: Path, round_id: str | None) -> Verified:
    """Check the whole record of an origin, and say what that proves, of one round too if it is named.

    Blocking. ToolError names the first thing that does not hold.
    """
    from generator.record import verify as record  # half of what `emi mcp` would import at its start

    site = Published(origin, WITHIN_S)
    site.pin()
    file = record.SeenFile(seen, origin)
    try:
        log = record.open_log(site.read, file.load())
        if log.head.size > MOST_ENTRIES:
            raise ToolError(f"the log has {log.head.size} entries: run `emi verify --url {origin}`")
        verified = record.verify_all(log, published_json(site), site.read, lambda *_: None)
    except record.VerifyError as error:
        raise ToolError(f"does not hold: {error}") from None
    except PublishedError as error:
        raise ToolError(f"not verified: {error}") from None

    about = None if round_id is None else _about(verified, round_id)
    # Only a record that held: what was seen before is compared with what is served next time.
    verified.remember(file)
    return Verified(
        log=log.head.origin,
        entries=log.head.size,
        round=about,
        checked=[line[:300] for line in verified.lines][:MOST_LINES],
        proves=verified.proves[:2_000],
    )


def _about(verified: record.Verified, round_id: str) -> str:
    """Say of one published round how it ended, and whether the log holds it."""
    row = next((row for row in verified.rows if row.get("round_id") == round_id), None)
    if row is None:
        raise ToolError(f"{round_id} is not among the finished rounds that this site publishes")
    logged = (
        "the log holds its seal and its end, as published" if round_id in verified.audit.rounds.rows else NOT_LOGGED
    )
    return f"{round_id} ended {row.get('outcome') or 'void'}: {logged}"


NOT_LOGGED: Final = "it is not in the log (backtested, or older than the log), so nothing is proved of when it was made"
