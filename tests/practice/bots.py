"""How often verdicts tell the truth: `python -m tests.practice.bots [--seed N] [--bots N]` prints a table.

Bots answer hours of the shipped month's kind with a known error. Each row has the share of bots that read an error
after so many answers, the share that ever read one, and the share whose last reading is that they repeat the base rate.
Chances are spread round their base rates as the brain's are in the shipped month; a bot that is k times too sure states
odds to the base rate that are the honest odds to the power of k.
"""

import argparse
import json
import random
from collections import Counter
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

SIZES: Final = (20, 60, 100, 200, 300)
ERRORS: Final = (Finding.TOO_NARROW, Finding.TOO_WIDE, Finding.TOO_SURE, Finding.NOT_SURE_ENOUGH)
SHOWN: Final = 60  # answers for which an error is shown at least
BAD: Final = 20  # answers after which some bots mend their ways
Course = Callable[[int], float]  # answer, from 0 -> how a bot answers it
Bot = Callable[[random.Random, int], Callable[[int], Verdict]]  # chance, most answers -> verdict after so many


def ranges_bot(bets: RangeBets, holds: float | Course) -> Bot:
    """Return a bot whose ranges hold a share of moves that need not be what they say."""

    def bot(chance: random.Random, most: int) -> Callable[[int], Verdict]:
        inside = [chance.random() < _at(holds, answer) for answer in range(most)]
        return lambda answers: judge_ranges(inside[:answers], bets)

    return bot


def _at(course: float | Course, answer: int) -> float:
    return course(answer) if callable(course) else course


def shipped_chances() -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Return the brain's three chances and base rates of every hour of the shipped month."""
    truths = json.loads(ShippedMonth.load().truths)["truths"]
    return [(named(truth["brain"]["chances"]), named(truth["usual"]["chances"])) for truth in truths]


def chances_bot(power: float | Course, pairs: Sequence[tuple[tuple[float, ...], tuple[float, ...]]]) -> Bot:
    """Return a bot to which the honest chances are known, and that states them with another sureness."""

    def bot(chance: random.Random, most: int) -> Callable[[int], Verdict]:
        answers = []
        for answer in range(most):
            honest, base_rate = chance.choice(pairs)
            came = chance.choices(range(3), honest)[0]
            answers.append(Chances(stated(honest, base_rate, _at(power, answer)), base_rate, came))
        return lambda number: judge_chances(answers[:number])

    return bot


def stated(honest: Sequence[float], base_rate: Sequence[float], power: float) -> tuple[float, ...]:
    """Return chances whose odds to the base rate are those of the honest ones to a power, in whole percent."""
    raw = [base * (chance / base) ** power for chance, base in zip(honest, base_rate, strict=True)]
    whole = [round(100 * value / sum(raw)) for value in raw]
    whole[whole.index(max(whole))] += 100 - sum(whole)
    return tuple(value / 100 for value in whole)


def accused(bot: Bot, bots: int, size: int, seed: int) -> float:
    """Return the share of bots that read an error at any time up to a size."""
    chance = random.Random(seed)
    # An error that is found is shown for so many answers, so that none lies between two of these looks.
    looks = [*range(SHOWN, size, SHOWN), size]
    judges = (bot(chance, size) for _ in range(bots))
    return sum(any(judge(look).finding in ERRORS for look in looks) for judge in judges) / bots


def reading(bot: Bot, bots: int, size: int, seed: int) -> dict[Finding, float]:
    """Return what share of bots reads what after so many answers."""
    chance = random.Random(seed)
    counts = Counter(bot(chance, size)(size).finding for _ in range(bots))
    return {finding: counts[finding] / bots for finding in Finding}


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
        "three chances, the base rate each time": chances_bot(0.0, pairs),
        "90% ranges: 40% for 20 answers, then 90%": ranges_bot(BETS_90, _then(0.4, 0.9)),
        "90% ranges: 90% for 280 answers, then 40%": ranges_bot(BETS_90, _then(0.9, 0.4, 280)),
        "50% ranges: 90% for 20 answers, then 50%": ranges_bot(BETS_50, _then(0.9, 0.5)),
        "three chances: 4 times too sure for 20 answers, then honest": chances_bot(_then(4.0, 1.0), pairs),
    }


def _then(first: float, later: float, answers: int = BAD) -> Course:
    return lambda answer: first if answer < answers else later


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bots", type=int, default=400)
    asked = parser.parse_args()

    print(f"seed {asked.seed}, {asked.bots} bots a row: how many read an error after so many answers, in percent")
    print("| bot | " + " | ".join(map(str, SIZES)) + " | ever | base rate |")
    print("|---|" + "---|" * (len(SIZES) + 2))
    for name, bot in rows().items():
        read = [reading(bot, asked.bots, size, asked.seed) for size in SIZES]
        shares = [sum(of[error] for error in ERRORS) for of in read]
        shares += [accused(bot, asked.bots, SIZES[-1], asked.seed), read[-1][Finding.BASE_RATE]]
        print(f"| {name} | " + " | ".join(f"{100 * share:.1f}" for share in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
