"""The last step of a tick: every byte first, then the vault, then the site, each with its own pointer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from generator.catalog.discovery import DISCOVERY_FILES
from generator.catalog.formats import iso, share
from generator.catalog.links import ROUNDS_JSON, ROUNDS_PUBLISHED, SAMPLE_JSON
from generator.catalog.text.answers import DISCLAIMER
from generator.compose.all import Composed
from generator.compose.context import TickContext
from generator.contract.encode import encode
from generator.record.logbook import RecordFiles
from generator.release.last_good import Kind, LastGood
from generator.release.vault import Offer
from generator.runtime.app import App
from generator.site.beside import Sidelong
from generator.site.charts.report import illustrated, report_charts
from generator.site.examples import as_example
from generator.site.pages.render import Pages, PageView

PREDICTIONS_SHOWN: Final = 700
HUMAN_REPORT: Final = "x402-atlas-human-report"
DISCOVERY: Final = tuple(row.path for row in DISCOVERY_FILES)


@dataclass(frozen=True, slots=True)
class Report:
    """What a tick did, for the log and the prompt."""

    tick_id: str
    generation: str
    files: int
    written: int
    status: str
    regime: str
    confidence_percent: float | None
    round_id: str | None


@dataclass(frozen=True, slots=True)
class _Made:
    """Bodies by path and by product, and files of the release, of which `lasting` seldom change."""

    free: Mapping[str, dict[str, Any]]
    paid: Mapping[str, dict[str, Any]]
    plain: Mapping[str, bytes]
    lasting: frozenset[str]
    aside: Sidelong


def publish(app: App, context: TickContext, composed: Composed, record: RecordFiles, at: datetime) -> Report:
    """Publish one tick.

    Raises:
        PublishError: the vault or the site could not be written; what readers see is the last release.
    """
    made = _make(app, context, composed, at)
    sample = app.publisher.last_good.make(
        Kind.DOWNLOAD, (SAMPLE_JSON,), lambda: {SAMPLE_JSON: app.publisher.sample.file(made.paid[HUMAN_REPORT], at)}
    )
    files = app.publisher.variants.add(
        {**made.plain, **sample, **record.in_release}, lasting={*made.lasting, SAMPLE_JSON}
    )
    aside, generation = made.aside, context.freshness.generation
    once = {**record.immutable, **aside.once}
    app.publisher.checker.check(generation, files, once)
    app.publisher.checker.check_paid(generation, made.paid)
    paid = {product: encode(body) for product, body in made.paid.items()}
    app.publisher.vault.publish(_offer(app, context, composed, paid))
    written = app.publisher.releases.publish(generation, files, at.timestamp(), once)
    app.record.logbook.done(record, context.freshness.tick_id, generation, context.freshness.generated_ms)
    app.publisher.beside.done(aside, context, made.free, at)
    return _report(context, made.free["/status.json"]["status"], len(files), written)


def _make(app: App, context: TickContext, composed: Composed, at: datetime) -> _Made:
    """Make every file that anybody could make; nothing is written."""
    last_good = app.publisher.last_good
    free = {path: body.as_json() for path, body in composed.free.items()}
    paid = {product: body.as_json() for product, body in composed.paid.items()}
    report = paid[HUMAN_REPORT]
    charts = report_charts(context, lambda name, draw: last_good.attempt(Kind.PICTURE, draw, name))
    paid[HUMAN_REPORT] = illustrated(report, charts)

    def examples() -> dict[str, Any]:
        shown = paid | {HUMAN_REPORT: illustrated(report, charts, cut=True)}
        return free | {product: as_example(body) for product, body in shown.items()}

    bodies = {path: encode(body) for path, body in free.items()}
    played = app.record.memory.resolved_rounds(ROUNDS_PUBLISHED)
    due = app.record.memory.settled_predictions(PREDICTIONS_SHOWN)
    standing = last_good.make(
        Kind.DISCOVERY, DISCOVERY, lambda: app.publisher.standing.files(app.publisher.site, examples(), at)
    )
    standing |= app.publisher.standing.assets
    rounds = last_good.make(Kind.DOWNLOAD, (ROUNDS_JSON,), lambda: rounds_file(app.publisher.site.project, played))
    aside = app.publisher.beside.now(context, free, played, at)
    view = PageView(context, free, app.publisher.standing.schemas, played, due, aside.shares, aside.months)
    plain = {**standing, **pages(app.publisher.pages, view, last_good), **bodies, **rounds, **aside.files}
    return _Made(free, paid, plain, frozenset({*standing, ROUNDS_JSON}), aside)


def pages(renderer: Pages, view: PageView, last_good: LastGood) -> dict[str, bytes]:
    """Return path -> bytes of every page and its twin; one that cannot be rendered stays as it was."""
    files: dict[str, bytes] = {}
    for page, render in renderer.each(view):
        files |= last_good.make(Kind.PAGE, (page.file, page.twin), render)
    return files


def rounds_file(project: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """Return the record that `emi verify` recomputes, by its path."""
    body = {"success": True, "project": project, "rounds": list(rows), "disclaimer": DISCLAIMER}
    return {ROUNDS_JSON: encode(body)}


def _offer(app: App, context: TickContext, composed: Composed, paid: Mapping[str, bytes]) -> Offer:
    freshness = context.freshness
    head: dict[str, Any] = {
        "tick_id": freshness.tick_id,
        "generated_at": iso(freshness.generated_ms),
        "valid_until": iso(freshness.valid_until_ms),
        "source_mode": context.observation.mode.value,
        "project": context.site.project,
        "disclaimer": DISCLAIMER,
        "assets_version": app.publisher.standing.assets_version,
    }
    as_of = iso(context.observation.market_ms)
    return Offer(freshness.generation, head, as_of, paid, composed.challenges, composed.bazaar)


def _report(context: TickContext, status: str, files: int, written: int) -> Report:
    regime = context.reading.regime if context.reading else None
    return Report(
        tick_id=context.freshness.tick_id,
        generation=context.freshness.generation,
        files=files,
        written=written,
        status=status,
        regime=regime.label.value if regime else "unknown",
        confidence_percent=share(regime.confidence) if regime else None,
        round_id=context.arena.live.round_id if context.arena.live else None,
    )
