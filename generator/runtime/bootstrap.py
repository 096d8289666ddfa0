"""The release before the first tick: every file is there, and every reading says that it has not started yet."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

import structlog

from gateway.wire.program import UNNAMED, Program
from gateway.wire.space import reason_of
from generator.arena.scores import track_record
from generator.arena.teacher import RunningTotals
from generator.catalog.assets import ASSETS
from generator.catalog.downloads import SUMS
from generator.catalog.links import OPENAPI_JSON
from generator.catalog.text.answers import NOT_STARTED
from generator.catalog.words import SourceMode
from generator.compose.all import compose_free
from generator.compose.body import encode
from generator.compose.context import DayBefore, Site
from generator.compose.free import FreeBodies
from generator.compose.tick import Tick
from generator.errors import PublishError
from generator.market.bars import BarFrame
from generator.market.observation import AssetObservation, Observation
from generator.release.check import Checker
from generator.release.last_good import Kind, LastGoodFiles
from generator.release.release import POINTER, Releases
from generator.release.values import FIRST_GENERATION
from generator.release.variants import Variants
from generator.runtime.app import App, site_of
from generator.runtime.market import to_ms
from generator.runtime.publication import page_files
from generator.runtime.tick import freshness
from generator.settings import GeneratorSettings
from generator.site.files.background import StaticFiles, static_files
from generator.site.files.downloads import no_downloads
from generator.site.files.inputs import FilesOfTick
from generator.site.files.sample import bundled_files
from generator.site.files.table import files_of
from generator.site.pages.recipes import PageView
from generator.site.pages.render import Pages
from generator.site.resources import Assets, ShippedMonth
from generator.values.ticks import TicksBlock
from generator.values.view import ArenaView
from generator.values.votes import Tally

if TYPE_CHECKING:
    from generator.release.bucket.site import BucketSite

# Served by no edge: where it lies in the newest release, answers are neither kept nor indexed.
STARTING: Final = "/.starting"
log = structlog.get_logger("emi.publish")


def publish_bootstrap(releases: Releases | BucketSite, site: Site, mode: SourceMode, at: datetime) -> bool:
    """Publish the bootstrap release where nothing was ever published, so that no reader meets an empty server.

    Return False where something is or was published; nothing was done then.

    Raises:
        PublishError: the site cannot be written, or another's release came first.
        LeadershipLost: the lease is another's.
    """
    if not releases.is_empty() or releases.generation():
        return False
    files = Variants().add(bootstrap_files(site, mode, at))
    Checker().check(FIRST_GENERATION, files)
    releases.publish(FIRST_GENERATION, files, at.timestamp(), once=ShippedMonth.load().files)  # its pages name them
    return True


def ensure_bootstrap(settings: GeneratorSettings, at: datetime, program: Program = UNNAMED) -> bool:
    """Publish the bootstrap release to the site folder of these settings unless it has a pointer.

    A folder with a pointer is not even opened: it may be another generator's, at work.
    """
    pointer = settings.site_path / POINTER
    if pointer.is_symlink():
        return False

    releases = Releases(settings.site_path)
    try:
        settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        releases.open()
        return publish_bootstrap(releases, site_of(settings, program), settings.mode, at)
    except OSError as error:
        reason = reason_of(error, settings.state_dir)
        raise PublishError(f"state folder {settings.state_dir}: cannot write: {reason}") from error
    except PublishError:
        if pointer.is_symlink():  # another process was faster
            return False
        raise


def ensure_bootstrap_in_store(app: App, at: datetime) -> None:
    """Publish the bootstrap release to an object store that has no pointer. Leader only.

    A store that is away is logged; the first tick's release needs none before it.
    """
    if app.settings.site_url is None:
        return
    app.publisher.releases.open()
    try:
        publish_bootstrap(app.publisher.releases, app.publisher.site, app.market.mode, at)
    except PublishError as error:
        log.warning("no bootstrap release", reason=str(error))


def bootstrap_files(site: Site, mode: SourceMode, at: datetime, renderer: Pages | None = None) -> dict[str, bytes]:
    """Make every file of the bootstrap release, without variants: path with leading slash to bytes.

    All but the share pictures: there is nothing to show yet, and drawing them would take longer than all the rest.
    """
    context = _context(site, mode, at)
    last_good = LastGoodFiles()
    free = compose_free(context)
    files = dict(Assets.load().files)

    made = last_good.attempt(Kind.DISCOVERY, lambda: static_files(site, {}, at), OPENAPI_JSON)
    static = made or StaticFiles()
    files |= static.files

    view = PageView(ctx=context, bodies=FreeBodies(free), reference=static.reference, sold=static.sold)
    pages = page_files(renderer or Pages(), view, last_good)
    files |= pages
    files |= files_of(FilesOfTick(context, site, mode, at, context.arena, ShippedMonth.load(), pages=pages), last_good)
    downloads = {
        SUMS: lambda: no_downloads(mode).files,
        "samples": bundled_files,
    }
    for name, download in downloads.items():
        files |= last_good.attempt(Kind.DOWNLOAD, download, name) or {}

    bodies = {path: encode(body) for path, body in free.items()}
    return {**files, **bodies, STARTING: b"No reading has been published yet.\n"}


def _context(site: Site, mode: SourceMode, at: datetime) -> Tick:
    none = RunningTotals()
    nothing = {asset: AssetObservation(asset, limitations=(NOT_STARTED,)) for asset in ASSETS}

    return Tick(
        site=site,
        freshness=freshness(at, 0, 0 if mode is SourceMode.RECORDED else None),
        # No source was asked yet, so none failed.
        observation=Observation(mode, to_ms(at), nothing, (), BarFrame.empty(ASSETS), limitations=(NOT_STARTED,)),
        reading=None,
        arena=ArenaView(
            live=None,
            live_tally=Tally(),
            open=None,
            lessons=(),
            events=(),
            teacher=none.live.lessons.metrics(0),
            arena_record=track_record("arena", none.live.arena),
            hourly_record=track_record("hourly", none.live.hourly),
        ),
        day_before=DayBefore(),
        ticks=TicksBlock(0, 0, 0),
    )
