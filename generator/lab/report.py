"""The tables of `docs/explain/brain.md`."""

from collections.abc import Iterable, Sequence

Row = tuple[str, str, str, bool | None]
"""Measure, bar, figure, whether it is met."""


def table(head: str, rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    rule = "|---" * (head.count("|") + 1)
    lines = [f"| {head} |", f"{rule}|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "".join(f"{line}\n" for line in lines)


def met(value: bool | None) -> str:  # noqa: FBT001
    """Return the word for a bar that is met, missed, or that there is none."""
    if value is None:
        return ""
    return "yes" if value else "**no**"
