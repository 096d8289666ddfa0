"""The second seal of a round: what people are compared with.

Votes are open for as long as a round lasts, and the brain's free chances grow fresher all that time, so that a ballot
copied from them at the last minute would beat a forecast that was sealed at opening. So the brain's chances of the same
band are sealed again in the ticks of the ten minutes before votes close, as hourly predictions are: each replaces the
one before, the last one counts, and it opens with the first seal. Lessons, hit rates and the brain's own record stay
with the forecast at opening. A round of which no second seal was published in time compares people with nothing: the
older forecast would make them look better than they were.
"""

from dataclasses import replace
from typing import Final

from generator.arena.hourly import WINDOW_MS
from generator.arena.inputs import PlayInputs, void_reason
from generator.arena.published import closing_forecast, digest_of
from generator.catalog.durations import MINUTE_MS
from generator.catalog.words import RoundPhase
from generator.values.rounds import Closing, Round

NOT_SEALED: Final = "the brain sealed no forecast in the ten minutes before votes closed"


def sealed_again(item: Round, inputs: PlayInputs) -> Round:
    """Seal the chances of an open round again where its votes are about to close; the same chances change nothing."""
    is_due = item.phase is RoundPhase.OPEN and 0 < item.start_ms - inputs.now_ms <= WINDOW_MS
    if not is_due or item.closing is None or item.band_bps is None or inputs.interrupted is not None:
        return item

    minutes = (item.end_ms - item.start_ms) // MINUTE_MS
    chances = inputs.sound_chances(item.asset, minutes, item.band_bps)
    if chances is None or chances == item.closing.probabilities:
        return item

    again = replace(item, closing=Closing(inputs.now_ms, chances))
    commitment = digest_of(closing_forecast(again), item.salt or "")
    return replace(item, closing=Closing(inputs.now_ms, chances, commitment))


def closed(item: Round, inputs: PlayInputs, published_ms: int | None) -> Round:
    """Decide, of a round that went live in this tick, whether people are compared with its second seal.

    Args:
        item: the round as it is now.
        inputs: of the tick.
        published_ms: wall time of the last release; None where nothing is published.
    """
    if item.closing is None:
        return item
    if item.closing.probabilities is None:
        return replace(item, closing=Closing(void_reason=NOT_SEALED))

    # What no reader could have seen before the start counts as little as of any other seal.
    reason = void_reason(item.closing.made_ms, inputs, published_ms)
    return replace(item, closing=item.closing._replace(void_reason=reason))
