"""Times on the command line."""

from __future__ import annotations

from datetime import UTC, datetime

from generator.errors import GeneratorError


def parse_time(text: str | None) -> datetime | None:
    """Read an ISO 8601 time; without an offset it is UTC.

    Raises:
        GeneratorError: it is not one.
    """
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise GeneratorError(f"--at {text!r} is no time; write e.g. 2022-10-20T12:00:00Z") from error
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
