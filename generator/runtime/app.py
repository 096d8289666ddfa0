"""The generator's composition root: every room of one process, built here and nowhere else."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gateway.wire.algorand import DEMO_ARENA
from gateway.wire.extras import missing
from gateway.wire.loopback import is_loopback
from gateway.wire.networks import MAINNET, NETWORKS
from gateway.wire.program import UNNAMED, Program
from generator.arena.inputs import ArenaConfig
from generator.brain.engine import Engine
from generator.brain.weights import Weights
from generator.catalog.assets import ASSETS
from generator.catalog.words import SourceMode
from generator.clock import TimeSource
from generator.compose.context import Site
from generator.errors import SourceError
from generator.market.history import History
from generator.market.source import Source
from generator.memo import Memo
from generator.record.inbox.box import BallotBox, BallotSource
from generator.record.inbox.chain import ChainBallots
from generator.record.inbox.folder import Inbox
from generator.record.keys import name_of
from generator.record.memory.store import Memory
from generator.record.published import PublishedRecord
from generator.release.bucket.places import site_store, vault_store
from generator.release.check import Checker
from generator.release.last_good import LastGoodFiles
from generator.release.release import Releases
from generator.release.variants import Variants
from generator.release.vault import VaultFolder
from generator.runtime.lease import Fence, no_fence
from generator.runtime.market import DAYS_OF_HISTORY, MarketReader
from generator.settings import GeneratorSettings
from generator.site.files.background import BackgroundFiles
from generator.site.files.sample import Samples
from generator.site.pages.render import Pages
from generator.site.resources import Assets, ShippedMonth

if TYPE_CHECKING:
    from generator.record.inbox.indexer import Indexer
    from generator.record.witness import Witnesses
    from generator.release.bucket.site import BucketSite
    from generator.release.bucket.vault import BucketVault

OFFSET_KEY = "replay_offset_ms"
ORIGIN_KEY = "source"
SEEDED = "simulated seed "  # and the seed: the origin of a simulated record
MOVED_KEY = "replay_moved_ms"


@dataclass
class RecordKeeper:
    """What is kept, and what is played for it."""

    arena: ArenaConfig  # rules of the rounds; an hourly recording changes them when it is opened
    memory: Memory  # the database
    published: PublishedRecord  # the published record: log and ballots
    box: BallotBox  # where ballots come from
    indexer: Indexer | None  # of the chain, where ballots are read from it
    salt: Callable[[], str]  # makes the secret of a sealed forecast
    witnesses: Witnesses | None  # that sign the log's heads; None where none is asked

    async def aclose(self) -> None:
        """Close connections and the database."""
        if self.witnesses is not None:
            await self.witnesses.aclose()
        if self.indexer is not None:
            await self.indexer.aclose()
        self.memory.close()


@dataclass
class Publisher:
    """What makes and writes releases."""

    site: Site  # names and addresses that stand in bodies
    releases: Releases | BucketSite  # the published site
    vault: VaultFolder | BucketVault  # what is for sale
    assets: Assets  # scripts and style sheets
    practice: ShippedMonth  # the month of practice that comes with the program
    samples: Samples  # answers of an earlier day, given away
    pages: Pages  # HTML and Markdown
    background: BackgroundFiles  # OpenAPI, pictures and downloads
    variants: Variants  # compressed forms
    checker: Checker  # of every file before it is published
    last_good: LastGoodFiles  # bytes of the files that could be made last
    # facts of the tick published last, to say what changed since; None before the first
    previous_facts: Mapping[str, str | None] | None = None
    kept: Memo[str] = field(default_factory=Memo)  # files of a tick that are made again when what they show changed


@dataclass
class App:
    """What a tick works with."""

    settings: GeneratorSettings
    clock: TimeSource
    market: MarketReader
    record: RecordKeeper
    publisher: Publisher

    async def aclose(self) -> None:
        """Release connections and files."""
        await self.market.source.aclose()
        self.publisher.background.close()
        await self.record.aclose()


def site_of(settings: GeneratorSettings, program: Program = UNNAMED) -> Site:
    """Return what bodies and pages name."""
    network = NETWORKS[settings.network or "devnet"]

    # A network on loopback is play money; pages name where it is.
    # On a public name they do not, since readers cannot reach it.
    devnet = None
    nodes = settings.indexer_url or ""
    if not settings.play and network != MAINNET and is_loopback(urlsplit(nodes).hostname or ""):
        devnet = nodes.removesuffix("/indexer")

    return Site(
        project=settings.project,
        base_url=settings.origin,
        contact=settings.contact,
        network=network.name,
        asset_id=network.asset_id,
        arena_address=settings.arena.address or DEMO_ARENA,
        devnet=devnet,
        play=settings.play,
        source_url=settings.source_url,
        program=program,
    )


def build(
    settings: GeneratorSettings,
    clock: TimeSource,
    at: datetime | None = None,
    *,
    loop: bool = False,
    fence: Fence = no_fence,
    days: int = DAYS_OF_HISTORY,
    program: Program = UNNAMED,
) -> App:
    """Build every room; GeneratorError: one cannot be opened. Only the tables of a new memory are written.

    A recording starts at market time `at`; None resumes where the memory left off.
    """
    memory = Memory.open(settings.memory, fence)

    try:
        seed = _seed(settings, memory, clock)
        indexer = _indexer(settings)
        releases = site_store(settings.site_path, settings.site_url, fence)
        record = _record(settings, memory, seed, indexer)
        site = replace(site_of(settings, program), log_name=record.published.log_name)
        return App(
            settings=settings,
            clock=clock,
            market=_market(settings, memory, at, seed, days, loop=loop),
            record=record,
            publisher=_publisher(settings, memory, releases, fence, site),
        )
    except BaseException:
        memory.close()
        raise


def _market(
    settings: GeneratorSettings, memory: Memory, at: datetime | None, seed: int, days: int, *, loop: bool
) -> MarketReader:
    weights = Weights.load(None)
    source = _source(settings, memory, at, seed, loop=loop)
    return MarketReader(source, weights, Engine(weights, ASSETS), History(ASSETS), days)


def _record(settings: GeneratorSettings, memory: Memory, seed: int, indexer: Indexer | None) -> RecordKeeper:
    arena = ArenaConfig(
        round_minutes=settings.arena.round_minutes,
        assets=settings.arena.assets,
        address=settings.arena.address or DEMO_ARENA,
        genesis_hash=NETWORKS[settings.network or "devnet"].genesis_hash,
        seed=seed,
        simulated_crowd=settings.mode is SourceMode.SIMULATED,
    )
    published = PublishedRecord(
        memory,
        settings.log_key_path,
        name_of(settings.origin),
        settings.mode.value,
        made_if_missing=settings.log_key_file is None,
    )

    return RecordKeeper(
        arena=arena,
        memory=memory,
        published=published,
        box=_box(settings, indexer),
        indexer=indexer,
        salt=lambda: secrets.token_hex(16),
        witnesses=_witnesses(settings, published),
    )


def _witnesses(settings: GeneratorSettings, published: PublishedRecord) -> Witnesses | None:
    if settings.witness_policy is None:
        return None
    from generator.record.witness import Witnesses, policy_of  # noqa: PLC0415  aiohttp, for who asks witnesses

    return Witnesses(policy_of(settings.witness_policy), published.cosigned, published.extension_of)


def _publisher(
    settings: GeneratorSettings, memory: Memory, releases: Releases | BucketSite, fence: Fence, site: Site
) -> Publisher:
    checker = Checker()
    last_good = LastGoodFiles(checker, releases.shown)

    return Publisher(
        site=site,
        releases=releases,
        vault=vault_store(settings.vault_path, settings.vault_bucket, fence),
        assets=Assets.load(),
        practice=ShippedMonth.load(),
        samples=Samples(memory),
        pages=Pages(),
        background=BackgroundFiles(memory, last_good),
        variants=Variants(),
        checker=checker,
        last_good=last_good,
    )


def _indexer(settings: GeneratorSettings) -> Indexer | None:
    if settings.indexer_url is None:
        return None
    from generator.record.inbox.indexer import Indexer  # noqa: PLC0415  aiohttp, for who reads ballots on chain

    token = settings.indexer_token
    return Indexer(settings.indexer_url, None if token is None else token.get_secret_value())


def _box(settings: GeneratorSettings, indexer: Indexer | None) -> BallotBox:
    inbox = Inbox(settings.inbox_path)
    sources: list[BallotSource] = [inbox]
    if indexer is not None:
        sources.append(ChainBallots(indexer.ask, settings.arena.address or DEMO_ARENA))
    return BallotBox(sources, inbox.announce)


def _seed(settings: GeneratorSettings, memory: Memory, clock: TimeSource) -> int:
    """Return the seed that is set, else that of the record, else one whose market is quiet now."""
    if settings.seed is not None:
        return settings.seed
    kept = (memory.meta(ORIGIN_KEY) or "").removeprefix(SEEDED)
    if kept.isdecimal():
        return int(kept)
    if settings.mode is not SourceMode.SIMULATED:
        return 0
    from generator.market.simulated.schedule import quiet_seed  # noqa: PLC0415

    return quiet_seed(int(clock.now().timestamp()) // 60)


def _source(settings: GeneratorSettings, memory: Memory, at: datetime | None, seed: int, *, loop: bool) -> Source:
    """Make the source of these settings; the libraries of the others are not even imported."""
    if settings.mode is SourceMode.LIVE:
        if find_spec("ccxt") is None:
            raise SourceError(missing("EMI_SOURCE=live", "live"))
        from generator.market.live.source import LiveSource  # noqa: PLC0415  ccxt costs a second and 100 MB

        return LiveSource(settings.venues or None)
    if settings.mode is SourceMode.RECORDED:
        from generator.market.recorded.source import RecordedSource  # noqa: PLC0415

        kept = memory.meta(OFFSET_KEY)
        offset = int(kept) if kept is not None and at is None else None
        return RecordedSource(list(settings.data_dir), at, loop=loop, offset_ms=offset)
    from generator.market.simulated.source import SimulatedSource  # noqa: PLC0415

    return SimulatedSource(seed)
