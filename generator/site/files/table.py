"""The table of files: every published file but answers, pages and pictures, and what makes it.

The catalog says what a file is for, in DOWNLOADS, DISCOVERY_FILES and FEEDS; discovery and the check of a
release read them. Publication, the bootstrap release and the OpenAPI document of the files loop over this table.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from gateway.wire.receipts import DidDocument, did_document
from generator.arena.practice.items import PracticeItemsFile, PracticeTruthsFile
from generator.catalog.assets import ASSET_NAMES
from generator.catalog.discovery import DISCOVERY_FILES, FEEDS
from generator.catalog.links import (
    AI_CATALOG,
    ARD,
    DAILY_BRAIN_JSON,
    DAILY_JSON,
    DOCS_INDEX,
    FEED_ATOM,
    FEED_JSON,
    LADDER_JSON,
    NOW_JSON,
    PRACTICE_FILES,
    PRACTICE_MONTHS,
    RECEIPT_KEYS,
    ROUNDS_JSON,
    SAMPLE_REPORT,
    VOTERS_JSON,
    now_path,
    voters_file,
    voters_once,
)
from generator.catalog.products import HUMAN_REPORT, PRODUCT_BY_ID, PRODUCTS
from generator.compose.body import encode
from generator.compose.now import NowFile, now_file
from generator.record.audit.ladders import LaddersOfDay
from generator.record.audit.recount import BallotsFile
from generator.release.last_good import Kind, LastGoodFiles
from generator.site.files.discovery import ArdCatalog, Linkset, PaidResources
from generator.site.files.feeds import JsonFeed
from generator.site.files.inputs import FilesOfTick
from generator.site.files.record import (
    DailyBrainFile,
    DailyFile,
    LadderFile,
    PracticeMonthsFile,
    RoundsFile,
    daily_brain_file,
    daily_file,
    ladder_file,
    practice_file,
    rounds_file,
)
from generator.site.files.sample import sample_model
from generator.site.files.search import SearchIndex, search_index
from generator.site.files.voters import VotersFile, VotersIndex, VotersList
from generator.site.openapi.files import FileKind

_MONTH: Final = "Such as 2026-11."
_DIGEST: Final = "First 12 digits of the SHA-256 of the file."
_PREFIX: Final = "First two characters of an address."
_TYPES: Final = {file.path: file.media_type for file in (*DISCOVERY_FILES, *FEEDS)}

_SAMPLES: Final = {product.id: sample_model(product) for product in PRODUCTS}


@dataclass(frozen=True, slots=True)
class File(FileKind):
    """One published file, or those whose paths differ in a parameter.

    Args:
        content: None for what is not JSON, and so in no OpenAPI document.
        make: makes it in each tick: bytes, a body, or None where there is none; without it a module of its own does.
        kind: how a failure is counted.
        is_lasting: of what a tick makes: whether it stays as it is over many, so that packing it may take longer.
    """

    make: Callable[[FilesOfTick], Any] | None = None
    kind: Kind = Kind.DOWNLOAD
    is_lasting: bool = False


def _now_of(asset: str, tick: FilesOfTick) -> NowFile:
    return now_file(tick.ctx, (asset,))


def _receipt_keys(tick: FilesOfTick) -> DidDocument | None:
    keys = tick.receipt_keys()
    return did_document(tick.origin, keys) if keys else None


FILES: Final = (
    # The only ones of this table that change each minute.
    File(NOW_JSON, NowFile, "The market now in one small file", make=lambda tick: now_file(tick.ctx)),
    *(
        File(now_path(asset), NowFile, f"The same of {name} alone", make=partial(_now_of, asset))
        for asset, name in ASSET_NAMES.items()
    ),
    File(ROUNDS_JSON, RoundsFile, "The last finished rounds of the Arena", make=rounds_file, is_lasting=True),
    File(DAILY_JSON, DailyFile, "The last daily questions", make=daily_file, is_lasting=True),
    File(
        DAILY_BRAIN_JSON,
        DailyBrainFile,
        "What the brain sealed of the daily question that takes answers",
        make=daily_brain_file,
        is_lasting=True,
    ),
    File(VOTERS_JSON, VotersIndex, "Which files hold what each voter said"),
    File(voters_file("{prefix}"), VotersFile, "What some voters said in the running month", {"prefix": _PREFIX}),
    File(
        voters_once("{month}", "voters-{month}-{digest}"),
        VotersList,
        "Which files hold what each voter said in a month that is over",
        {"month": _MONTH, "digest": _DIGEST},
    ),
    File(
        voters_once("{month}", "{prefix}"),
        VotersFile,
        "What some voters said in a month that is over",
        {"month": _MONTH, "prefix": _PREFIX},
    ),
    File(LADDER_JSON, LadderFile, "How often moves beyond each level happened", make=ladder_file, is_lasting=True),
    File(
        PRACTICE_MONTHS, PracticeMonthsFile, "Which months of practice there are", make=practice_file, is_lasting=True
    ),
    File(
        f"{PRACTICE_FILES}{{month}}-{{digest}}.json",
        PracticeItemsFile,
        "Past hours to judge, of one month",
        {"month": _MONTH, "digest": _DIGEST},
    ),
    File(
        f"{PRACTICE_FILES}{{month}}-{{digest}}-truths.json",
        PracticeTruthsFile,
        "What happened in the past hours of one month",
        {"month": _MONTH, "digest": _DIGEST},
    ),
    File(
        "/files/ladders/{day}.json",
        LaddersOfDay,
        "What was sealed of a day's ladders, and what happened",
        {"day": "UTC day, such as 2026-11-20."},
    ),
    File(
        "/files/ballots/{subject}.json",
        BallotsFile,
        "The counted ballots of a round or a daily question",
        {"subject": "Its id; further parts end in `.2`, `.3` and so on."},
    ),
    File(
        DOCS_INDEX,
        SearchIndex,
        "What the search of the documentation reads",
        make=lambda tick: search_index(tick.pages),
        kind=Kind.DISCOVERY,
    ),
    File(
        FEED_JSON,
        JsonFeed,
        "News of regimes and rounds",
        media_type=_TYPES[FEED_JSON],
        make=lambda tick: tick.news[FEED_JSON],
        kind=Kind.FEED,
    ),
    File(
        FEED_ATOM,
        None,
        "The same as Atom",
        media_type=_TYPES[FEED_ATOM],
        make=lambda tick: tick.news[FEED_ATOM],
        kind=Kind.FEED,
    ),
    *(
        File(product.sample, _SAMPLES[product.id], f"A day-old {product.title}, free", is_answer=True)
        for product in PRODUCTS
    ),
    File(
        SAMPLE_REPORT,
        _SAMPLES[HUMAN_REPORT],
        f"The same under the first address of {PRODUCT_BY_ID[HUMAN_REPORT].sample}",
        is_answer=True,
    ),
    File("/.well-known/x402", PaidResources, "The paid resources with price, network and asset"),
    File(
        "/.well-known/api-catalog",
        Linkset,
        "API catalog (RFC 9727)",
        media_type="application/linkset+json",
    ),
    File(ARD, ArdCatalog, "What agents may search for here (ARD)"),
    File(AI_CATALOG, ArdCatalog, "The same where earlier drafts of ARD look"),
    File(
        RECEIPT_KEYS,
        DidDocument,
        "Keys that sign receipts (did:web), where there are any",
        is_always_there=False,
        make=_receipt_keys,
        kind=Kind.DISCOVERY,
    ),
)


def described() -> list[File]:
    """Return the files that have a type, as the OpenAPI document of the files describes them."""
    return [file for file in FILES if file.content is not None]


def made_each_tick() -> list[File]:
    """Return the files that a tick makes."""
    return [file for file in FILES if file.make is not None]


def files_of(tick: FilesOfTick, last_good: LastGoodFiles) -> dict[str, bytes]:
    """Make the files of a tick: path -> bytes; one that fails stays as it was."""
    files: dict[str, bytes] = {}
    for file in made_each_tick():
        files |= last_good.make(file.kind, (file.path,), partial(_made, file, tick))
    return files


def _made(file: File, tick: FilesOfTick) -> dict[str, bytes]:
    assert file.make is not None
    content = file.make(tick)
    if content is None:
        return {}
    return {file.path: content if isinstance(content, bytes) else encode(content)}
