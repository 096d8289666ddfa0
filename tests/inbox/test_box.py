"""The ballot box: sources are read together, acknowledged when counted, and read again when the tick failed."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from structlog.testing import capture_logs

from generator.arena.ballots import BallotFile, Refusal
from generator.record.inbox.box import BallotBox
from generator.record.inbox.folder import Inbox
from generator.record.memory.store import Memory
from generator.runtime.metrics import GeneratorMetrics
from tests.support.arena_inputs import HOUR, NOON, Vote, inputs_at, play_tick
from tests.support.databases import refused_ballots, url_in
from tests.support.gateway_app import in_loop

NEXT = "BTC-20261120-130000"


class FakeSource:
    def __init__(self, files: Sequence[BallotFile]) -> None:
        self.files = tuple(files)
        self.calls: list[str] = []
        self.lock_ms: int | None = None

    async def receive(self, lock_ms: int | None) -> tuple[BallotFile, ...]:
        self.lock_ms = lock_ms
        return self.files

    def acknowledge(self) -> None:
        self.calls.append("acknowledge")

    def requeue(self) -> None:
        self.calls.append("requeue")

    def quarantine(self, files: Sequence[BallotFile]) -> None:
        self.calls.append("quarantine")


@in_loop
async def test_every_source_is_read_and_acknowledged() -> None:
    one, two = FakeSource([Vote(NEXT).file()]), FakeSource([Vote(NEXT, by=1).file(), Vote(NEXT, by=2).file()])
    box = BallotBox([one, two])

    files = await box.collect(NOON)
    box.acknowledge({})

    assert len(files) == 3
    assert (one.calls, two.calls) == (["acknowledge"], ["acknowledge"])
    assert one.lock_ms == two.lock_ms == NOON


@in_loop
async def test_after_a_tick_that_failed_nothing_is_acknowledged() -> None:
    source = FakeSource([Vote(NEXT).file()])
    box = BallotBox([source])
    await box.collect(None)
    box.requeue()

    assert source.calls == ["requeue"]


def test_the_same_ballot_by_both_ways_counts_once_also_after_a_restart(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    play_tick(memory, inputs_at(NOON))
    dropped = Vote(NEXT, at_ms=NOON + 1_000).file()
    on_chain = replace(dropped, name="txid", confirmed=True)

    play_tick(memory, replace(inputs_at(NOON + 60_000), ballots=(dropped, on_chain)))
    play_tick(memory, replace(inputs_at(NOON + 120_000), ballots=(on_chain,)))
    play_tick(memory, inputs_at(NOON + HOUR))

    assert memory.view(NOON + HOUR).live_tally.total == 1
    assert refused_ballots(memory) == {}
    memory.close()


def test_what_a_restarted_reader_of_the_chain_reads_again_is_refused_once_at_most(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    play_tick(memory, inputs_at(NOON))
    counted = replace(Vote(NEXT, at_ms=NOON + 1_000).file(), name="counted", confirmed=True)
    late = replace(Vote(NEXT, by=1, at_ms=NOON + HOUR).file(), name="late", confirmed=True)
    namesake = replace(late, data=b"x", confirmed=False)  # a file of the inbox with the name of one on chain
    play_tick(memory, replace(inputs_at(NOON + 60_000), ballots=(counted,)))
    for now in (NOON + HOUR, NOON + HOUR + 60_000, NOON + 2 * HOUR, NOON + 3 * HOUR):
        play_tick(
            memory,
            replace(inputs_at(now), ballots=(counted, late, namesake) if now == NOON + HOUR else (counted, late)),
        )

    assert refused_ballots(memory) == {Refusal.CLOSED.value: 1, Refusal.NOT_BASE64.value: 1}
    assert memory.view(NOON).ballots_counted == 1
    memory.close()


@in_loop
async def test_refusals_are_logged_in_one_line_and_counted_by_reason_in_the_metrics(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"garbage{number}").write_bytes(b"?" if number % 5 else b"A" * 5_000)
    memory = Memory.open(url_in(tmp_path / "state"))
    box = BallotBox([Inbox(tmp_path)])
    metrics = GeneratorMetrics()
    metrics.ballots_refused.counts = lambda: box.refused

    with capture_logs() as lines:
        for now in (NOON, NOON + 60_000):
            view = play_tick(memory, replace(inputs_at(now), ballots=await box.collect(None)))
            box.acknowledge(view.refused)

    reasons = {Refusal.NOT_BASE64.value: 40, Refusal.TOO_LARGE.value: 10}
    assert [(line["event"], line["ballots"], line["reasons"]) for line in lines] == [("ballots refused", 50, reasons)]
    assert refused_ballots(memory) == reasons
    for reason in Refusal:
        found = metrics.registry.get_sample_value("emi_ballots_rejected_total", {"reason": reason.value})
        assert found == reasons.get(reason.value, 0)
    memory.close()
