"""A published row compared with what the log says of it, field by field."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from generator.record.audit.game import Row

FIELDS_NAMED: Final = 3
LONGEST: Final = 100  # characters of a value in a complaint: a published value may be anything
MISSING: Final = object()


def row_differences(row: Row, logged: Row) -> str | None:
    """Name the fields of a published row that differ from the log; None where there are none."""
    texts = [text for name, value in logged.items() for text in _differences(name, row.get(name, MISSING), value)]
    more = f"; and {len(texts) - FIELDS_NAMED} fields more" if len(texts) > FIELDS_NAMED else ""
    return f"{'; '.join(texts[:FIELDS_NAMED])}{more}" if texts else None


def _differences(name: str, published: Any, logged: Any) -> Iterator[str]:
    if isinstance(published, Mapping) and isinstance(logged, Mapping):
        for key in dict.fromkeys((*logged, *published)):
            yield from _differences(f"{name}.{key}", published.get(key, MISSING), logged.get(key, MISSING))
    elif published != logged:
        shown = "not published" if published is MISSING else f"published as {shortened(published)}"
        yield f"{name} is {shown}, the log says {'nothing of it' if logged is MISSING else shortened(logged)}"


def shortened(value: Any) -> str:
    """Write a published value in a complaint."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
