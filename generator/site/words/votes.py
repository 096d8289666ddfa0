"""How a round was voted, in words; votes of real and of simulated voters are counted apart."""

from generator.catalog.text.figures import count
from generator.compose.tick import Tick
from generator.values.votes import Tally


def votes_words(total: Tally, simulated: Tally) -> str:
    """Say how a round was voted, empty where no one did."""
    sentences = []
    if total.total and total.total == simulated.total:
        sentences.append("No real vote.")
    for who, votes in apart(total, simulated):
        sides = f"{votes.bullish} up, {votes.neutral} small move, {votes.bearish} down"
        sentences.append(f"{count(votes.total, f'{who} vote')}: {sides}.")
    return " ".join(sentences)


def votes_shown(ctx: Tick) -> tuple[str, Tally]:
    """Return whose votes of the live round are drawn, and the votes: real ones; simulated where none is real."""
    for who, votes in apart(ctx.arena.live_tally, ctx.arena.live_simulated_tally):
        return who.capitalize(), votes
    return "Real", Tally()


def apart(total: Tally, simulated: Tally) -> tuple[tuple[str, Tally], ...]:
    """Return the votes of real and of simulated voters; who cast none is left out."""
    real = Tally(
        bullish=total.bullish - simulated.bullish,
        bearish=total.bearish - simulated.bearish,
        neutral=total.neutral - simulated.neutral,
    )
    return tuple((who, votes) for who, votes in (("real", real), ("simulated", simulated)) if votes.total)
