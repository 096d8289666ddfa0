"""The table of files: every published JSON file apart from the answers, the type that it is made of, and what makes it.

The catalog says what a file is for, in DOWNLOADS, DISCOVERY_FILES and FEEDS; discovery and the check of a
release read them. Publication, the bootstrap release and the OpenAPI document of the files loop over this table.
"""

from functools import partial
from typing import Final

from gateway.wire.receipts import DidDocument
from generator.arena.practice.items import PracticeItemsFile, PracticeTruthsFile
from generator.catalog.discovery import DISCOVERY_FILES, FEEDS
from generator.catalog.links import (
    AI_CATALOG,
    ARD,
    DAILY_JSON,
    DOCS_INDEX,
    FEED_JSON,
    LADDER_JSON,
    PRACTICE_FILES,
    PRACTICE_MONTHS,
    RECEIPT_KEYS,
    ROUNDS_JSON,
    SAMPLE_REPORT,
    VOTERS_JSON,
    voters_file,
    voters_once,
)
from generator.catalog.products import HUMAN_REPORT, PRODUCT_BY_ID, PRODUCTS
from generator.compose.body import encode
from generator.record.audit.ladders import LaddersOfDay
from generator.record.audit.recount import BallotsFile
from generator.release.last_good import Kind, LastGoodFiles
from generator.site.files.discovery import ArdCatalog, Linkset, PaidResources
from generator.site.files.feeds import JsonFeed
from generator.site.files.record import (
    DailyFile,
    LadderFile,
    PracticeMonthsFile,
    RecordOfTick,
    RoundsFile,
    daily_file,
    ladder_file,
    practice_file,
    rounds_file,
)
from generator.site.files.sample import sample_model
from generator.site.files.search import SearchIndex
from generator.site.files.voters import VotersFile, VotersIndex, VotersList
from generator.site.openapi.files import FileKind

_MONTH: Final = "Such as 2026-11."
_DIGEST: Final = "First 12 digits of the SHA-256 of the file."
_PREFIX: Final = "First two characters of an address."
_TYPES: Final = {file.path: file.media_type for file in (*DISCOVERY_FILES, *FEEDS)}

_SAMPLES: Final = {product.id: sample_model(product) for product in PRODUCTS}

FILE_KINDS: Final = (
    FileKind(ROUNDS_JSON, RoundsFile, "The last finished rounds of the Arena", make=rounds_file),
    FileKind(DAILY_JSON, DailyFile, "The last daily questions", make=daily_file),
    FileKind(VOTERS_JSON, VotersIndex, "Which files hold what each voter said"),
    FileKind(voters_file("{prefix}"), VotersFile, "What some voters said in the running month", {"prefix": _PREFIX}),
    FileKind(
        voters_once("{month}", "voters-{month}-{digest}"),
        VotersList,
        "Which files hold what each voter said in a month that is over",
        {"month": _MONTH, "digest": _DIGEST},
    ),
    FileKind(
        voters_once("{month}", "{prefix}"),
        VotersFile,
        "What some voters said in a month that is over",
        {"month": _MONTH, "prefix": _PREFIX},
    ),
    FileKind(LADDER_JSON, LadderFile, "How often moves beyond each level happened", make=ladder_file),
    FileKind(PRACTICE_MONTHS, PracticeMonthsFile, "Which months of practice there are", make=practice_file),
    FileKind(
        f"{PRACTICE_FILES}{{month}}-{{digest}}.json",
        PracticeItemsFile,
        "Past hours to judge, of one month",
        {"month": _MONTH, "digest": _DIGEST},
    ),
    FileKind(
        f"{PRACTICE_FILES}{{month}}-{{digest}}-truths.json",
        PracticeTruthsFile,
        "What happened in the past hours of one month",
        {"month": _MONTH, "digest": _DIGEST},
    ),
    FileKind(
        "/files/ladders/{day}.json",
        LaddersOfDay,
        "What was sealed of a day's ladders, and what happened",
        {"day": "UTC day, such as 2026-11-20."},
    ),
    FileKind(
        "/files/ballots/{subject}.json",
        BallotsFile,
        "The counted ballots of a round or a daily question",
        {"subject": "Its id; further parts end in `.2`, `.3` and so on."},
    ),
    FileKind(DOCS_INDEX, SearchIndex, "What the search of the documentation reads"),
    FileKind(FEED_JSON, JsonFeed, "News of regimes and rounds", media_type=_TYPES[FEED_JSON]),
    *(
        FileKind(product.sample, _SAMPLES[product.id], f"A day-old {product.title}, free", is_answer=True)
        for product in PRODUCTS
    ),
    FileKind(
        SAMPLE_REPORT,
        _SAMPLES[HUMAN_REPORT],
        f"The same under the first address of {PRODUCT_BY_ID[HUMAN_REPORT].sample}",
        is_answer=True,
    ),
    FileKind("/.well-known/x402", PaidResources, "The paid resources with price, network and asset"),
    FileKind(
        "/.well-known/api-catalog",
        Linkset,
        "API catalog (RFC 9727)",
        media_type="application/linkset+json",
    ),
    FileKind(ARD, ArdCatalog, "What agents may search for here (ARD)"),
    FileKind(AI_CATALOG, ArdCatalog, "The same where earlier drafts of ARD look"),
    FileKind(
        RECEIPT_KEYS, DidDocument, "Keys that sign receipts (did:web), where there are any", is_always_there=False
    ),
)


def made_each_tick() -> list[FileKind]:
    """Return the files that are made of the record at each tick, though they stay as they are over many."""
    return [file for file in FILE_KINDS if file.make is not None]


def record_files(record: RecordOfTick, last_good: LastGoodFiles) -> dict[str, bytes]:
    """Make the files of the record: path -> bytes; one that fails stays as it was."""
    files: dict[str, bytes] = {}
    for file in made_each_tick():
        files |= last_good.make(Kind.DOWNLOAD, (file.path,), partial(_made, file, record))
    return files


def _made(file: FileKind, record: RecordOfTick) -> dict[str, bytes]:
    assert file.make is not None
    return {file.path: encode(file.make(record))}
