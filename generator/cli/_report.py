"""One line per tick for people."""

from __future__ import annotations

from generator.runtime.publication import Report


def line(report: Report, seconds: float) -> str:
    """Return what a tick did in one line."""
    clock = f"{report.tick_id[9:11]}:{report.tick_id[11:13]}:{report.tick_id[13:15]}Z"
    confidence = "" if report.confidence_percent is None else f" {report.confidence_percent:.1f} %"
    arena = report.round_id or "no live round"
    return (
        f"{clock} tick {report.generation}  {report.status}  {report.regime}{confidence}  {arena}  "
        f"{report.files} files, {report.written} new, {1000 * seconds:.0f} ms"
    )
