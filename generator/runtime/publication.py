"""The last step of a tick: every byte first, then the vault, then the site, each with its own pointer."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from gateway.wire.receipts import read_public
from generator.arena.holds import KIND
from generator.catalog.discovery import MENU
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import iso, price
from generator.catalog.links import ROUNDS_PUBLISHED
from generator.catalog.text.answers import DISCLAIMER
from generator.compose.all import Composed
from generator.compose.body import encode
from generator.compose.facts import situation_of
from generator.compose.free import FreeBodies
from generator.compose.tick import Tick
from generator.record.published import RecordFiles, head_of
from generator.release.last_good import Kind, LastGoodFiles
from generator.release.values import FIRST_GENERATION
from generator.release.vault import Offer
from generator.runtime.app import App, Publisher
from generator.site.files.background import BackgroundRelease, TickFiles
from generator.site.files.feeds import CHANGES_READ
from generator.site.files.inputs import FilesOfTick
from generator.site.files.sample import SAMPLE_PATHS
from generator.site.files.table import files_of, made_each_tick
from generator.site.pages.practice import own_months
from generator.site.pages.recipes import PageView
from generator.site.pages.render import Pages
from generator.values.hours import Hour

PREDICTIONS_SHOWN: Final = 700
PaidJson = Mapping[str, Mapping[str, Any]]
"""The paid bodies as they are encoded, by product id."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a tick did, for the log and the prompt."""

    tick_id: str
    generation: str
    files: int
    written: int
    status: str
    headline: str
    round_id: str | None


def publish(app: App, context: Tick, composed: Composed, record: RecordFiles, at: datetime) -> Report:
    """Publish one tick; PublishError: vault or site could not be written, and readers still see the last release."""
    publisher = app.publisher
    generation = context.freshness.generation
    lasting = [file.path for file in made_each_tick() if file.is_lasting]

    # Every byte, before the first of them is written.
    tick = _tick_files(app, context, composed)
    background = publisher.background.files(tick, at, waits=not _is_bootstrap_shown(publisher))
    paid = composed.paid_json
    samples = _samples(app, paid, composed, at)
    files = publisher.variants.add(
        {**_files(app, tick, background, at), **samples, **record.in_release},
        lasting={*background.lasting, *publisher.assets.files, *SAMPLE_PATHS, *lasting},
    )
    once = {**record.immutable, **background.record.once, **publisher.practice.files}

    # A fault in one of them refuses the whole tick.
    publisher.checker.check(generation, files)
    publisher.checker.check_paid(generation, paid)

    # The vault first: what the new pages offer can be bought as soon as they are seen.
    publisher.vault.publish(_offer(app, context, composed, paid, record))
    written = publisher.releases.publish(generation, files, at.timestamp(), once, record.again)

    # Noted only now that it is seen: a tick that failed above is as if it had not been.
    app.record.published.done(record, context.freshness.tick_id, generation, context.freshness.generated_ms)
    if app.record.witnesses is not None and record.is_head:
        app.record.witnesses.ask(record.checkpoint, record.tiled)
    _keep_hour(app, tick)
    publisher.background.published(background, tick, at)
    return _report(tick, files=len(files), written=written)


def _is_bootstrap_shown(publisher: Publisher) -> bool:
    """Return whether readers have the bootstrap release and were never given another."""
    releases = publisher.releases
    return not releases.is_empty() and releases.generation() == int(FIRST_GENERATION)


def _tick_files(app: App, context: Tick, composed: Composed) -> TickFiles:
    """Put together what the files of this tick are made from."""
    memory = app.record.memory
    return TickFiles(
        context=context,
        free=FreeBodies(composed.free),
        paid=composed.paid,
        hours=memory.hours(context.freshness.generated_ms),
        rounds=memory.resolved_rounds(ROUNDS_PUBLISHED),
        due=memory.settled_predictions(PREDICTIONS_SHOWN),
    )


def _samples(app: App, paid: PaidJson, composed: Composed, at: datetime) -> dict[str, bytes]:
    sold = {product: body for product, body in paid.items() if product not in composed.unavailable}
    return app.publisher.last_good.make(Kind.DOWNLOAD, SAMPLE_PATHS, lambda: app.publisher.samples.files(sold, at))


def _files(app: App, tick: TickFiles, background: BackgroundRelease, at: datetime) -> dict[str, bytes]:
    """Make every file but the samples and those of the record's log: path -> bytes, without packed variants."""
    context = tick.context
    publisher = app.publisher
    last_good = publisher.last_good

    view = PageView(
        ctx=context,
        bodies=tick.free,
        reference=background.static.reference,
        sold=background.static.sold,
        rounds=tick.rounds,
        predictions=tick.due,
        shares=background.pictures.shares,
        months=background.record.months,
        figures=background.histories.figures,
        month=background.histories.month,
        weeks=background.weeks,
        days=background.histories.days,
    )
    pages = page_files(publisher.pages, view, last_good)
    made_from = FilesOfTick(
        ctx=context,
        site=context.site,
        mode=context.observation.mode,
        at=at,
        arena=context.arena,
        shipped=publisher.practice,
        rounds=tick.rounds,
        own=own_months(background.record.months),
        offset_ms=context.freshness.offset_ms,
        changes=lambda: app.record.memory.regime_changes(CHANGES_READ),
        weeks=background.weeks,
        practice_days=(at, at - timedelta(days=1)),
        hours=tick.hours,
        pages=pages,
        origin=app.settings.origin,
        receipt_keys=partial(read_public, app.settings.receipt_keys_path),
        kept=publisher.kept,
    )
    return {
        **publisher.assets.files,
        **background.files,
        **pages,
        **{path: encode(body) for path, body in tick.free.by_path.items()},
        **files_of(made_from, last_good),
    }


def page_files(renderer: Pages, view: PageView, last_good: LastGoodFiles) -> dict[str, bytes]:
    """Return path -> bytes of every page, its twin and the stubs; one that cannot be rendered stays as it was."""
    files: dict[str, bytes] = {}
    for page, render in renderer.each(view):
        files |= last_good.make(Kind.PAGE, (page.file, page.twin), render)
    return files | renderer.stubs(view.ctx.site)


def _offer(app: App, context: Tick, composed: Composed, paid: PaidJson, record: RecordFiles) -> Offer:
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
    if record.checkpoint:
        head["checkpoint"] = _checkpoint(record.checkpoint)

    return Offer(
        generation=freshness.generation,
        head=head,
        as_of=iso(context.observation.market_ms),
        bodies={product: encode(body) for product, body in paid.items()},
        challenges=composed.challenges,
        bazaar=composed.bazaar,
        unavailable={name: row.reason for name, row in composed.unavailable.items()},
        available_at={
            name: iso(row.until_ms) for name, row in composed.unavailable.items() if row.until_ms is not None
        },
    )


def _checkpoint(note: bytes) -> dict[str, Any]:
    """Return a head of the log as receipts name it; its entries are durable, so every later log begins with them."""
    head = head_of(note)
    return {"origin": head.origin, "size": head.size, "root": base64.b64encode(head.root).decode()}


def _keep_hour(app: App, tick: TickFiles) -> None:
    """Keep the market as it is published first in an hour."""
    context = tick.context
    at_ms = context.freshness.generated_ms
    memory = app.record.memory

    kept = memory.hours(at_ms)
    if kept and kept[-1].at_ms // HOUR_MS >= at_ms // HOUR_MS:
        return

    market = tick.free.market_regime
    chances = market.regime.probabilities
    prices = {asset: price(seen.price) for asset, seen in context.observation.assets.items()}
    hour = Hour(
        at_ms=at_ms,
        market_ms=context.observation.market_ms,
        label=market.regime.label.value,
        chances=tuple(chances.model_dump().values()) if chances else None,
        headline=market.headline,
        prices={asset: known for asset, known in prices.items() if known is not None},
        chances_kind=KIND if chances else None,
        situation=situation_of(context.market_now),
    )
    memory.keep_hours([hour])


def _report(tick: TickFiles, *, files: int, written: int) -> Report:
    context = tick.context
    live = context.arena.live
    return Report(
        tick_id=context.freshness.tick_id,
        generation=context.freshness.generation,
        files=files,
        written=written,
        status=tick.free.status.status.value,
        headline=tick.free.market_regime.headline,
        round_id=live.round_id if live else None,
    )
