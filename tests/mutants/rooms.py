"""Which sources are changed, which tests must notice, and how many places are drawn."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True)
class Room:
    """Sources below some paths, less those below others, and the folder of their tests."""

    sources: tuple[str, ...]
    tests: str
    drawn: int
    less: tuple[str, ...] = ()

    def files(self, root: Path = ROOT) -> list[Path]:
        """Return the sources of a tree, sorted; FileNotFoundError where a path leads to none."""
        left_out = {file for path in self.less for file in _python(root / path)}
        found = {file for path in self.sources for file in _python(root / path)}
        return sorted(found - left_out)


def _python(path: Path) -> list[Path]:
    files = [path] if path.is_file() else list(path.rglob("*.py"))
    if not files:
        raise FileNotFoundError(f"{path}: no source to change; tests/mutants/rooms.py names it")
    return files


ROOMS: Final[dict[str, Room]] = {
    "scores": Room(("generator/arena",), "tests/arena", 20, ("generator/arena/practice",)),
    "bodies": Room(("generator/compose",), "tests/compose", 20),
    "pages": Room(("generator/site/pages",), "tests/site", 20),
    "payments": Room(("gateway/payments",), "tests/payments", 17),
    "ledger": Room(("gateway/ledger",), "tests/ledger", 17, ("gateway/ledger/migrations",)),
    "chain": Room(("gateway/upstream/chain.py",), "tests/upstream", 16),
    "log": Room(("generator/record/log",), "tests/record", 14),
    "record": Room(
        ("generator/record",),
        "tests/record",
        13,
        ("generator/record/inbox", "generator/record/log", "generator/record/memory/migrations"),
    ),
    "release": Room(("generator/release",), "tests/release", 13, ("generator/release/bucket",)),
}
GROUPS: Final = (("scores", "bodies", "pages"), ("payments", "ledger", "chain"), ("log", "record", "release"))
