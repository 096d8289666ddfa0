"""What the player of a year saw: what was missed when, and what was bought."""

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class Bought:
    """One payment as its payer knows it."""

    number: int  # hour of the plan
    product: str
    amount: int
    txid: str = ""
    sha256: str = ""  # of the body that was delivered
    statuses: list[int] = field(default_factory=list)
    again: list[bool] = field(default_factory=list)  # whether the body came again, byte for byte
    adopted: bool = False  # after a restore


@dataclass
class Gap:
    """A time in which the disturbed year may lack what the other has.

    Args:
        fault: that made it.
        begin: Unix seconds.
        end: likewise.
    """

    fault: str
    begin: float
    end: float


@dataclass
class Journal:
    """What the player saw of a year."""

    seed: int
    hours: int
    gaps: list[Gap] = field(default_factory=list)
    bought: list[Bought] = field(default_factory=list)
    not_sold: dict[int, float] = field(default_factory=dict)  # when nothing was for sale, by number
    faults: Counter[str] = field(default_factory=Counter)
    killed: Counter[str] = field(default_factory=Counter)
    begun_size: int = 0  # entries of the log that the earlier version left
    begun_digest: str = ""  # of those
    old_again: list[bool] = field(default_factory=list)  # whether each payment of that version was delivered again
    cpu_s: float = 0.0

    def save(self, path: Path) -> None:
        """Write it down."""
        rows = {name: [asdict(row) for row in getattr(self, name)] for name in ("gaps", "bought")}
        path.write_text(json.dumps(vars(self) | rows, indent=1), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "Journal":
        """Read one that was written down."""
        found = json.loads(path.read_text(encoding="utf-8"))
        found["gaps"] = [Gap(**row) for row in found["gaps"]]
        found["bought"] = [Bought(**row) for row in found["bought"]]
        found["not_sold"] = {int(number): at for number, at in found["not_sold"].items()}
        return cls(**found)
