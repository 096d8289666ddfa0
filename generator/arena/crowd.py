"""The simulated crowd of the demo: made-up votes, always labelled, a pure function of (seed, round)."""

from __future__ import annotations

import hashlib
from typing import Final

from generator.arena.values import Tally

# People lean to the hopeful answer and seldom choose the middle one, although it is right as often as the others.
MEAN_SHARES: Final = (0.48, 0.30, 0.22)  # bullish, bearish, neutral
SWING: Final = 0.5  # each round's mood stretches each share by up to this part


def simulated_tally(seed: int, round_id: str) -> Tally:
    """Make up the votes of one round.

    Returns:
        Between 12 and 90 votes; the same for the same arguments.
    """
    draws = _draws(seed, round_id)
    voters = 12 + int(draws[0] * 79)
    stretched = [share * (1 + SWING * (2 * draw - 1)) for share, draw in zip(MEAN_SHARES, draws[1:4], strict=True)]
    bullish = round(voters * stretched[0] / sum(stretched))
    bearish = min(voters - bullish, round(voters * stretched[1] / sum(stretched)))
    return Tally(bullish, bearish, voters - bullish - bearish)


def _draws(seed: int, round_id: str) -> tuple[float, ...]:
    """Four numbers in [0, 1) from a hash: the same on every machine and Python."""
    digest = hashlib.sha256(f"emi-simulated-crowd:{seed}:{round_id}".encode()).digest()
    return tuple(int.from_bytes(digest[i : i + 8], "big") / 2**64 for i in (0, 8, 16, 24))
