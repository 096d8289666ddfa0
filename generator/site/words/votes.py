"""How a round was voted, in words; votes of real and of simulated voters are counted apart."""

from generator.arena.values import Tally
from generator.compose.context import TickContext
from generator.site.words.format import count


def votes_words(total: Tally, simulated: Tally) -> str:
    """Say how a round was voted, empty where no one did."""
    said = [
        f"{count(votes.total, f'{who} vote')}: {votes.bullish} bullish, {votes.neutral} neutral, {votes.bearish} bearish."
        for who, votes in apart(total, simulated)
    ]
    return " ".join(["No real vote."] * (0 < total.total == simulated.total) + said)


def votes_shown(ctx: TickContext) -> tuple[str, Tally]:
    """Return whose votes of the live round are drawn, and the votes: the real ones, where there are none the simulated ones."""
    cast = apart(ctx.arena.live_tally, ctx.arena.live_simulated_tally)
    return (cast[0][0].capitalize(), cast[0][1]) if cast else ("Real", Tally())


def apart(total: Tally, simulated: Tally) -> tuple[tuple[str, Tally], ...]:
    """Return the votes of real and of simulated voters; who cast none is left out."""
    real = Tally(*(getattr(total, side) - getattr(simulated, side) for side in ("bullish", "bearish", "neutral")))
    return tuple((who, votes) for who, votes in (("real", real), ("simulated", simulated)) if votes.total)
