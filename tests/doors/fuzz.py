"""Send changed bytes through a door, and count what becomes of them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.doors.mutate import Mutator
from tests.doors.table import Door


@dataclass
class Outcome:
    """What became of the cases of one door."""

    read: int = 0
    refused: Counter[str] = field(default_factory=Counter)  # by the refusal's class
    failed: list[tuple[bytes, str]] = field(default_factory=list)  # a case, and what it raised; the first twenty


def cases(door: Door, count: int, seed: int) -> Iterator[bytes]:
    """Yield the good bytes of a door, and then changed ones."""
    yield from door.samples
    mutator = Mutator(seed, door.hostile)
    for number in range(count - len(door.samples)):
        yield mutator.changed(door.samples[number % len(door.samples)])


def fuzz(door: Door, count: int, seed: int) -> Outcome:
    """Return what became of so many cases; the same seed draws the same ones."""
    outcome = Outcome()
    for case in cases(door, count, seed):
        try:
            door.read(case)
        except door.refusals as refusal:
            outcome.refused[type(refusal).__name__] += 1
        except Exception as error:  # noqa: BLE001  what is looked for
            if len(outcome.failed) < 20:
                outcome.failed.append((case, f"{type(error).__name__}: {error}"))
        else:
            outcome.read += 1
    return outcome
