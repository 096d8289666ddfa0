"""What a reader finds of a year, read by code of its own: the log's entries from its tiles, and the scores they give.

Nothing here uses the program's audit or its rules of scoring; formats are those of docs/reference/formats.md.
"""

import hashlib
import json
import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

EARLIER: Final = {
    "round.locked": "round.started",
    "round.resolved": "round.judged",
    "predictions.made": "predictions.sealed",
}
WIDTH: Final = 256
ORDER: Final = ("BEARISH", "NEUTRAL", "BULLISH")  # of every list of three chances
OF_CALL: Final = {"down": "BEARISH", "small_move": "NEUTRAL", "up": "BULLISH"}
LEAST_CHANCE: Final = 0.01
Row = dict[str, Any]
Key = tuple[str, ...]


def log_size(site: Path) -> int:
    """Return how many entries a published log has."""
    return int((site / "current" / "log" / "checkpoint").read_text(encoding="utf-8").splitlines()[1])


def entries(site: Path) -> Iterator[Row]:
    """Give the entries of a published log."""
    size = log_size(site)
    folder = site / "once" / "log" / "tile" / "entries"
    for index in range(-(-size // WIDTH)):
        width = min(WIDTH, size - index * WIDTH)
        name = "/".join([*(f"x{index // 1000**level % 1000:03d}" for level in _levels(index)), f"{index % 1000:03d}"])
        full = folder / name
        data = (full if full.is_file() else folder / f"{name}.p" / str(width)).read_bytes()
        yield from _bundle(data, width)


def digest_of_log(site: Path, size: int) -> str:
    """Return a digest of the first entries of a published log."""
    digest = hashlib.sha256()
    for entry in islice(entries(site), size):
        digest.update(json.dumps(entry, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def _levels(index: int) -> range:
    """Return the places of the groups of three digits before the last, the highest first."""
    return range((len(str(index)) - 1) // 3, 0, -1)


def _bundle(data: bytes, width: int) -> Iterator[Row]:
    at = 0
    for _ in range(width):
        (length,) = struct.unpack_from(">H", data, at)
        yield json.loads(data[at + 2 : at + 2 + length])
        at += 2 + length


@dataclass
class Sums:
    """Scores of resolved forecasts, added one by one."""

    resolved: int = 0
    brier: float = 0.0
    log_score: float = 0.0
    base_rate: float = 0.0
    persistence: float = 0.0
    calls: int = 0
    hits: int = 0
    moves: int = 0
    move_brier: float = 0.0

    def add(self, chances: list[float], base: list[float], previous: str | None, call: str | None, came: str) -> None:
        """Score one forecast against what came."""
        self.resolved += 1
        self.brier += _brier(chances, came)
        self.log_score -= math.log(max(LEAST_CHANCE, chances[ORDER.index(came)]))
        self.base_rate += _brier(base, came)
        self.persistence += 2 / 3 if previous is None else 2.0 * (previous != came)
        if call in OF_CALL:
            self.calls += 1
            self.hits += OF_CALL[call] == came
        if call is not None:
            self.moves += 1
            self.move_brier += (1 - chances[1] - (came != "NEUTRAL")) ** 2

    def add_round(self, row: Row) -> None:
        """Score a round that was resolved."""
        locked = row["started"]
        forecast = locked["forecast"]
        chances, base = (_triple(forecast[name]) for name in ("probabilities", "base_rate"))
        self.add(chances, base, locked["previous_outcome"], forecast.get("call"), row["judged"]["outcome"])

    def add_hour(self, row: Row) -> None:
        """Score an hourly forecast whose outcome came."""
        made = row["started"]["forecast"]
        chances, base = made["probabilities"], made["base_rate"]
        self.add(chances, base, made["previous_outcome"], made.get("call"), row["judged"]["outcome"])

    def shown(self) -> Row:
        """Return the scores as a `scores` entry has them."""
        mean = {name: self._mean(getattr(self, name)) for name in ("brier", "log_score", "base_rate", "persistence")}
        rate = 100 * self.hits / self.calls if self.calls else None
        return {"resolved": self.resolved, "calls": self.calls, "hit_rate_percent": rate, **mean}

    def _mean(self, total: float) -> float | None:
        return total / self.resolved if self.resolved else None


def _brier(chances: list[float], came: str) -> float:
    return sum((chance - (word == came)) ** 2 for word, chance in zip(ORDER, chances, strict=True))


@dataclass
class OfKinds:
    """Scores over all forecasts, and over those of each kind of chances: a new kind begins at no case."""

    total: Sums = field(default_factory=Sums)
    by_kind: dict[str | None, Sums] = field(default_factory=dict)  # None: sealed before kinds existed

    def of(self, kind: str | None) -> tuple[Sums, Sums]:
        """Return the sums that a forecast of a kind is counted in."""
        return self.total, self.by_kind.setdefault(kind, Sums())

    def shown(self) -> Row:
        """Return the scores of the newest kind, as a `scores` entry has them."""
        named = [sums for kind, sums in self.by_kind.items() if kind is not None]
        return (named[-1] if named else self.total).shown()


@dataclass
class RangeSums:
    """How many moves came, and how many of them inside their ranges."""

    resolved: int = 0
    inside_50: int = 0
    inside_90: int = 0

    def add(self, forecast: Mapping[str, float], move: float) -> None:
        """Count one move."""
        self.resolved += 1
        self.inside_50 += forecast["low_50"] <= move <= forecast["high_50"]
        self.inside_90 += forecast["low_90"] <= move <= forecast["high_90"]


@dataclass
class Published:
    """The record of one year.

    `rounds` and `hours` hold what the log says of each round, and of each hour and asset, by kind of entry.
    """

    rounds: dict[str, Row] = field(default_factory=dict)
    hours: dict[tuple[str, str], Row] = field(default_factory=dict)
    arena: OfKinds = field(default_factory=OfKinds)
    hourly: OfKinds = field(default_factory=OfKinds)
    far: dict[str, RangeSums] = field(default_factory=dict)
    scores: list[tuple[Row, Row]] = field(default_factory=list)  # as published, as recomputed at that place
    clock_steps: int = 0
    size: int = 0

    @classmethod
    def read(cls, site: Path) -> "Published":
        """Read a published site."""
        return cls.of(entries(site))

    @classmethod
    def of(cls, found: Iterator[Row]) -> "Published":
        """Read the entries of a log, in their order."""
        record = cls()
        for entry in found:
            record._take(entry)
        return record

    def _take(self, entry: Row) -> None:
        self.size += 1
        step = f"{entry['game']}.{entry['kind']}" if "game" in entry else entry["kind"]
        kind = EARLIER.get(step, step)
        if kind.startswith("round."):
            self._round(entry, kind.removeprefix("round."))
        elif kind.startswith("predictions."):
            for asset, what in entry["assets"].items():
                self._hour(entry, kind.removeprefix("predictions."), asset, what)
        elif kind == "ranges.judged":
            for asset, what in entry["assets"].items():
                self._move(entry, asset, what)
        elif kind == "scores":
            self.scores.append((entry, self._shown()))
        self.clock_steps += kind == "clock.stepped"

    def _round(self, entry: Row, kind: str) -> None:
        row = self.rounds.setdefault(entry["round_id"], {})
        row[kind] = entry
        if kind == "judged":
            for sums in self.arena.of(row["started"]["forecast"].get("chances_kind")):
                sums.add_round(row)

    def _hour(self, entry: Row, kind: str, asset: str, what: Any) -> None:
        row = self.hours.setdefault((entry["start"], asset), {"moves": {}})
        row[kind] = what if isinstance(what, dict) else {"commitment": what}
        row[f"{kind}_at"] = entry["at"]
        if kind == "judged" and what.get("outcome"):
            for sums in self.hourly.of(row["started"]["forecast"].get("chances_kind")):
                sums.add_hour(row)

    def _move(self, entry: Row, asset: str, what: Row) -> None:
        row = self.hours[entry["start"], asset]
        row["moves"][entry["horizon"]] = what
        if "move" in what:
            forecast = row["started"]["forecast"]["ranges"][entry["horizon"]]
            self.far.setdefault(entry["horizon"], RangeSums()).add(forecast, what["move"])

    def _shown(self) -> Row:
        far = {
            horizon: {
                "resolved": sums.resolved,
                "inside_50_percent": 100 * sums.inside_50 / sums.resolved,
                "inside_90_percent": 100 * sums.inside_90 / sums.resolved,
            }
            for horizon, sums in self.far.items()
        }
        return {"arena": self.arena.shown(), "hourly": self.hourly.shown(), "how_far": far}


def _triple(chances: Mapping[str, float]) -> list[float]:
    return [chances["down"], chances["neutral"], chances["up"]]
