"""One way in which the report says something, and when it may."""

from typing import NamedTuple


class Wording(NamedTuple):
    """One way of saying something."""

    about: str
    conditions: tuple[str, ...]  # names of conditions that must hold
    text: str


def rows(about: str, conditions: str, *texts: str) -> tuple[Wording, ...]:
    return tuple(Wording(about, tuple(conditions.split()), text) for text in texts)


def ranked_rows(about: str, conditions: str, *texts: str) -> tuple[Wording, ...]:
    """Return wordings that end with a rank in the month; `{rank}` and `{rest}` are those of the measure."""
    rank = "{" + f"{about} rank" + "}"
    rest = "{" + f"{about} rest" + "}"
    endings = {
        "unranked": (".",),
        "high": (
            f", higher than in {rank} of 100 hours of the month.",
            f"; only {rest} in 100 hours of the month had more.",
            f" (rank {rank} of 100 in its month).",
        ),
        "low": (
            f", lower than in {rest} of 100 hours of the month.",
            f"; only {rank} in 100 hours of the month had less.",
            f" (rank {rank} of 100 in its month).",
        ),
        "middle": (
            f" ({rank} of 100 by rank in its month).",
            f", rank {rank} of 100 in its month.",
            f"; {rank} in 100 hours of the month had less.",
        ),
    }
    return tuple(
        Wording(about, (*conditions.split(), f"{about} {place}"), text + ending)
        for place, of_place in endings.items()
        for ending in of_place
        for text in texts
    )
