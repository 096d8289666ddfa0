"""Does what followed events differ where it cannot: events of one market, outcomes of another.

Each market's outcomes are laid round the other's hours, shifted by so many days at a time. A claim is a kind of which
any of the shares leaves out what follows any hour.
"""

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from generator.brain.closes import mean_of_assets
from generator.brain.events import KINDS, events_of, followed, moves_after
from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.lab.report import table
from generator.market.bars import BarFrame, FloatArray
from generator.market.recorded.recording import load_recording

_DAY: Final = 24
_SHIFTS: Final = 120


class Hours(NamedTuple):
    """A market's moves at full hours, as fractions, NaN where unknown, (n,) each."""

    hour: FloatArray
    day: FloatArray


class Claims(NamedTuple):
    """How many kinds of events were looked at, with shares enough, and of how many a difference was claimed."""

    kind: str
    looked_at: int
    claimed: int


def read_hours(folder: Path) -> Hours:
    """Read a folder of recorded candles of 5 or 60 minutes; raise SourceError on what is none."""
    return hours_of(load_recording([folder], tuple(sorted(ASSETS))).frame)


def hours_of(frame: BarFrame) -> Hours:
    """Return the moves of a market at full hours, the mean of its assets."""
    closed = frame.t + frame.interval_ms
    at = np.arange(closed[0] // HOUR_MS, closed[-1] // HOUR_MS + 1) * HOUR_MS
    place = np.minimum(np.searchsorted(closed, at), len(closed) - 1)
    known = np.isfinite(frame.fields["close"]).any(axis=0)
    closes = np.where((closed[place] == at)[:, None], frame.fields["close"][place], np.nan)[:, known]
    return Hours(*(_moves(closes, hours) for hours in (1, _DAY)))


def crossed(likeness: Hours, outcomes: Hours) -> list[Claims]:
    """Count the differences that are claimed between events of one market and outcomes of another, by kind."""
    events = events_of(*likeness)
    after = moves_after(*outcomes)
    looked_at = np.zeros(len(KINDS), dtype=np.int64)
    claimed = np.zeros(len(KINDS), dtype=np.int64)
    rows = np.arange(len(likeness.hour))
    step = max(_DAY, len(after) // _SHIFTS)
    for shift in range(0, len(after), step):
        moves = after[(rows + shift) % len(after)]
        for kind in range(len(KINDS)):
            shares = followed(events.at[events.kind == kind], moves)
            known = [share for of_span in shares.values() for share in of_span.values() if share.share is not None]
            looked_at[kind] += bool(known)
            claimed[kind] += any(share.differs for share in known)
    return [Claims(*row) for row in zip(KINDS, looked_at.tolist(), claimed.tolist(), strict=True)]


def measured_null(pairs: dict[str, list[Claims]]) -> str:
    """Return the table of the claims of some pairs of markets as Markdown."""
    rows = [
        (name, of_kind.kind, str(of_kind.looked_at), str(of_kind.claimed), _percent([of_kind]))
        for name, claims in pairs.items()
        for of_kind in claims
    ]
    every = [of_kind for claims in pairs.values() for of_kind in claims]
    total = (
        "all",
        "",
        str(sum(row.looked_at for row in every)),
        str(sum(row.claimed for row in every)),
        _percent(every),
    )
    return table("likeness from, outcomes from | kind | looked at | claimed | %", [*rows, total])


def _percent(claims: list[Claims]) -> str:
    looked_at = sum(row.looked_at for row in claims)
    return f"{100 * sum(row.claimed for row in claims) / looked_at:.1f}" if looked_at else "none"


def _moves(closes: FloatArray, hours: int) -> FloatArray:
    out = np.full(len(closes), np.nan)
    out[hours:] = mean_of_assets(closes[hours:] / closes[:-hours] - 1.0)
    return out
