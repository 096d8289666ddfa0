"""What people and crawlers can open apart from the endpoints: pages, discovery files, statuses, the query."""

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from generator.catalog import links
from generator.catalog.assets import ASSET_NAMES, ASSETS, DEFAULT_ASSET
from generator.catalog.counts import ASSETS_IN_WORDS, ENDPOINTS_IN_WORDS, PRODUCTS_IN_WORDS
from generator.catalog.downloads import DOWNLOADS, PublicFile
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.money import usdc_amount
from generator.catalog.pages import DOC_PAGES, SitePage
from generator.catalog.products import PRODUCTS
from generator.catalog.text.chapters import CHAPTERS

CATALOG_VERSION: Final = "1.3.0"
_CHEAPEST, _DEAREST = (usdc_amount(pick(row.price_atomic for row in PRODUCTS)) for pick in (min, max))
# What lies below these is immutable: written once, outside of every release, and served with
# ONCE_CACHE_CONTROL. Everything else is in the release.
ONCE_PREFIXES: Final = ("/log/tile/", "/files/")
ONCE_SECONDS: Final = 31_536_000
ONCE_CACHE_CONTROL: Final = f"public, max-age={ONCE_SECONDS}, immutable"
# A partial tile of the log goes a day after the full one, which begins with the same hashes or entries.
PARTIAL_TILES_KEPT_S: Final = 86_400
_PARTIAL_TILE: Final = re.compile(r"(?P<full>/log/tile/.+)\.p/[0-9]+")
# A file of a release under its generation, /g/<generation>/<path>: it goes away when the release is pruned.
PINNED_CACHE_CONTROL: Final = "public, max-age=600, immutable"
_ANSWERS: Final = (*(row.id for row in ENDPOINTS), *(row.id for row in PRODUCTS))
_VOTERS_FILE: Final = re.compile(r"/arena/voters/[A-Z2-7]{2}\.json")


def is_voters_file(path: str) -> bool:
    """Return whether a file of a release holds what the voters of one prefix said; which there are depends on them."""
    return _VOTERS_FILE.fullmatch(path) is not None


def full_tile(path: str) -> str | None:
    """Return the path of the tile that a partial one grows into (C2SP tlog-tiles), None for any other file."""
    partial = _PARTIAL_TILE.fullmatch(path)
    return partial["full"] if partial else None


PAGES: Final[tuple[SitePage, ...]] = (
    SitePage("/", "pages/index.html", "Now", "The crypto market now, in words",
             f"The regime of the crypto market now, {ASSETS_IN_WORDS} assets, futures pressure and a prediction game, "
             "for learning only."),
    SitePage(links.ARENA, "pages/arena.html", "Arena", "The Arena: people and the brain, same question",
             "A prediction game with no stakes: the live round, the votes, the brain's sealed forecast."),
    SitePage(links.DAILY, "pages/daily.html", "Daily question", "Where will Bitcoin be at 13:00 tomorrow?",
             "One question a day: set a 50% and a 90% range of Bitcoin's move, see the outcome, and how the brain and "
             "a usual day did. Free, no account."),
    SitePage(links.YOU, "pages/you.html", "Your votes", "Your votes: score, calibration and luck",
             "What one address voted and answered, scored next to the brain and what is usual, with intervals. "
             "The key stays with you."),
    SitePage(links.HISTORY, "pages/history.html", "History", "Finished rounds, and the market day by day",
             "Who was right in the finished rounds, the best records, and a line for each day: its headline and how "
             "Bitcoin moved."),
    SitePage(links.TRACK_RECORD, "pages/track_record.html", "Record", "How good the forecasts were",
             "How often forecasts were right, how sure they were, and how they compare with simple rules. "
             "Every miss is kept."),
    SitePage(links.LEARN, "pages/learn.html", "Learn", "Learn to read a market without being fooled by it",
             "Nine chapters on chance and markets, each with a guess and this month's numbers; what a regime is; "
             "the most surprising hours of each week."),
    *(
        SitePage(links.chapter_path(chapter.name), "pages/learn_chapter.html", chapter.short, chapter.title,
                 chapter.about, subject=chapter.name)
        for chapter in CHAPTERS
    ),
    SitePage(links.PRACTICE, "pages/practice.html", "Practice", "Practice: how far, and how sure?",
             "Past hours of the record without name and date: set a range or a chance, see the outcome, and learn "
             "whether you are calibrated. With a sheet for a class. Free, no account."),
    SitePage(links.PRICING, "pages/pricing.html", "Report", "What is free and what costs a few cents",
             f"{ENDPOINTS_IN_WORDS.capitalize()} answers are free without a key. "
             f"{PRODUCTS_IN_WORDS.capitalize()} more detailed ones cost {_CHEAPEST} to {_DEAREST} USDC each, "
             "paid with the request."),
    SitePage(links.METHODOLOGY, "pages/methodology.html", "Reference", "How the service reads, forecasts and scores",
             "What a regime, a confidence, a forecast and a score mean here; every term; the fields that answers "
             "share."),
    SitePage(links.NOT_FOUND, "pages/not_found.html", "", "Nothing here", "There is nothing at this path."),
    *(
        SitePage(
            links.asset_path(asset), "pages/asset.html", asset, f"{name} now: how far, which way, and its record",
            f"The price of {name}, its ranges over 15 minutes to 24 hours, reasons, funding, open interest and record.",
            subject=asset,
        )
        for asset, name in ASSET_NAMES.items()
    ),
    *DOC_PAGES,
)  # fmt: skip


# The links at the top of every page; the buyer page takes them from the manifest.
MENU: Final = (
    ("Now", "/"),
    ("Learn", links.LEARN),
    ("Practice", links.PRACTICE),
    ("Record", links.TRACK_RECORD),
    ("API", links.DOCS),
)
# Those at its foot.
FOOT: Final = (
    ("Arena", links.ARENA),
    ("History", links.HISTORY),
    ("Report", links.PRICING),
    ("Reference", links.METHODOLOGY),
    ("News feed", links.FEED_ATOM),
    ("Guide for agents", links.LLMS_TXT),
)


class Feed(NamedTuple):
    """One feed that every page announces: path, media type, title."""

    path: str
    media_type: str
    title: str


@dataclass(frozen=True, slots=True)
class SharePicture:
    """The picture that a page shows where it is shared: path, size in pixels, words for those who do not see it."""

    path: str
    width: int
    height: int
    alt: str


FEEDS: Final = (
    Feed(links.FEED_JSON, "application/feed+json", "News as JSON Feed"),
    Feed(links.FEED_ATOM, "application/atom+xml", "News as Atom"),
)
_SHARED: Final = (1200, 630)  # the size that Open Graph's readers crop nothing from
SHARE_PICTURE: Final = SharePicture(
    "/share/general.png", *_SHARED, "The crypto market in words, and every forecast scored. For learning only."
)
# What a page shows where it is shared; the pages that are not here show SHARE_PICTURE.
SHARE_PICTURES: Final = {
    "/": SharePicture("/share/now.png", *_SHARED, "The regime of the crypto market in words. For learning only."),
    links.ARENA: SharePicture("/share/arena.png", *_SHARED, "The live round of the Arena. For learning only."),
}


# The OpenAPI document of each answer by itself.
OPENAPI_SLICES: Final = tuple(
    PublicFile(links.openapi_slice(name), "application/json", f"OpenAPI 3.1 of one answer: {name}") for name in _ANSWERS
)
# What crawlers and agents read.
DISCOVERY_FILES: Final = (
    PublicFile(links.OPENAPI_JSON, "application/json", "OpenAPI 3.1 description of every endpoint"),
    PublicFile(links.OPENAPI_YAML, "application/yaml", "The same description as YAML"),
    PublicFile(
        links.OPENAPI_FILES, "application/json", "OpenAPI 3.1 description of the files: record, practice, feed, samples"
    ),
    PublicFile(
        links.DICTIONARY, "application/json", "Every word and scale of the answers: meaning, unit, what not to conclude"
    ),
    PublicFile(links.LLMS_TXT, "text/plain; charset=utf-8", "Short guide for language models and agents"),
    PublicFile(links.SKILL, "text/markdown; charset=utf-8", "How to use this service, as a skill that an agent loads"),
    PublicFile("/llms-full.txt", "text/plain; charset=utf-8", "The guide with every endpoint in full"),
    PublicFile("/robots.txt", "text/plain; charset=utf-8", "What crawlers may fetch"),
    PublicFile("/sitemap.xml", "application/xml", "Pages and free endpoints with their last change"),
    PublicFile(
        "/.well-known/api-catalog",
        'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
        "API catalog (RFC 9727)",
    ),
    PublicFile("/.well-known/x402", "application/json", "The paid resources with price, network and asset"),
    PublicFile(links.ARD, "application/json", "What agents may search for here (ARD)"),
    PublicFile(links.AI_CATALOG, "application/json", "The same where earlier drafts of ARD look"),
    PublicFile(links.SECURITY_TXT, "text/plain; charset=utf-8", "Where to report a security problem (RFC 9116)"),
)


# The market now, in one small file and for each asset; they change every minute.
NOW_FILES: Final = (
    PublicFile(
        links.NOW_JSON,
        "application/json",
        "The market now in under 1,000 tokens: prices, ranges, chances, question",
    ),
    *(
        PublicFile(links.now_path(asset), "application/json", f"The same of {name} alone")
        for asset, name in ASSET_NAMES.items()
    ),
)

_NAMED: Final = (
    *(file.path for file in (*DOWNLOADS, *DISCOVERY_FILES, *OPENAPI_SLICES)),
    *(feed.path for feed in FEEDS),
)
# JSON that stays as it is over many ticks: it names none.
LASTING_JSON: Final = frozenset(
    {*(path for path in _NAMED if path.endswith(".json")),
     links.DOCS_INDEX, links.SAMPLE_REPORT, links.RECEIPT_KEYS, *(row.sample for row in PRODUCTS)}
)  # fmt: skip
# Every file of a release that is JSON; one that is not here is not published. Immutable files are checked elsewhere.
JSON_FILES: Final = frozenset(
    {
        *(row.path for row in ENDPOINTS),
        *map(links.reasoning_path, ASSETS),
        links.STATUS_JSON,
        *(file.path for file in NOW_FILES),
        *LASTING_JSON,
    }
)


class StatusRow(NamedTuple):
    """What one HTTP status means here and what a client does about it."""

    status: int
    condition: str
    advice: str


STATUSES: Final[tuple[StatusRow, ...]] = (
    StatusRow(200, "The answer. On a paid path: the payment is settled.", "Read `freshness.valid_until` before use."),
    StatusRow(304, "Nothing changed since the ETag you sent.", "Keep using your copy."),
    StatusRow(400, "A query that is not supported, such as an unknown `asset`.", "Use one of `supported_assets`."),
    StatusRow(402, "Paid path without a valid payment. The terms are in the header PAYMENT-REQUIRED.", "Pay, or stop."),
    StatusRow(404, "No such path.", "See the list of endpoints."),
    StatusRow(405, "A method other than GET, HEAD or OPTIONS.", "Use GET."),
    StatusRow(
        409,
        "Paid path: a payment in this request was made before, and is not delivered to it. `reason` says why: "
        "`payment_identifier_required`, `payment_already_on_chain`, `payment_header_repeated`.",
        "Do not pay again. Send the payment as it was sent first, with its own payment-identifier, "
        "or write to `contact` with `txid`.",
    ),
    StatusRow(
        410,
        "Paid path: the payment is settled, and its answer is no longer kept (it was for at least a day).",
        "Do not pay again for it; PAYMENT-RESPONSE is the receipt.",
    ),
    StatusRow(413, "A request body. No endpoint takes one.", "Send none."),
    StatusRow(429, "Too many requests from one address.", "Wait for the seconds in Retry-After."),
    StatusRow(431, "Request headers over 16 KiB.", "Send a smaller payment header."),
    StatusRow(500, "An error on our side.", "Try again later; report it if it persists."),
    StatusRow(
        503,
        "There is nothing to quote now, or the outcome of a payment you sent is not known yet.",
        "Wait for Retry-After and send the same signed payment again. Never sign a second one.",
    ),
)

QUERY_NOTES: Final[dict[str, str]] = {
    "reasoning": (
        f"`asset`, optional: one of {', '.join(ASSETS)}, upper or lower case. Without it the answer is for "
        f"{DEFAULT_ASSET}. Another value is answered with 400."
    ),
}
