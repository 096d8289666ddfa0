"""Paths of everything at the origin that is neither a free endpoint nor a product."""

from typing import Final

OPENAPI_JSON: Final = "/openapi.json"
OPENAPI_YAML: Final = "/openapi.yaml"
OPENAPI_FILES: Final = "/openapi/files.json"
OPENAPI_SLICE: Final = "/openapi/{name}.json"
DICTIONARY: Final = "/api/dictionary.json"
LLMS_TXT: Final = "/llms.txt"
SKILL: Final = "/SKILL.md"
ARD: Final = "/.well-known/ard.json"
AI_CATALOG: Final = "/.well-known/ai-catalog.json"  # where earlier drafts of ARD look
STATUS_JSON: Final = "/status.json"
NOW_JSON: Final = "/now.json"  # the market now in one small file, for programs that pay by the word
ROUNDS_JSON: Final = "/arena/rounds.json"
ROUNDS_PUBLISHED: Final = 500  # finished rounds in it at most, the newest
SAMPLE_REPORT: Final = "/sample-report.json"  # the report's sample under its first address
FEED_JSON: Final = "/feed.json"
FEED_ATOM: Final = "/feed.xml"
DOCS: Final = "/docs/"
DOCS_INDEX: Final = "/docs/index.json"  # what the search of the documentation reads
DOCS_FREE: Final = "/docs/free/"
DOCS_PAID: Final = "/docs/paid/"
QUICKSTART: Final = f"{DOCS_PAID}#quickstart"
RECEIPT_KEYS: Final = "/.well-known/did.json"
SECURITY_TXT: Final = "/.well-known/security.txt"
METHODOLOGY: Final = "/methodology/"  # the reference: methods, terms, fields that answers share
ARENA: Final = "/arena/"
HISTORY: Final = f"{ARENA}history/"  # finished rounds, and the market day by day
DAILY: Final = f"{ARENA}daily/"
DAILY_JSON: Final = f"{ARENA}daily.json"
DAILY_BRAIN_JSON: Final = f"{ARENA}daily-brain.json"
YOU: Final = f"{ARENA}you/"
VOTERS_JSON: Final = f"{ARENA}voters.json"  # which files there are of what voters said
DAILY_PUBLISHED: Final = 60  # questions in it at most, the newest
LEARN: Final = "/learn/"
LEARN_WORKER: Final = f"{LEARN}worker.js"
WEEKS: Final = f"{LEARN}#weeks"  # the most surprising hours of each
PRACTICE: Final = "/learn/practice/"
PRACTICE_MONTHS: Final = f"{PRACTICE}months.json"  # which months there are, for programs
PRACTICE_FILES: Final = "/files/practice/"  # items, truths, and the log of the shipped month
PRACTICE_DEMO: Final = f"{PRACTICE_FILES}demo"  # below it lies that log as others lie at an origin
TRACK_RECORD: Final = "/track-record/"
LADDER_JSON: Final = f"{TRACK_RECORD}ladder.json"  # the record of ladder and partition, never their present values
RANGES_JSONL: Final = f"{TRACK_RECORD}ranges.jsonl"  # of the running month; `emi verify` compares it with the log
PRICING: Final = "/pricing/"
STATUS: Final = "/#status"  # at the foot of the pages that show this minute
NOT_FOUND: Final = "/not-found/"  # its page is the answer to other paths that lead nowhere
HISTORY_CSV: Final = "/history/hours.csv"
BUYER: Final = "/x402-buyer/"
BUYER_AGENT: Final = "/x402-buyer/?product=agent"  # as the service was first described; it opens what `atlas` does
BUYER_PAGES: Final[dict[str, str]] = {
    "x402-market-regime": "/x402-buyer/?product=market-regime",
    "x402-main-brain": "/x402-buyer/?product=main-brain",
    "x402-atlas": "/x402-buyer/?product=atlas",
    "x402-atlas-human-report": BUYER,
}
"""Where a person can buy each product, by its id."""


def chapter_path(name: str) -> str:
    """Return the path of a chapter of Learn."""
    return f"{LEARN}{name}/"


def doc_address(name: str) -> str:
    """Return where an answer is explained, by the id of its endpoint or product."""
    page = DOCS_PAID if name.startswith("x402-") else DOCS_FREE
    return f"{page}#{name}"


def asset_path(asset: str) -> str:
    """Return the path of one asset's page."""
    return f"/asset/{asset.lower()}/"


def now_path(asset: str) -> str:
    """Return the same of one asset."""
    return f"/now/{asset}.json"


def asset_feed(asset: str) -> str:
    """Return the path of one asset's feed."""
    return f"{asset_path(asset)}feed.xml"


def voters_file(prefix: str) -> str:
    """Return where the running month's votes are of the addresses that begin so."""
    return f"{ARENA}voters/{prefix}.json"


def voters_once(month: str, prefix: str) -> str:
    """Return where those of a month that is over are."""
    return f"/files/voters/{month}/{prefix}.json"


REASONING_ASSET: Final = "/api/reasoning/{asset}.json"


def reasoning_path(asset: str) -> str:
    """Return the static path of one asset's reasoning."""
    return REASONING_ASSET.format(asset=asset)


def openapi_slice(name: str) -> str:
    """Return the path of one answer's own OpenAPI document, by the id of its endpoint or product."""
    return OPENAPI_SLICE.format(name=name)
