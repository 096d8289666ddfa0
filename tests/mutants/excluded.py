"""What is never drawn, each with its reason: what changes nothing that anyone can see, or only PostgreSQL shows.

The tests that need a PostgreSQL are those of `pytest -m outside`, which a mutation run does not start.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.mutants.sites import Site

NEVER_READ: Final = "put in and taken out in one transaction: no one reads what is in it"
ENDS_BY_ITSELF: Final = "ends where a step changes nothing any more: with another bound the nine digits are the same"
FETCHED: Final = "how many rows are fetched at once, not which"
WITHOUT_A_ROUND: Final = "without a round an absence proves nothing, whoever agrees with it"
NOT_COMPARED: Final = "read back from a published row: no recomputed score or part of a lesson depends on it"
DESCRIBES: Final = "descriptions of published fields, which are left out where they are written at the field"
POSTGRES: Final = "only a PostgreSQL shows it: tests/ledger/test_postgres.py, tests/outside/test_memory_postgres.py"


@dataclass(frozen=True)
class Excluded:
    """A part of a source, which must be there exactly once, and why nothing in it is drawn."""

    file: str
    text: str
    reason: str

    def span(self, source: str) -> tuple[int, int]:
        """Return where it is, in bytes; ValueError where it is not, or in two places."""
        if source.count(self.text) != 1:
            raise ValueError(f"{self.file}: {self.text!r} is there {source.count(self.text)} times")
        start = len(source[: source.index(self.text)].encode())
        return start, start + len(self.text.encode())


EXCLUDED: Final = (
    Excluded("generator/arena/beta.py", "STEPS: Final = 200", ENDS_BY_ITSELF),
    Excluded("generator/arena/beta.py", "STEPS + 1)", ENDS_BY_ITSELF),
    Excluded("generator/arena/beta.py", "CLOSE: Final = 1e-15", ENDS_BY_ITSELF),
    Excluded("generator/arena/beta.py", "change - 1.0", ENDS_BY_ITSELF),
    Excluded("generator/arena/beta.py", "_TINY: Final = 1e-300", "stands for a zero; any number as small does"),
    Excluded("generator/arena/games.py", 'HOURS: Final = "hours"', "every place reads it here, and none stores it"),
    Excluded("generator/arena/games.py", 'ROUNDS: Final = "rounds"', "every place reads it here, and none stores it"),
    Excluded(
        "generator/arena/ladders/sums.py",
        '"partition": {"4h": _counted(sums.partition)}',
        "both sides of the one comparison that reads it have this name",
    ),
    Excluded("generator/compose/context.py", 'arena_address: str = ""', "the program always names one"),
    Excluded(
        "generator/compose/spells.py",
        "chance.percent is None or chance.low_percent is None or chance.high_percent is None",
        "None only of fewer cases than the line before lets through",
    ),
    Excluded(
        "generator/compose/liquidity_lite.py",
        "significant(book.depth_1pct_usd, 3) or 0.0",
        "None only of a depth that is not finite, and there is none",
    ),
    Excluded(
        "generator/compose/envelope.py",
        """UPDATED = "Wall time of the tick that made this answer, ISO 8601 UTC."
LIMITATIONS = "What is unknown or restricted in this answer, and why."
STATUS = "available: every input is fresh; degraded: some are stale or missing; unavailable: no asset can be read."
EDUCATIONAL = "Educational notice: what this answer is not."
MODE = "Where the market data come from: live, recorded or simulated."
TRUTH = "What a reader must not conclude from this answer."
HEADLINE = (
    "The news of the market in one sentence, the same in all free answers of a tick; a paid one says what it sold."
)
CHANGED = "Worded facts that changed since the tick published before; null on the first tick after a start."
""",
        DESCRIBES,
    ),
    Excluded(
        "generator/compose/ladder.py",
        """\
DAY_AHEAD: Final = "What the next 24 hours usually do, by hour of the day; null without a month of 5-minute bars."
PAIRS: Final = "How each two assets moved together over the kept month; empty without a month of 5-minute bars."
LAST_WEEK: Final = "Asset symbol to how its ranges of the last seven days held, by horizon; only where one was judged."
""",
        DESCRIBES,
    ),
    Excluded(
        "generator/arena/scores.py",
        "        return 0\n    most_frequent",
        "only forecasts with a base rate are scored: `Sums.ended` lets no other through",
    ),
    Excluded(
        "generator/arena/teacher.py",
        "if brain_alone > crowd_alone:",
        "where they are equal, the sentence was given three lines before",
    ),
    Excluded("generator/arena/published.py", "created_ms=0)", NOT_COMPARED),
    Excluded("generator/arena/published.py", "opens_ms=0,", NOT_COMPARED),
    Excluded("generator/arena/published.py", "end_ms=0,", NOT_COMPARED),
    Excluded("gateway/ledger/engine.py", "ADVISORY_KEY: Final = 0x656D69", POSTGRES),
    Excluded(
        "gateway/ledger/engine.py",
        """    shown, engine = postgres_engine(url)
    with _left_as_it_is(engine, shown):
        _migrate(engine)
    # The migration's connection has none of the limits that later ones get: it may have a large table to change.
    engine.dispose()
    return engine
""",
        POSTGRES,
    ),
    Excluded("gateway/ledger/engine.py", 'postgres = connection.dialect.name == "postgresql"', POSTGRES),
    Excluded("gateway/ledger/engine.py", 'f"SELECT pg_advisory_xact_lock({ADVISORY_KEY})"', POSTGRES),
    Excluded("gateway/ledger/engine.py", "CONNECT_S: Final = 3", POSTGRES),
    Excluded("gateway/ledger/store.py", "content = secrets.token_bytes(16 if self._postgres", POSTGRES),
    Excluded("gateway/ledger/store.py", 'exec_driver_sql("LOCK TABLE bodies IN EXCLUSIVE MODE")', POSTGRES),
    Excluded("gateway/ledger/store.py", '_COUNT_ROWS: Final = {"preserve_rowcount": True}', POSTGRES),
    Excluded("gateway/ledger/store.py", 'PROBE_TXID: Final = "PROBE"', NEVER_READ),
    Excluded(
        "gateway/ledger/store.py",
        """    state="probe",
    product="",
    path="",
    cache_control="",
    snapshot_id="",
    sha256="",
    price_atomic=0,
    payer="",
    network="",
    identifier=None,
    last_valid=0,
    intent_round=None,
    watched_round=None,
    owner="",
""",
        NEVER_READ,
    ),
    Excluded("gateway/ledger/view.py", "execution_options(postgresql_readonly=True)", POSTGRES),
    Excluded(
        "gateway/ledger/view.py",
        """        if self._engine.dialect.name == "postgresql":
            # Not as an option of the connection: the URL may have its own, and poolers refuse it.
            self._connection.exec_driver_sql(f"SET statement_timeout = {STATEMENT_MS}")
""",
        POSTGRES,
    ),
    Excluded("gateway/ledger/view.py", "STATEMENT_MS: Final = 30_000", POSTGRES),
    Excluded("gateway/ledger/view.py", "PAGE: Final = 1_000", FETCHED),
    Excluded("gateway/ledger/view.py", "sa.select(settled_old.c.txid).limit(1)", FETCHED),
    Excluded(
        "gateway/ledger/view.py",
        """        query = self._select().order_by(payments.c.created_at, payments.c.txid)
        with self._connection.execute(query, execution_options={"yield_per": PAGE})""",
        FETCHED,
    ),
    Excluded(
        "gateway/ledger/view.py",
        """        query = sa.select(settled_old).order_by(settled_old.c.settled_at, settled_old.c.txid)
        with self._connection.execute(query, execution_options={"yield_per": PAGE})""",
        FETCHED,
    ),
    Excluded("gateway/ledger/audit.py", "PAGE = 500", FETCHED),
    Excluded("gateway/ledger/audit.py", '{"yield_per": PAGE}', FETCHED),
    Excluded(
        "gateway/ledger/tables.py",
        """postgresql_where=payments.c.state == sa.literal_column("'intent'")""",
        POSTGRES,
    ),
    Excluded(
        "generator/record/memory/tables.py",
        'sa.Column("version_num", sa.String(32), primary_key=True)',
        "a wider column of Alembic's own table holds the same revision, and SQLite keeps no widths",
    ),
    Excluded(
        "generator/record/memory/database.py",
        "MAKING_LOCK: Final = 0x454D4901",
        "any number does that no other program on the server takes: both generators read it here",
    ),
    Excluded(
        "gateway/upstream/chain.py",
        """    FOUND = "found"
    ABSENT = "absent"
    UNKNOWN = "unknown"
    POOLED = "pooled"
    \"""It waits in a pool, which proves neither.\"""
    DROPPED = "dropped"
""",
        "words for who reads the code: presences are compared, and their texts are written nowhere",
    ),
    Excluded(
        "gateway/upstream/chain.py",
        """    return Presence.UNKNOWN


def _follows""",
        "of an indexer it only counts whether it has the payment, or answers 404: all else is treated alike",
    ),
    Excluded(
        "generator/release/release.py",
        'self._disk.folder(Path(f"{self._once}{path}").parent)',
        "only the folder of this path is used",
    ),
    Excluded(
        "gateway/ledger/engine.py",
        'engine.dialect.name == "sqlite" and has_no_inodes(Path(shown))',
        "only a file system without inodes shows it: tests/wire/test_space.py",
    ),
    Excluded(
        "gateway/payments/parse.py",
        "error.errors(include_url=False, include_context=False, include_input=False)",
        "only the place and the message of the first error are read",
    ),
    Excluded(
        "generator/release/values.py",
        'FIRST_GENERATION: Final = "000000000000"',
        "published by the bootstrap alone: tests/runtime",
    ),
    Excluded(
        "generator/release/release.py",
        'self._known = ""  # the pointer as it was last seen or moved by us',
        "`open` reads the pointer before anything asks for it",
    ),
    Excluded("generator/release/disk.py", "use_errno=True", "only a file system on which syncfs fails shows it"),
    Excluded(
        "gateway/ledger/damage.py",
        "unlink(missing_ok=True)",
        "for another process that takes the mark away between two lines, where no test can come",
    ),
    Excluded("generator/record/log/tiles.py", "height = 0\n", "heights are only compared with each other"),
    Excluded("gateway/ledger/record.py", "created_at: float = 0.0", "whoever makes a row gives its time"),
    Excluded(
        "gateway/payments/decide.py",
        """    PAID = "paid, or on its way to the chain"
    OPEN = "accepted here, and its outcome not known"
    UNKNOWN = "no one can say yet"
    UNPAID = "not paid"
""",
        "words for who reads the table: fates are compared, and their texts are written nowhere",
    ),
    Excluded(
        "gateway/payments/transfers.py",
        "functools.lru_cache(maxsize=4)(key_of)",
        "how many addresses are remembered: the key of one is the same each time",
    ),
    Excluded("gateway/payments/purchase.py", "Finding(presence.result(), None, indexed=False)", WITHOUT_A_ROUND),
    Excluded(
        "gateway/payments/recorded.py",
        "Finding(await self._chain.confirm(record.txid), None, indexed=False)",
        WITHOUT_A_ROUND,
    ),
    Excluded("gateway/payments/recorded.py", "Finding(Presence.ABSENT, None, indexed=False)", WITHOUT_A_ROUND),
    Excluded("gateway/payments/recorded.py", "Finding(Presence.UNKNOWN, None, indexed=False)", WITHOUT_A_ROUND),
    Excluded(
        "gateway/payments/recorded.py",
        "PEER_POLL_S: Final = 0.1",
        "how often another's row is read while a buyer waits: no outcome depends on it",
    ),
    Excluded(
        "gateway/payments/decide.py",
        """    DELIVER = "delivered"
    REFUSE = "refused"
    PENDING = "pending"
    GONE = "gone"
    WITHHOLD = "withheld"
    CHOOSE_BODY = "choose the body of an adopted payment"
    ASK_CHAIN = "ask the chain"
    KEEP_ASKING = "ask the chain until a refusal is certain"
    SETTLE = "ask the facilitator to settle, once the intent is this process's"
""",
        "words for who reads the table: actions are compared, and their texts are written nowhere",
    ),
)  # fmt: skip


def is_excluded(file: Path, source: str, site: Site) -> bool:
    """Return whether a place lies in what is never drawn; `file` is relative to the tree."""
    spans = (row.span(source) for row in EXCLUDED if row.file == file.as_posix())
    return any(start <= site.start and site.end <= end for start, end in spans)
