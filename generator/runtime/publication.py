"""The last step of a tick: every byte first, then the vault, then the site, each with its own pointer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from generator.arena.values import Hour
from generator.catalog.discovery import FEEDS, MENU
from generator.catalog.durations import HOUR_MS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import iso, price, share
from generator.catalog.links import ROUNDS_JSON, ROUNDS_PUBLISHED, STATUS_JSON
from generator.catalog.products import HUMAN_REPORT
from generator.catalog.text.answers import DISCLAIMER
from generator.compose.all import Composed
from generator.compose.body import Body, encode
from generator.compose.context import TickContext
from generator.compose.paid_human_report import X402HumanReportPaidResponse
from generator.record.published import RecordFiles
from generator.release.last_good import Kind, LastGood
from generator.release.vault import Offer
from generator.runtime.app import App
from generator.site.charts.report import illustrated, report_charts
from generator.site.files.background import BackgroundRelease, Bodies, TickFiles
from generator.site.files.feeds import CHANGES_READ, feeds
from generator.site.files.sample import SAMPLE_PATHS
from generator.site.pages.render import Pages, PageView

PREDICTIONS_SHOWN: Final = 700


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


def publish(app: App, context: TickContext, composed: Composed, record: RecordFiles, at: datetime) -> Report:
    """Publish one tick; PublishError: vault or site could not be written, and readers still see the last release."""
    generation = context.freshness.generation
    tick = _tick_files(app, context, composed)
    background = app.publisher.background.files(tick, at)
    sold = {product: body for product, body in tick.paid.items() if product not in composed.unavailable}
    samples = app.publisher.last_good.make(Kind.DOWNLOAD, SAMPLE_PATHS, lambda: app.publisher.samples.files(sold, at))
    files = app.publisher.variants.add(
        {**_files(app, tick, background, at), **samples, **record.in_release},
        lasting={*background.lasting, *app.publisher.assets.files, ROUNDS_JSON, *SAMPLE_PATHS},
    )
    once = {**record.immutable, **background.record.once}
    app.publisher.checker.check(generation, files)
    app.publisher.checker.check_paid(generation, tick.paid)
    app.publisher.vault.publish(_offer(app, context, composed, tick.paid))
    written = app.publisher.releases.publish(generation, files, at.timestamp(), once, record.again)
    app.record.published.done(record, context.freshness.tick_id, generation, context.freshness.generated_ms)
    _keep_hour(app, context, tick)
    app.publisher.background.published(background, tick, at)
    return _report(context, tick.free[STATUS_JSON]["status"], len(files), written)


def _tick_files(app: App, context: TickContext, composed: Composed) -> TickFiles:
    """Draw the report's charts, and put the bodies together as they are published and sold."""
    last_good = app.publisher.last_good
    charts = report_charts(context, lambda name, draw: last_good.attempt(Kind.PICTURE, draw, name))
    report = composed.paid[HUMAN_REPORT]
    assert isinstance(report, X402HumanReportPaidResponse)
    paid = {**composed.paid, HUMAN_REPORT: illustrated(report, charts)}
    hours = app.record.memory.hours(context.freshness.generated_ms)
    played = app.record.memory.resolved_rounds(ROUNDS_PUBLISHED)
    due = app.record.memory.settled_predictions(PREDICTIONS_SHOWN)
    return TickFiles(context, _plain(composed.free), _plain(paid), hours, played, due)


def _files(app: App, tick: TickFiles, background: BackgroundRelease, at: datetime) -> dict[str, bytes]:
    """Make every file but those of the record's log: path -> bytes, without packed variants."""
    context, last_good, played, due = tick.context, app.publisher.last_good, tick.rounds, tick.due
    news = last_good.make(
        Kind.FEED,
        [feed.path for feed in FEEDS],
        lambda: feeds(
            context.site, context.observation.mode, played, app.record.memory.regime_changes(CHANGES_READ), at
        ),
    )
    rounds = last_good.make(Kind.DOWNLOAD, (ROUNDS_JSON,), lambda: rounds_file(app.publisher.site.project, played))
    view = PageView(
        context,
        tick.free,
        background.static.schemas,
        played,
        due,
        background.pictures.shares,
        background.record.months,
        background.histories.figures,
        background.histories.days,
    )
    bodies = {path: encode(body) for path, body in tick.free.items()}
    return {
        **app.publisher.assets.files,
        **background.files,
        **pages(app.publisher.pages, view, last_good),
        **bodies,
        **rounds,
        **news,
    }


def _keep_hour(app: App, context: TickContext, tick: TickFiles) -> None:
    """Keep the market as it is published first in an hour."""
    at_ms, memory = context.freshness.generated_ms, app.record.memory
    if any(hour.at_ms // HOUR_MS >= at_ms // HOUR_MS for hour in memory.hours(at_ms)[-1:]):
        return
    body, seen = tick.free[ENDPOINT_BY_ID["market-regime"].path], context.observation
    chances = body["regime"]["probabilities"]
    prices = {asset: value for asset, one in seen.assets.items() if (value := price(one.price)) is not None}
    shares = None if chances is None else tuple(chances.values())
    memory.keep_hours([Hour(at_ms, seen.market_ms, body["regime"]["label"], shares, body["headline"], prices)])


def _plain(bodies: Mapping[str, Body]) -> dict[str, dict[str, Any]]:
    return {name: body.as_json() for name, body in bodies.items()}


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


def _offer(app: App, context: TickContext, composed: Composed, paid: Bodies) -> Offer:
    freshness = context.freshness
    head: dict[str, Any] = {
        "tick_id": freshness.tick_id,
        "generated_at": iso(freshness.generated_ms),
        "valid_until": iso(freshness.valid_until_ms),
        "source_mode": context.observation.mode.value,
        "project": context.site.project,
        "disclaimer": DISCLAIMER,
        "assets_version": app.publisher.assets.version,
        "menu": MENU,
    }
    as_of = iso(context.observation.market_ms)
    sold = {product: encode(body) for product, body in paid.items()}
    return Offer(freshness.generation, head, as_of, sold, composed.challenges, composed.bazaar, composed.unavailable)


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
