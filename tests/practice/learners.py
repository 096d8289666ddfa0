"""Whether the curve of scores is right: `python -m tests.practice.learners [--seed N] [--learners N]`.

Learners begin three times too sure and lose half of what is too much every 40 answers. Each block's true mean
difference to the base rate is known from the chances alone; the table says how far the drawn means are from it, and in
how many cases the band of 9 in 10 holds it.
"""

import argparse
import random
from typing import Final

from generator.arena.practice.curve import BLOCK, blocks
from generator.arena.scoring import brier
from tests.practice.bots import shipped_chances, stated

ANSWERS: Final = 160
HALVED: Final = 40  # answers after which half of the excess is gone
FIRST_POWER: Final = 3.0


def power_at(answer: int) -> float:
    """Return how many times too sure a learner is at an answer."""
    return 1 + (FIRST_POWER - 1) * float(0.5 ** (answer / HALVED))


def measured(learners: int, seed: int) -> tuple[list[float], list[float]]:
    """Return by block the mean error of the drawn means, and the share of bands that hold the true mean."""
    chance = random.Random(seed)
    pairs = shipped_chances()
    number = ANSWERS // BLOCK
    errors = [0.0] * number
    held = [0] * number

    for _ in range(learners):
        drawn: list[float] = []
        true: list[float] = []
        for answer in range(ANSWERS):
            honest, base_rate = chance.choice(pairs)
            said = stated(honest, base_rate, power_at(answer))
            by_outcome = [brier(said, came) - brier(base_rate, came) for came in range(3)]
            true.append(sum(share * value for share, value in zip(honest, by_outcome, strict=True)))
            drawn.append(by_outcome[chance.choices(range(3), honest)[0]])

        for place, block in enumerate(blocks(drawn)):
            mean = sum(true[place * BLOCK : (place + 1) * BLOCK]) / BLOCK
            errors[place] += (block.mean - mean) / learners
            held[place] += block.low <= mean <= block.high
    return errors, [100 * count / learners for count in held]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--learners", type=int, default=1_000)
    asked = parser.parse_args()

    errors, held = measured(asked.learners, asked.seed)
    print(f"seed {asked.seed}, {asked.learners} learners, {ANSWERS} answers each")
    print("| answers | times too sure | mean error of the curve, Brier | band holds the truth, % |")
    print("|---|---|---|---|")
    for place, (error, share) in enumerate(zip(errors, held, strict=True)):
        begin = place * BLOCK
        print(f"| {begin + 1} to {begin + BLOCK} | {power_at(begin):.2f} | {error:+.4f} | {share:.1f} |")
    print(f"| all | | {sum(errors) / len(errors):+.4f} | {sum(held) / len(held):.1f} |")


if __name__ == "__main__":
    main()
