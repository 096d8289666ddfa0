"""The audit behind `emi verify`: every published row is recomputed, then the scores over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from generator.arena.published import case_of_row, complaint_of
from generator.arena.scores import Sums, track_record


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What was found; `complaint` names the first row that fails."""

    lines: tuple[str, ...]
    complaint: str | None


def audit(body: Any) -> AuditReport:
    """Check a published `/arena/rounds.json`."""
    rows = body.get("rounds") if isinstance(body, Mapping) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return AuditReport((), "this is not a published record: it has no list `rounds`")
    for number, row in enumerate(rows, 1):
        complaint = complaint_of(row)
        if complaint is not None:
            return AuditReport((), f"row {number}, round {row.get('round_id')}: {complaint}")
    order = _order_complaint(rows)
    return AuditReport((), order) if order else AuditReport(_lines(rows), None)


def _order_complaint(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Rows stand newest first, and no two rounds overlap."""
    for number, (newer, older) in enumerate(pairwise(rows), 2):
        if not older["start"] < newer["start"]:
            return f"row {number}, round {older['round_id']}: repeated or out of order"
        if older["end"] > newer["start"]:
            return f"row {number}, round {older['round_id']}: overlaps round {newer['round_id']}"
    return None


def _lines(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    resolved = [row for row in rows if row["phase"] == "resolved"]
    sums = Sums()
    for row in resolved:
        sums = sums.added(case_of_row(row))
    record = track_record("arena", sums)
    found = f"{len(rows)} rounds checked: {len(resolved)} resolved, {len(rows) - len(resolved)} void, "
    lines = [found + f"{sum(bool(row.get('warm_up')) for row in rows)} made by a stepped clock before the start"]
    if record.resolved:
        hit, base = record.hit, record.baselines["base_rate"]
        lines.append(
            f"brain: hit rate {hit.percent} % ({hit.low_percent} to {hit.high_percent}, n={hit.n}), "
            f"Brier {record.brier} (base rate {base}, even chances 0.6667), skill {record.skill_percent['base_rate']} %"
        )
    return tuple(lines)
