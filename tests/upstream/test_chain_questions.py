"""What the chain's client asks, word by word, and what it makes of each answer of algod and of the indexer."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import structlog.testing

from gateway.http.metrics import Metrics
from gateway.settings import GatewaySettings
from gateway.upstream.chain import Chain, Finding, Presence
from gateway.wire.networks import DEVNET, TESTNET
from tests.support.clock import ManualClock
from tests.support.gateway_app import in_loop
from tests.support.indexers import DictatedHttp

ALGOD, INDEXER = "http://algod", "http://indexer"
NODES = ("algod", "indexer")
TXID = "T" * 52
STATUS, PENDING = f"{ALGOD}/v2/status", f"{ALGOD}/v2/transactions/pending/{TXID}"
PARAMS, HEALTH, INDEXED = f"{ALGOD}/v2/transactions/params", f"{INDEXER}/health", f"{INDEXER}/v2/transactions/{TXID}"
NOTHING = (404, {"message": "not found"})
AHEAD = 31 * 10**9  # nanoseconds since the last block


class Nodes(DictatedHttp):
    """Algod and indexer by a table: URL -> status and JSON; what is not in it does not answer."""

    def __init__(self, answers: Mapping[str, tuple[int, Any]]) -> None:
        super().__init__(lambda url: self.answers.get(url, ConnectionRefusedError("no node")))
        self.answers = {PARAMS: (200, {"genesis-hash": DEVNET.genesis_hash}), **answers}

    def calls(self) -> list[tuple[str, str, float]]:
        return [(question.method, question.url, question.timeout_s) for question in self.asked]

    def headers(self, url: str) -> Mapping[str, str]:
        """Return those of the only question to a URL."""
        [headers] = [question.headers for question in self.asked if question.url == url]
        return headers

    def times(self, url: str) -> int:
        return sum(question.url == url for question in self.asked)


def chain_over(
    answers: Mapping[str, tuple[int, Any]], *, indexer: bool = True, **settings: Any
) -> tuple[Chain, Nodes, ManualClock]:
    nodes, clock = Nodes(answers), ManualClock()
    checked = GatewaySettings(algod_url=ALGOD, indexer_url=INDEXER if indexer else None, **settings)
    return Chain(checked, nodes, clock, Metrics()), nodes, clock


def algod(round_: Any = 5_000, pending: tuple[int, Any] = NOTHING, **status: Any) -> dict[str, tuple[int, Any]]:
    return {STATUS: (200, {"last-round": round_, **status}), PENDING: pending}


def both(
    round_: Any = 5_000, pending: tuple[int, Any] = NOTHING, behind: Any = 4_990, indexed: tuple[int, Any] = NOTHING
) -> dict[str, tuple[int, Any]]:
    return {**algod(round_, pending), HEALTH: (200, {"round": behind}), INDEXED: indexed}


FOUND_THERE = (200, {"confirmed-round": 4_999, "pool-error": ""})
POOLED_THERE = (200, {"confirmed-round": 0, "pool-error": ""})
DROPPED_THERE = (200, {"confirmed-round": 0, "pool-error": "fee too low"})
INDEXED_THERE = (200, {"transaction": {"confirmed-round": 4_999}})
DENIED = (429, {"message": "slow down"})


@pytest.mark.parametrize(
    ("pending", "presence"),
    [
        (NOTHING, Presence.ABSENT),
        (FOUND_THERE, Presence.FOUND),
        ((200, {"confirmed-round": 1, "pool-error": ""}), Presence.FOUND),
        (POOLED_THERE, Presence.POOLED),
        ((200, {"pool-error": ""}), Presence.POOLED),
        (DROPPED_THERE, Presence.DROPPED),
        ((200, {"confirmed-round": True, "pool-error": ""}), Presence.POOLED),
        ((200, {"confirmed-round": "5"}), Presence.UNKNOWN),
        ((200, {}), Presence.UNKNOWN),
        ((200, []), Presence.UNKNOWN),
        ((201, {"confirmed-round": 4_999}), Presence.UNKNOWN),
        ((403, {}), Presence.UNKNOWN),
        ((500, {}), Presence.UNKNOWN),
    ],
)
@in_loop
async def test_what_algod_says_of_a_transaction_alone(pending: tuple[int, Any], presence: Presence) -> None:
    chain, _, _ = chain_over(algod(pending=pending))

    assert await chain.pending_status(TXID) is presence


@in_loop
async def test_of_an_algod_that_does_not_answer_nothing_is_known() -> None:
    chain, _, _ = chain_over({})

    assert await chain.pending_status(TXID) is Presence.UNKNOWN


@in_loop
async def test_a_confirmation_asks_over_a_kept_connection_first_and_then_over_a_fresh_one() -> None:
    chain, nodes, _ = chain_over(algod(pending=FOUND_THERE), algod_token="for-algod")

    presence = await chain.confirm(TXID)

    token = {"X-Algo-API-Token": "for-algod"}
    assert presence is Presence.FOUND
    assert nodes.asked == [
        ("GET", f"{PENDING}?format=msgpack", 1.0, token, True),
        ("GET", PENDING, 1.0, token, False),
    ]


@in_loop
async def test_a_streak_of_failures_is_logged_once_and_once_more_when_the_start_is_over() -> None:
    chain, nodes, clock = chain_over({})
    streaks = []

    for step_s, answers in ((0, {}), (3_600, {}), (1, algod()), (1, {})):
        clock.step(step_s)
        nodes.answers = answers
        with structlog.testing.capture_logs() as logs:
            for _ in range(3):
                await chain.pending_status(TXID)
        streaks.append([(row["log_level"], row["event"]) for row in logs])

    failed = "a call to the chain failed"
    assert streaks == [[("info", failed)], [("warning", failed)], [], [("warning", failed)]]


@pytest.mark.parametrize(
    ("answers", "finding"),
    [
        (both(), Finding(Presence.ABSENT, 4_990, indexed=True)),
        (both(behind=6_000), Finding(Presence.ABSENT, 5_000, indexed=True)),
        (both(behind=None), Finding(Presence.ABSENT, 5_000, indexed=True)),
        (both(behind="4990"), Finding(Presence.ABSENT, 5_000, indexed=True)),
        (both(pending=FOUND_THERE), Finding(Presence.FOUND, 4_990, indexed=False)),
        (both(indexed=INDEXED_THERE), Finding(Presence.FOUND, 4_990, indexed=True)),
        (both(pending=POOLED_THERE), Finding(Presence.UNKNOWN, 4_990, indexed=False)),
        (both(pending=DROPPED_THERE), Finding(Presence.UNKNOWN, 4_990, indexed=False)),
        (both(pending=DENIED), Finding(Presence.UNKNOWN, 4_990, indexed=False)),
        (both(indexed=DENIED), Finding(Presence.UNKNOWN, 4_990, indexed=False)),
        (both(indexed=(200, {"transaction": {}})), Finding(Presence.UNKNOWN, 4_990, indexed=False)),
        (both(indexed=(200, {"transaction": []})), Finding(Presence.UNKNOWN, 4_990, indexed=False)),
        (both(indexed=(200, {"transaction": {"confirmed-round": 0}})), Finding(Presence.UNKNOWN, 4_990, indexed=False)),
        ({**both(), HEALTH: NOTHING}, Finding(Presence.ABSENT, None, indexed=True)),
        ({**both(), STATUS: (500, {})}, Finding(Presence.ABSENT, None, indexed=True)),
        ({**both(), STATUS: (201, {"last-round": 5_000})}, Finding(Presence.ABSENT, None, indexed=True)),
        ({}, Finding(Presence.UNKNOWN, None, indexed=False)),
        (both(0), Finding(Presence.ABSENT, 0, indexed=True)),
        (both(2**62 - 1, behind=2**62), Finding(Presence.ABSENT, 2**62 - 1, indexed=True)),
    ],
)
@in_loop
async def test_a_lookup_joins_what_algod_and_the_indexer_say(
    answers: dict[str, tuple[int, Any]], finding: Finding
) -> None:
    chain, _, _ = chain_over(answers)

    assert await chain.lookup(TXID) == finding


@pytest.mark.parametrize(
    ("pending", "presence"),
    [(NOTHING, Presence.ABSENT), (FOUND_THERE, Presence.FOUND), (POOLED_THERE, Presence.UNKNOWN)],
)
@in_loop
async def test_without_an_indexer_no_lookup_is_indexed(pending: tuple[int, Any], presence: Presence) -> None:
    chain, nodes, _ = chain_over(algod(pending=pending), indexer=False)

    assert await chain.lookup(TXID) == Finding(presence, 5_000, indexed=False)
    assert not any(url.startswith(INDEXER) for _, url, _ in nodes.calls())


@pytest.mark.parametrize(
    ("said", "follows"),
    [
        ({}, True),
        ({"time-since-last-round": 30 * 10**9}, True),
        ({"time-since-last-round": 30 * 10**9 + 1}, False),
        ({"catchup-time": 0}, True),
        ({"catchup-time": 1}, False),
        ({"catchup-time": 1, "time-since-last-round": 1}, False),
        ({"time-since-last-round": "long"}, True),
    ],
)
@in_loop
async def test_a_node_that_stopped_or_catches_up_does_not_follow(said: dict[str, Any], follows: bool) -> None:
    chain, _, _ = chain_over(algod(**said))

    finding = await chain.lookup(TXID)

    assert finding.following is follows
    assert not finding.held


@pytest.mark.parametrize(
    ("answers", "confirmed"),
    [
        (both(), True),
        (both(indexed=DENIED), True),
        (both(indexed=INDEXED_THERE), False),
        ({**both(), STATUS: (500, {})}, False),
        ({**both(), STATUS: (200, {"last-round": 5_000, "time-since-last-round": AHEAD})}, False),
    ],
)
@in_loop
async def test_repeated_404s_count_where_algod_follows_and_no_indexer_knows_better(
    answers: dict[str, tuple[int, Any]], confirmed: bool
) -> None:
    chain, _, _ = chain_over(answers)

    assert await chain.confirms_absence(TXID) is confirmed


@pytest.mark.parametrize(("last_valid", "indexer_asked"), [(5_001, 0), (5_000, 0), (4_999, 1)])
@in_loop
async def test_a_trace_asks_the_indexer_only_past_the_last_valid_round(last_valid: int, indexer_asked: int) -> None:
    chain, nodes, _ = chain_over(both(behind=5_000))

    finding = await chain.trace(TXID, last_valid)

    assert finding == Finding(Presence.ABSENT, 5_000, indexed=bool(indexer_asked))
    assert nodes.times(INDEXED) == indexer_asked


@pytest.mark.parametrize("pending", [FOUND_THERE, POOLED_THERE, DROPPED_THERE, DENIED])
@in_loop
async def test_a_trace_of_what_algod_knows_asks_no_further(pending: tuple[int, Any]) -> None:
    chain, nodes, _ = chain_over(both(pending=pending))

    finding = await chain.trace(TXID, 1)

    assert (finding.round, finding.indexed, finding.presence is not Presence.ABSENT) == (5_000, False, True)
    assert nodes.times(INDEXED) == 0


@in_loop
async def test_a_round_is_asked_for_again_after_two_seconds_and_known_for_a_minute() -> None:
    chain, nodes, clock = chain_over(algod())
    assert (chain.round_now(), chain.last_round) == (None, None)

    counts = []
    for step_s in (0, 1.9, 0.1, 2.0):
        clock.step(step_s)
        assert await chain.current_round() == 5_000
        counts.append(nodes.times(STATUS))
    clock.step(59.9)
    known = chain.round_now()
    clock.step(0.1)

    assert counts == [1, 1, 2, 3]
    assert (known, chain.round_now(), chain.last_round) == (5_000, None, 5_000)


@in_loop
async def test_every_question_is_a_get_with_its_own_time() -> None:
    chain, nodes, _ = chain_over(both())

    await chain.lookup(TXID)
    patient = nodes.calls()
    nodes.asked.clear()
    await chain.pending_status(TXID)

    urls = [PARAMS, STATUS, HEALTH, PENDING, INDEXED]
    assert patient == [("GET", url, 4.0) for url in urls]
    assert nodes.calls() == [("GET", PENDING, 1.0)]


@in_loop
async def test_each_node_gets_its_own_token_and_no_other() -> None:
    chain, nodes, _ = chain_over(both(), algod_token="for-algod", indexer_token="for-indexer")

    await chain.lookup(TXID)

    assert nodes.headers(STATUS) == {"X-Algo-API-Token": "for-algod"}
    assert nodes.headers(INDEXED) == {"X-Indexer-API-Token": "for-indexer"}


@in_loop
async def test_a_signed_transaction_is_posted_as_it_is() -> None:
    posted = f"{ALGOD}/v2/transactions"
    chain, nodes, _ = chain_over({posted: (200, {"txId": TXID})}, algod_token="for-algod")

    answer = await chain.algod("/v2/transactions", 4.0, b"signed")

    assert answer is not None
    assert answer.content == {"txId": TXID}
    assert nodes.calls() == [("POST", posted, 4.0)]
    assert nodes.headers(posted) == {"X-Algo-API-Token": "for-algod", "Content-Type": "application/x-binary"}


FAULTS: list[Callable[[Nodes], None]] = [
    lambda nodes: nodes.answers.pop(STATUS) and None,
    lambda nodes: nodes.answers.update({STATUS: (500, {})}),
    lambda nodes: nodes.answers.update({STATUS: (401, {})}),
    lambda nodes: nodes.answers.update({STATUS: (403, {})}),
    lambda nodes: nodes.answers.update({STATUS: (429, {})}),
]


@pytest.mark.parametrize("fails", FAULTS)
@in_loop
async def test_an_outage_lasts_from_the_first_failure_to_the_next_answer(fails: Callable[[Nodes], None]) -> None:
    chain, nodes, clock = chain_over(algod(), indexer=False)
    await chain.current_round()
    fails(nodes)
    clock.step(10)
    with structlog.testing.capture_logs() as logs:
        for _ in range(3):
            assert await chain.current_round() is None
            clock.step(10)

    failing_s = chain.failing_s()
    nodes.answers.update(algod())
    healed = await chain.current_round()

    assert (failing_s, healed, chain.failing_s()) == (30, 5_000, 0)
    assert [row["log_level"] for row in logs] == ["warning"]


@in_loop
async def test_the_outage_of_either_node_counts() -> None:
    chain, _, clock = chain_over(algod())
    await chain.lookup(TXID)
    clock.step(7)

    assert chain.failing_s() == 7


@in_loop
async def test_a_404_is_an_answer_and_no_outage() -> None:
    chain, _, clock = chain_over(algod())
    await chain.pending_status(TXID)
    clock.step(7)

    assert chain.failing_s() == 0


@in_loop
async def test_the_network_is_asked_for_each_minute_until_it_is_ours() -> None:
    chain, nodes, clock = chain_over({**algod(), PARAMS: (200, {"genesis-hash": TESTNET.genesis_hash})})
    assert chain.fault() is None

    with structlog.testing.capture_logs() as logs:
        for step_s in (0, 59.9, 0.1):
            clock.step(step_s)
            assert await chain.current_round() is None
    named, asked = chain.fault(), nodes.times(PARAMS)
    nodes.answers[PARAMS] = (200, {"genesis-hash": DEVNET.genesis_hash})
    clock.step(60)
    healed = await chain.current_round()
    clock.step(600)
    await chain.current_round()

    assert named is not None
    assert "another network" in named
    assert (asked, healed, chain.fault(), nodes.times(PARAMS)) == (2, 5_000, None, 3)
    assert len(logs) == 1


@pytest.mark.parametrize("params", [(404, {}), (200, {}), (200, {"genesis-hash": 7})])
@in_loop
async def test_a_node_that_does_not_name_its_network_is_believed(params: tuple[int, Any]) -> None:
    chain, _, _ = chain_over({**algod(), PARAMS: params})

    assert await chain.current_round() == 5_000
    assert chain.fault() is None


@pytest.mark.parametrize(
    ("finding", "confirms"),
    [
        (Finding(Presence.ABSENT, 102, indexed=False), True),
        (Finding(Presence.ABSENT, 101, indexed=False), False),
        (Finding(Presence.ABSENT, None, indexed=False), False),
        (Finding(Presence.ABSENT, 101, indexed=False, held=True), True),
        (Finding(Presence.ABSENT, 102, indexed=False, following=False), False),
        (Finding(Presence.ABSENT, 101, indexed=False, following=False, held=True), False),
        (Finding(Presence.POOLED, 102, indexed=False, held=True), False),
    ],
)
def test_a_refusal_is_certain_two_rounds_later_or_where_its_absence_was_held(finding: Finding, confirms: bool) -> None:
    assert finding.confirms_refusal(100) is confirms


@in_loop
async def test_a_node_of_another_network_proves_nothing_and_follows_nothing() -> None:
    chain, _, _ = chain_over({**both(), PARAMS: (200, {"genesis-hash": TESTNET.genesis_hash})})

    assert await chain.lookup(TXID) == Finding(Presence.ABSENT, None, indexed=True, following=False)
    assert not await chain.confirms_absence(TXID)


@in_loop
async def test_a_call_without_a_readable_answer_is_counted_for_the_node_that_was_asked() -> None:
    metrics = Metrics()
    settings = GatewaySettings(algod_url=ALGOD, indexer_url=INDEXER)
    chain = Chain(settings, Nodes({**algod(), INDEXED: NOTHING}), ManualClock(), metrics)

    await chain.lookup(TXID)

    failed = {name: metrics.registry.get_sample_value("emi_chain_failures_total", {"node": name}) for name in NODES}
    assert failed == {"algod": 0, "indexer": 1}
