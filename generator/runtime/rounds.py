"""The Arena's part of a tick: judge ballots, play the rounds, store what changed."""

from dataclasses import replace

from generator.arena.ballots import Poll, judge
from generator.arena.play import PlayInputs, play
from generator.arena.values import ArenaView, BallotVerdict
from generator.record.memory.store import TickTransaction


def play_rounds(
    record: TickTransaction, inputs: PlayInputs, brain_state: bytes | None = None, published_ms: int | None = None
) -> ArenaView:
    """Play one tick within its transaction. The same tick again changes nothing.

    Args:
        record: the tick's transaction.
        inputs: of this tick.
        brain_state: after this tick, to be stored.
        published_ms: wall time of the last published tick; None where nothing is published, as in a backtest.
    """
    verdicts: tuple[BallotVerdict, ...] = ()
    refused: dict[str, int] = {}
    if inputs.ballots:
        rounds = {item.round_id: item for item in record.active_rounds()}
        poll = Poll(inputs.config.address, inputs.config.genesis_hash, rounds, inputs.now_ms)
        verdicts, ballots = judge(inputs.ballots, poll, record.known_txids)
        on_chain = frozenset(file.name for file in inputs.ballots if file.confirmed)
        refused = record.save_ballots(ballots, verdicts, on_chain)
    ahead_ms = inputs.next_close_ms if inputs.follows_clock else None
    interrupted = inputs.interrupted is not None
    state = record.state(inputs.now_ms, next_close_ms=ahead_ms, published_ms=published_ms, interrupted=interrupted)
    record.save(play(state, inputs), inputs.now_ms, warm_up=inputs.warm_up)
    record.save_brain(inputs.now_ms, inputs.regime, brain_state, warm_up=inputs.warm_up)
    return replace(record.view(inputs.now_ms), verdicts=verdicts, refused=refused)
