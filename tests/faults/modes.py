"""Every way in which the outside fails here, and the answers that a buyer must see meanwhile."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aiohttp import web

from tests.faults.behaviours import (
    BAD_GATEWAY,
    GARBAGE,
    SERVER_ERROR,
    after,
    answering_json,
    below,
    bomb,
    changed,
    compressed,
    delayed,
    first,
    followed,
    half,
    lagging,
    never,
    reset,
    text,
    too_late,
    wants_agent,
)
from tests.faults.proxy import Asked, Behaviour, honest

EMPTY = answering_json({})
SIMULATION = answering_json(
    {"success": False, "errorReason": "transaction_simulation_failed", "transaction": "", "network": ""}
)
LATE_REASON = answering_json({"success": False, "errorReason": "transaction_failed", "transaction": "", "network": ""})
PENDING = answering_json({"success": False, "errorReason": "settlement_pending", "transaction": "", "network": ""})
SUCCESS = {"success": True, "transaction": "B" * 52, "network": "", "payer": ""}
LIE = answering_json(SUCCESS)
NAMED = answering_json({"success": False, "errorReason": "invalid_payload", "transaction": "A" * 52, "network": ""})
INVALID = answering_json({"isValid": False, "invalidReason": "insufficient_funds"})
HASTY = {"settle_timeout_seconds": 3.0}
CHAIN_ERROR = {"algod": SERVER_ERROR, "indexer": BAD_GATEWAY}
NOT_FOUND = answering_json({"message": "not found"}, 404)
ABSENT = {"algod": below("/pending/", NOT_FOUND), "indexer": below("/transactions/", NOT_FOUND)}
STOPPED = below(
    "/status", answering_json({"last-round": 1, "time-since-last-round": 3_600 * 10**9}), below("/pending/", NOT_FOUND)
)
A_BLOCK_BEHIND = {"algod": lagging(1), "indexer": below("/transactions/", NOT_FOUND)}
EVERYWHERE = ("supported", "verify", "settle", "algod", "indexer")
EVERYTHING_RESET = dict.fromkeys(EVERYWHERE, reset)
A_STRANGERS = {
    "settle": followed(SERVER_ERROR, SUCCESS),
    "algod": followed(honest, {"last-round": 1, "confirmed-round": 1, "pool-error": ""}),
    "indexer": followed(honest, {"round": 1, "transaction": {"confirmed-round": 1}}),
}


@dataclass(frozen=True)
class Mode:
    """One way to fail.

    Args:
        name: as the table shows it.
        faults: what misbehaves, by `supported`, `verify`, `settle`, `algod`, `indexer`.
        answers: statuses that a buyer sees: while it lasts, and, after the bar, when it is over; a second bar when the
            payment was refused and another was signed, or when the operator adopted it.
        under: how often the payment is presented while it lasts.
        late: the facilitator settles only after these, while the fault still lasts; the payment is presented again.
        expires: the payment's last round passes while the fault still lasts; the payment is presented again.
        drained: the buyer's money is gone when settle is asked, and back when it is over.
        adopted: when it is over and the payment is 409, the operator adopts it, and it is presented twice more.
        hoards: in the end the facilitator broadcasts whatever it was handed for settling.
        rule: which rule of docs/explain/payments.md decides.
        limits: for the facilitator's answers while the fault lasts, in seconds, by setting.
        dead_address: facilitator and nodes have another address, listed first, that does not answer.
    """

    name: str
    faults: Mapping[str, Behaviour]
    answers: str
    under: int = 2
    late: bool = False
    expires: bool = False
    drained: bool = False
    adopted: bool = False
    hoards: bool = True
    rule: str = "unknown"
    limits: Mapping[str, float] = field(default_factory=dict)
    dead_address: bool = False


def settles_then(name: str, answer: Behaviour, answers: str = "200 200 | 200 200") -> Mode:
    return Mode(f"settles, then {name}", {"settle": after(answer)}, answers)


SETTLES_THEN = (
    Mode("settles, then never answers", {"settle": after(never)}, "200 200 | 200 200", limits=HASTY),
    settles_then("answers 500", SERVER_ERROR),
    settles_then("answers 502 in HTML", BAD_GATEWAY),
    settles_then("answers 429", answering_json({"error": "slow down"}, 429)),
    settles_then("answers 404 in HTML", text("<html>no such path</html>", 404)),
    settles_then("redirects", text("", 307, Location="http://127.0.0.1:9/settle")),
    settles_then("resets the connection", reset),
    settles_then("breaks off in the middle of its answer", half),
    settles_then("answers garbage with 200", GARBAGE),
    settles_then("answers {}", EMPTY),
    settles_then("answers null", answering_json(None)),
    settles_then("answers []", answering_json([])),
    settles_then('answers success "true"', answering_json({"success": "true", "transaction": "T"})),
    settles_then("answers success 1", answering_json({"success": 1})),
    settles_then("answers success true with 500", answering_json({"success": True}, 500)),
    settles_then("answers a megabyte", text("x" * 1_000_000)),
    settles_then("answers a bomb in gzip", bomb),
    settles_then("answers deep nesting", text("[" * 30_000, 200, "application/json")),
    settles_then("answers success false: simulation failed", SIMULATION),
    settles_then("answers success false: transaction failed", LATE_REASON),
    settles_then("answers success false and a txid", NAMED),
    settles_then("answers settlement_pending", PENDING),
    settles_then(
        "answers success false with 402", answering_json({"success": False, "errorReason": "insufficient_funds"}, 402)
    ),
)
WITHOUT_SETTLING = (
    Mode(
        'answers success "true", settles nothing', {"settle": answering_json({"success": "true"})}, "503 503 | 200 200"
    ),
    Mode("answers success 1, settles nothing", {"settle": answering_json({"success": 1})}, "503 503 | 200 200"),
    Mode(
        "answers success true with 500, settles nothing", {"settle": answering_json(SUCCESS, 500)}, "503 503 | 200 200"
    ),
    Mode("answers 500, then simulation failed", {"settle": first(SERVER_ERROR, SIMULATION)}, "503 503 | 200 200"),
    Mode(
        "answers 500, then settles and says simulation failed",
        {"settle": first(SERVER_ERROR, after(SIMULATION))},
        "503 200 | 200 200",
    ),
    Mode("answers 500, settles nothing", {"settle": SERVER_ERROR}, "503 503 | 200 200"),
    Mode("answers 500, settles nothing, strangers' answers behind all", A_STRANGERS, "503 503 | 200 200"),
    Mode("answers {}, settles nothing", {"settle": EMPTY}, "503 503 | 200 200"),
    Mode("never answers, settles nothing", {"settle": never}, "503 503 | 200 200", limits=HASTY),
    Mode(
        "refuses: the money is gone since verify",
        {},
        "402 402 | 402 402 | 200 200",
        drained=True,
        hoards=False,
        rule="refusal",
    ),
    Mode(
        "settles nothing until the payment expires",
        {"settle": SERVER_ERROR},
        "503 503 402 | 402 402 | 200 200",
        expires=True,
    ),
    Mode(
        "says pending until the payment expires", {"settle": PENDING}, "503 503 402 | 402 402 | 200 200", expires=True
    ),
)
LATE = (
    Mode("late landing: answers 500, lands later", {"settle": SERVER_ERROR}, "503 503 200 | 200 200", late=True),
    Mode(
        "late landing: never answers, lands later",
        {"settle": never},
        "503 503 200 | 200 200",
        late=True,
        limits=HASTY,
    ),
    Mode("late landing: settlement_pending, lands later", {"settle": PENDING}, "503 503 200 | 200 200", late=True),
    Mode("late landing: transaction failed, lands later", {"settle": LATE_REASON}, "503 503 200 | 200 200", late=True),
    Mode("late landing: resets, lands later", {"settle": reset}, "503 503 200 | 200 200", late=True),
    Mode("slow: settles within the time limit", {"settle": delayed(0.3, honest)}, "200 200 | 200 200"),
    Mode("slow: settles past the time limit", {"settle": too_late(honest)}, "503 503 | 200 200", limits=HASTY),
)
VERIFY = tuple(
    Mode(
        f"verify down: {name}",
        {"verify": answer},
        "503 503 | 200 200",
        rule="verdict",
        limits=HASTY if answer is never else {},
    )
    for name, answer in {
        "500": SERVER_ERROR,
        "502 in HTML": BAD_GATEWAY,
        "garbage with 200": GARBAGE,
        "{}": EMPTY,
        'isValid "true"': answering_json({"isValid": "true"}),
        "reset": reset,
        "never answers": never,
    }.items()
)
DOWN = (
    Mode("all down from the start", EVERYTHING_RESET, "503 503 | 200 200", rule="verdict"),
    Mode("settles, then all down", {**EVERYTHING_RESET, "settle": after(reset), "verify": honest}, "503 503 | 200 200"),
    Mode(
        "all down but settle and verify", {**EVERYTHING_RESET, "settle": honest, "verify": honest}, "200 200 | 200 200"
    ),
    Mode("lookup down, facilitator honest", CHAIN_ERROR, "200 200 | 200 200"),
    Mode("settles, then 500, lookup down", {"settle": after(SERVER_ERROR), **CHAIN_ERROR}, "503 503 | 200 200"),
    Mode(
        "settles, then reset, lookup garbage",
        {"settle": after(reset), "algod": GARBAGE, "indexer": EMPTY},
        "503 503 | 200 200",
    ),
    Mode("settles, then 500, algod down", {"settle": after(SERVER_ERROR), "algod": reset}, "200 200 | 200 200"),
    Mode("settles, then 500, indexer down", {"settle": after(SERVER_ERROR), "indexer": reset}, "200 200 | 200 200"),
    Mode("settles, then fails, lookup down", {"settle": after(SIMULATION), **CHAIN_ERROR}, "503 503 | 200 200"),
    Mode(
        "settles, then 500, lookup down past the last round",
        {"settle": after(SERVER_ERROR), **CHAIN_ERROR},
        "503 503 503 | 200 200",
        expires=True,
    ),
    Mode(
        "settles, then 500, lookup says 404 to everything",
        {"settle": after(SERVER_ERROR), "algod": NOT_FOUND, "indexer": NOT_FOUND},
        "503 503 | 200 200",
    ),
    Mode("settles, then 500, node and indexer behind", {"settle": after(SERVER_ERROR), **ABSENT}, "503 503 | 200 200"),
    Mode("settles, then reset, node and indexer behind", {"settle": after(reset), **ABSENT}, "503 503 | 200 200"),
    Mode("settles, then pending, node and indexer behind", {"settle": after(PENDING), **ABSENT}, "503 503 | 200 200"),
    Mode("settles, node and indexer behind", ABSENT, "503 503 | 200 200", rule="success"),
    Mode("settles, node and indexer a block behind", A_BLOCK_BEHIND, "200 200 | 200 200", rule="success"),
    Mode(
        "settles, node stopped an hour ago, indexer behind",
        {**ABSENT, "algod": STOPPED},
        "200 200 | 200 200",
        rule="success",
    ),
    Mode(
        "settles, says simulation failed, node and indexer a block behind",
        {"settle": after(SIMULATION), **A_BLOCK_BEHIND},
        "200 200 | 200 200",
        rule="refusal",
    ),
    Mode(
        "settles, then 500, lookup never answers",
        {"settle": after(SERVER_ERROR), "algod": below("/pending/", never), "indexer": reset},
        "503 | 200 200",
        under=1,
    ),
)
LYING = (
    Mode("lies: success, nothing transferred", {"settle": LIE}, "503 503 | 200 200", rule="success"),
    Mode(
        "lies: success, nothing transferred until the payment expires",
        {"settle": LIE},
        "503 503 402 | 402 402 | 200 200",
        expires=True,
        rule="success",
    ),
)
TRUE_BUT_STRANGE = (
    Mode("settles, names another txid", {"settle": changed(transaction="C" * 52)}, "200 200 | 200 200", rule="success"),
    Mode("settles, names no txid", {"settle": changed(transaction="")}, "200 200 | 200 200", rule="success"),
    Mode(
        "settles, names another network", {"settle": changed(network="eip155:1")}, "200 200 | 200 200", rule="success"
    ),
    Mode("settles, names another payer", {"settle": changed(payer="another")}, "200 200 | 200 200", rule="success"),
)
HONEST = (
    Mode("honest", {}, "200 200 | 200 200", rule="success"),
    Mode(
        "honest, to whoever sends a User-Agent",
        dict.fromkeys(EVERYWHERE, wants_agent),
        "200 200 | 200 200",
        rule="success",
    ),
    Mode(
        "honest, compressed wherever that is allowed",
        dict.fromkeys(EVERYWHERE, compressed),
        "200 200 | 200 200",
        rule="success",
    ),
    Mode("honest, the first address dead", {}, "200 200 | 200 200", rule="success", dead_address=True),
)


async def _settle_in_verify(asked: Asked) -> web.StreamResponse:
    await asked.hand("settle")
    return await asked.pass_on()


async def _settle_in_verify_and_break(asked: Asked) -> web.StreamResponse:
    await asked.hand("settle")
    return await reset(asked)


async def _refuse_and_hoard(asked: Asked) -> web.StreamResponse:
    asked.hoard()
    return await INVALID(asked)


UNACCEPTED = (
    Mode("finds it invalid, lookup down", {"verify": INVALID, **CHAIN_ERROR}, "503 503 | 200 200", rule="unaccepted"),
    Mode(
        "broadcasts in /verify, then finds it invalid",
        {"verify": _settle_in_verify},
        "409 409 | 409 409 | 200 200",
        adopted=True,
        rule="unaccepted",
    ),
    Mode(
        "broadcasts in /verify and breaks off",
        {"verify": _settle_in_verify_and_break},
        "503 503 | 409 409 | 200 200",
        adopted=True,
        rule="unaccepted",
    ),
    Mode(
        "broadcasts in /verify, then finds it invalid, lookup down",
        {"verify": _settle_in_verify, **CHAIN_ERROR},
        "503 503 | 409 409 | 200 200",
        adopted=True,
        rule="unaccepted",
    ),
)
MODES = (
    *HONEST,
    *SETTLES_THEN,
    *WITHOUT_SETTLING,
    *LATE,
    *VERIFY,
    *DOWN,
    *LYING,
    *TRUE_BUT_STRANGE,
    *UNACCEPTED,
)


@dataclass(frozen=True)
class Lie:
    """One thing that no rule can guard against, and what it costs: shown, so that no one believes otherwise.

    Args:
        mode: what happens.
        counts: double transfers, unpaid deliveries, paid and never delivered, challenges after money moved.
        why: what the rules say.
    """

    mode: Mode
    counts: tuple[int, int, int, int]
    why: str


LIES = (
    Lie(
        Mode(
            "lies: success, nothing transferred, while our node is down",
            {"settle": LIE, **CHAIN_ERROR},
            "200 200 | 200 200",
            hoards=False,
            rule="success",
        ),
        (0, 1, 0, 0),
        "a success is settled where the chain cannot say otherwise; counted at the recheck",
    ),
    Lie(
        Mode(
            "settles, says simulation failed, node and indexer never have it",
            {"settle": after(SIMULATION), **ABSENT},
            "402 402 | 200 200",
            rule="refusal",
        ),
        (0, 0, 0, 2),
        "the 404s of a node that claims to follow count; delivered when presented again",
    ),
    Lie(
        Mode(
            "refuses before any broadcast, broadcasts all the same",
            {"settle": SIMULATION},
            "402 402 | 402 402 | 200 200",
            rule="refusal",
        ),
        (1, 0, 0, 4),
        "it is believed, as the chain says 404; the refused payment is delivered too when it is presented again",
    ),
    Lie(
        Mode(
            "finds it invalid, broadcasts it more than 2 s later",
            {"verify": _refuse_and_hoard},
            "402 402 409 | 409 409 | 200 200",
            late=True,
            adopted=True,
            rule="unaccepted",
        ),
        (0, 0, 0, 2),
        "neither node nor pool had it 2 s after the verdict, and a payer without money needs that answer; "
        "later it is 409",
    ),
)
