"""How often verdicts tell the truth: `python -m tests.practice.bots [--seed N] [--bots N]` prints a table.

Bots answer hours of the shipped month's kind with a known error, and are judged after every answer. Chances are spread
round their base rates as the brain's are in the shipped month; a bot that is k times too sure states odds to the base
rate that are the honest odds to the power of k.
"""

import argparse
import json
import random
from collections.abc import Callable, Sequence
from typing import Final

from generator.arena.practice.record import named
from generator.arena.practice.verdicts import (
    BETS_50,
    BETS_90,
    Chances,
    Finding,
    RangeBets,
    Verdict,
    judge_chances,
    judge_ranges,
)
from generator.site.resources import ShippedMonth

SIZES: Final = (60, 100, 200)
UNJUDGED: Final = (Finding.TOO_EARLY, Finding.NOTHING)
Bot = Callable[[random.Random, int], Callable[[int], Verdict]]  # chance, most answers -> verdict after so many


def ranges_bot(bets: RangeBets, holds: float) -> Bot:
    """Return a bot whose ranges hold a share of moves that need not be what they say."""

    def bot(chance: random.Random, most: int) -> Callable[[int], Verdict]:
        inside = [chance.random() < holds for _ in range(most)]
        return lambda answers: judge_ranges(inside[:answers], bets)

    return bot


def shipped_chances() -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Return the brain's three chances and base rates of every hour of the shipped month."""
    truths = json.loads(ShippedMonth.load().truths)["truths"]
    return [(named(truth["brain"]["chances"]), named(truth["usual"]["chances"])) for truth in truths]


def chances_bot(power: float, pairs: Sequence[tuple[tuple[float, ...], tuple[float, ...]]]) -> Bot:
    """Return a bot to which the honest chances are known, and that states them with another sureness."""

    def bot(chance: random.Random, most: int) -> Callable[[int], Verdict]:
        answers = []
        for _ in range(most):
            honest, base_rate = chance.choice(pairs)
            came = chance.choices(range(3), honest)[0]
            answers.append(Chances(stated(honest, base_rate, power), base_rate, came))
        return lambda number: judge_chances(answers[:number])

    return bot


def stated(honest: Sequence[float], base_rate: Sequence[float], power: float) -> tuple[float, ...]:
    """Return chances whose odds to the base rate are those of the honest ones to a power, in whole percent."""
    raw = [base * (chance / base) ** power for chance, base in zip(honest, base_rate, strict=True)]
    whole = [round(100 * value / sum(raw)) for value in raw]
    whole[whole.index(max(whole))] += 100 - sum(whole)
    return tuple(value / 100 for value in whole)


def accused(bot: Bot, bots: int, size: int, seed: int) -> float:
    """Return the share of bots that were accused up to a size; a verdict once reached stays."""
    chance = random.Random(seed)
    return sum(bot(chance, size)(size).finding not in UNJUDGED for _ in range(bots)) / bots


def rows() -> dict[str, Bot]:
    """Return the bots by name."""
    pairs = shipped_chances()
    return {
        "90% ranges that hold 90%": ranges_bot(BETS_90, 0.9),
        "90% ranges that hold 70%": ranges_bot(BETS_90, 0.7),
        "90% ranges that hold 80%": ranges_bot(BETS_90, 0.8),
        "90% ranges that hold 98%": ranges_bot(BETS_90, 0.98),
        "50% ranges that hold 50%": ranges_bot(BETS_50, 0.5),
        "50% ranges that hold 35%": ranges_bot(BETS_50, 0.35),
        "50% ranges that hold 70%": ranges_bot(BETS_50, 0.7),
        "three chances, honest": chances_bot(1.0, pairs),
        "three chances, 1.5 times too sure": chances_bot(1.5, pairs),
        "three chances, 2 times too sure": chances_bot(2.0, pairs),
        "three chances, 3 times too sure": chances_bot(3.0, pairs),
        "three chances, half as sure": chances_bot(0.5, pairs),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bots", type=int, default=400)
    asked = parser.parse_args()

    print(f"seed {asked.seed}, {asked.bots} bots a row; accused at any time within so many answers, in percent")
    print("| bot | " + " | ".join(map(str, SIZES)) + " |")
    print("|---|" + "---|" * len(SIZES))
    for name, bot in rows().items():
        shares = [f"{100 * accused(bot, asked.bots, size, asked.seed):.1f}" for size in SIZES]
        print(f"| {name} | " + " | ".join(shares) + " |", flush=True)


if __name__ == "__main__":
    main()
