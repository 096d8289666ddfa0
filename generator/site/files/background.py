"""Files too slow for a tick: OpenAPI and discovery files, share pictures, the record for download.

The first release waits for them, but where readers have the bootstrap release alone: then charts and pictures follow in
the next. From then on a thread makes them again when what they show has changed, beginning when a release has been
published; the next release holds the result. What cannot be made keeps its last good bytes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, Generic, TypeVar

from generator.catalog.discovery import DISCOVERY_FILES, OPENAPI_SLICES
from generator.catalog.durations import DAY_MS, WEEK_MS
from generator.catalog.formats import moment
from generator.catalog.links import OPENAPI_FILES, OPENAPI_JSON, OPENAPI_YAML, WEEKS
from generator.catalog.words import RoundPhase, SourceMode
from generator.compose.body import Body, encode
from generator.compose.context import Site
from generator.compose.free import FreeBodies
from generator.compose.tick import Tick
from generator.record.memory.store import Memory
from generator.release.last_good import Kind, LastGoodFiles
from generator.site.files.discovery import as_example, discovery
from generator.site.files.downloads import RUNNING, Downloads, downloads, month_of, published_downloads
from generator.site.files.feeds import asset_feeds
from generator.site.files.history import FILES, Histories, histories
from generator.site.files.pictures import PICTURES, Drawing, Pictures, drawings, pictures
from generator.site.files.sample import bundled_as_sold
from generator.site.files.table import described
from generator.site.openapi.document import openapi, openapi_yaml
from generator.site.openapi.files import files_document
from generator.site.openapi.slices import slices
from generator.site.words.days import listed_since_ms
from generator.site.words.reference import Reference
from generator.site.words.weeks import SETTLED_MS, Week, week, week_begins
from generator.values.hours import Hour, PredictionMade
from generator.values.rows import RoundInTheRecord

T = TypeVar("T")
CHARTS_S: Final = 900
PICTURES_S: Final = 3600
_NEVER: Final = object()
_STATIC: Final = tuple(row.path for row in (*DISCOVERY_FILES, *OPENAPI_SLICES))
_PICTURES: Final = tuple(row.path for row in PICTURES.values())


@dataclass(frozen=True, slots=True)
class StaticFiles:
    """Files that change once a day, the fields of every answer as their OpenAPI has them, and paid ones as examples."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    reference: Reference = field(default_factory=partial(Reference, {}))
    sold: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by path


@dataclass(frozen=True, slots=True)
class TickFiles:
    """What these files are made from."""

    context: Tick
    free: FreeBodies
    paid: Mapping[str, Body]  # by product id
    hours: tuple[Hour, ...] = ()
    rounds: Sequence[RoundInTheRecord] = ()
    due: Sequence[PredictionMade] = ()

    def examples(self) -> dict[str, Any]:
        """Return the free bodies as the guide for agents shows them, by path."""
        return {path: as_example(body.as_json()) for path, body in self.free.by_path.items()}


@dataclass(frozen=True, slots=True)
class BackgroundRelease:
    """What one release holds of these files, and what its pages show of them."""

    files: Mapping[str, bytes]
    lasting: frozenset[str] = frozenset()  # those of them that seldom change
    static: StaticFiles = field(default_factory=StaticFiles)
    histories: Histories = field(default_factory=Histories)
    pictures: Pictures = field(default_factory=Pictures)
    record: Downloads = field(default_factory=Downloads)
    weeks: tuple[Week, ...] = ()  # newest first


class Renewed(Generic[T]):
    """A value, and the thread that makes the next one. Its methods are called from one thread only."""

    def __init__(self, kind: Kind, name: str, pool: ThreadPoolExecutor, last_good: LastGoodFiles) -> None:
        self._kind = kind
        self._name = name
        self._pool = pool
        self._last_good = last_good
        self.reset()

    def reset(self) -> None:
        """Forget the value, and drop what is being made."""
        self.value: T | None = None  # the newest taken, None while none could be made
        self._key: object = _NEVER  # of the value that was made or asked for last; None where that failed
        self._next: Future[T] | None = None

    def get(self, key: object, make: Callable[[], T]) -> T | None:
        """Return the newest value, None while none could be made. The first is made here and now."""
        if self._key is _NEVER:
            self._key = key
            self._take(make)
        elif self._next is not None and self._next.done():
            self._take(self._next.result)
            self._next = None
        return self.value

    def renew(self, key: object, make: Callable[[], T]) -> None:
        """Begin to make the next value, unless one is being made or the newest is of this key."""
        if self._next is None and key != self._key:
            self._key = key
            self._next = self._pool.submit(make)

    def _take(self, make: Callable[[], T]) -> None:
        value = self._last_good.attempt(self._kind, make, self._name)
        # No key is None: what failed is made again in the next tick.
        if value is None:
            self._key = None
        else:
            self.value = value


@dataclass(frozen=True, slots=True)
class _Job:
    """What makes a value, and a key that changes when it is to be made again."""

    renewed: Renewed[Any]
    key: object
    make: Callable[[], Any]
    may_follow: bool = False  # the release that comes after the bootstrap release does without it


class BackgroundFiles:
    """Make these files, and remember what is being made. One thread calls its methods."""

    def __init__(
        self,
        memory: Memory,
        last_good: LastGoodFiles | None = None,
        *,
        static: Callable[[Site, Mapping[str, Any], datetime], StaticFiles] | None = None,
        draw: Callable[[Mapping[str, Drawing]], Pictures] = pictures,
    ) -> None:
        self._memory = memory
        self._last_good = last_good or LastGoodFiles()
        self._make_static = static or static_files
        self._draw = draw
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="background")

        rest = (self._pool, self._last_good)
        self._static: Renewed[StaticFiles] = Renewed(Kind.DISCOVERY, OPENAPI_JSON, *rest)
        self._histories: Renewed[Histories] = Renewed(Kind.PICTURE, "history", *rest)
        self._pictures: Renewed[Pictures] = Renewed(Kind.PICTURE, "share pictures", *rest)
        self._downloads: Renewed[Downloads] = Renewed(Kind.DOWNLOAD, "downloads", *rest)
        self._weeks: Renewed[tuple[Week, ...]] = Renewed(Kind.PAGE, WEEKS, *rest)

        self._months_noted = 0

    def files(self, tick: TickFiles, at: datetime, *, waits: bool = True) -> BackgroundRelease:
        """Return what the release of a tick holds.

        Args:
            waits: for what was never made; else a release does without what may follow in the next.
        """
        for job in self._jobs(tick, at):
            if waits or not job.may_follow:
                job.renewed.get(job.key, job.make)

        static = self._static.value or StaticFiles()
        histories = self._histories.value or Histories()
        pictures = self._pictures.value or Pictures()
        record = self._downloads.value or Downloads()

        files = self._or_last_good(Kind.DISCOVERY, _STATIC, static.files)
        lasting = frozenset(files)
        files |= self._or_last_good(Kind.PICTURE, _PICTURES, pictures.files)
        files |= self._or_last_good(Kind.DOWNLOAD, RUNNING, record.files)
        files |= self._or_last_good(Kind.PICTURE, FILES, histories.files)

        return BackgroundRelease(
            files=files,
            lasting=lasting,
            static=static,
            histories=histories,
            pictures=pictures,
            record=record,
            weeks=self._weeks.value or (),
        )

    def published(self, release: BackgroundRelease, tick: TickFiles, at: datetime) -> None:
        """Note what was published, and begin to make what the next release will hold.

        Raises:
            MemoryUnreadable: the months that were published could not be noted; the next release has them again.
            LeadershipLost: likewise.
        """
        if release.record.notes:
            self._memory.note_months(release.record.notes)
            self._months_noted += len(release.record.notes)

        for job in self._jobs(tick, at):
            job.renewed.renew(job.key, job.make)

    def reset(self) -> None:
        """Make everything that shows the record again: another process may have published since."""
        for renewed in (self._histories, self._pictures, self._downloads, self._weeks):
            renewed.reset()

    def close(self) -> None:
        """Drop what has not begun and wait for the rest."""
        self._pool.shutdown(cancel_futures=True)

    def _jobs(self, tick: TickFiles, at: datetime) -> Iterator[_Job]:
        """Give everything that is made in the background; a picture shows what the job before it drew."""
        seconds = int(at.timestamp())
        site = tick.context.site
        mode = tick.context.observation.mode
        is_first = self._downloads.value is None

        yield _Job(
            self._static,
            key=at.date(),
            make=lambda: self._make_static(site, tick.examples(), at),
        )
        yield _Job(
            self._histories,
            key=seconds // CHARTS_S,
            make=lambda: self._make_histories(tick),
            may_follow=True,
        )
        yield _Job(
            self._pictures,
            key=seconds // PICTURES_S,
            make=lambda: self._draw(drawings(tick.context, tick.free.market_regime)),
            may_follow=True,
        )
        yield _Job(
            self._downloads,
            key=(self._record_state(tick, at), is_first),
            make=lambda: self._first_downloads(mode, at) if is_first else downloads(self._memory.exports(), mode, at),
        )
        # Once a day, and an hour later, when the last hours of a week are judged.
        now_ms = tick.context.freshness.generated_ms
        of_day = (now_ms // DAY_MS, now_ms % DAY_MS >= SETTLED_MS)
        yield _Job(self._weeks, key=of_day, make=lambda: self._make_weeks(now_ms))

    def _or_last_good(self, kind: Kind, paths: Sequence[str], files: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return the files that were made or, where there are none, the last good bytes of these paths."""
        if files:
            return self._last_good.make(kind, paths, lambda: files)
        return self._last_good.last(paths)

    def _make_histories(self, tick: TickFiles) -> Histories:
        """Draw the market over time; the feeds of the assets are renewed with it."""
        context = tick.context
        now_ms = context.freshness.generated_ms
        exports = self._memory.exports()
        published = exports.published_hours(listed_since_ms(now_ms))
        drawn = histories(context, tick.hours, published)

        news = asset_feeds(context.site, context.observation.mode, tick.rounds, tick.due, moment(now_ms))
        return replace(drawn, files={**drawn.files, **news})

    def _first_downloads(self, mode: SourceMode, at: datetime) -> Downloads:
        """Take what is published, and close no month: a tick waits, and that takes as long as the month has rounds."""
        exports = self._memory.exports()
        # Readers had the record until now; the next release has what was added since.
        published = published_downloads(exports, mode, self._last_good.last)
        return published or downloads(exports, mode, at, closes=False)

    def _make_weeks(self, now_ms: int) -> tuple[Week, ...]:
        """Explain the running week and those before it."""
        exports = self._memory.exports()
        explained = (week(begin, exports.hourly(begin, begin + WEEK_MS), now_ms) for begin in week_begins(now_ms))
        return tuple(shown for shown in explained if shown is not None)

    def _record_state(self, tick: TickFiles, at: datetime) -> object:
        """Return a value that is equal while the record is the same."""
        arena = tick.context.arena
        rounds = arena.rounds

        return (
            month_of(at),
            arena.hourly_record.resolved,
            arena.hourly_record.void,
            tuple(horizon.resolved + horizon.void for horizon in arena.how_far),
            (rounds.get(RoundPhase.RESOLVED, 0), rounds.get(RoundPhase.VOID, 0)),
            tuple((question.question_id, question.phase) for question in arena.daily),
            self._months_noted,
        )


def static_files(site: Site, examples: Mapping[str, Any], at: datetime) -> StaticFiles:
    """Make OpenAPI and the discovery files, with free answers by path as examples."""
    document = openapi(
        base_url=site.base_url,
        project=site.project,
        contact=site.contact,
        network=site.network,
    )
    # Before the first reading there is no free answer worth showing, and nothing for sale.
    sold = bundled_as_sold()
    answers = {**examples, **sold} if examples else {}
    files = {
        OPENAPI_JSON: encode(document),
        OPENAPI_YAML: openapi_yaml(document),
        **{path: encode(part) for path, part in slices(document, answers).items()},
        OPENAPI_FILES: encode(files_document(document, described())),
        **discovery(site, at.astimezone(UTC), examples=examples),
    }
    return StaticFiles(files, Reference(document["components"]["schemas"]), sold)
