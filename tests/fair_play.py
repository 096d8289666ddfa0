"""`python -m tests.fair_play`: can copying, picking rounds or making many keys win the Arena's ranks?

The brain reads bars; of each hour are taken what it sealed at opening and again at the close, and what it published
then, which is copied as a ballot. A row is 400 draws of whole days of these rounds, with four kinds of voters:

- honest: copies every round at its close;
- picker: does the same, but leaves out the two thirds of rounds in which the copy is nearest the base rate;
- a thousand keys of one person, each of which taps at random;
- the ranks before: by the lower end of the mean over a key's own rounds, as if each was one independent case.

Ranks are those of `arena.ranks`, as the service gives them.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gateway.wire.notes import TAPPED, Chances
from generator.arena.ranks import UNITS, Asked, Rank, Saved, rank_of
from generator.arena.scores import ORDER, published_triple
from generator.arena.scoring import Ratio, brier_e8
from generator.arena.voters import given_chances
from generator.brain.engine import Engine
from generator.brain.forecast import Forecast
from generator.brain.weights import Weights
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.words import Prediction
from generator.lab.candles import read_candles
from generator.market.bars import BAR_MS, BARS_A_DAY, BarFrame
from generator.market.simulated.market import SimulatedMarket
from generator.values.rounds import Triple
from generator.values.scores import Z_95

DRAWS: Final = 400  # of each row
KEYS: Final = 1_000
WARM_UP_DAYS: Final = 14
FIRST_DAY: Final = 20_400
E4: Final = 10**4
Days = Sequence[Sequence["Played"]]
Units = npt.NDArray[np.int64]
HEADINGS: Final = (
    "days",
    "picker above honest, before",
    "now",
    "honest beyond luck, 3 keys",
    "best of 1,000 tapping keys above honest",
    "said to be beyond luck",
    "saved a round: honest; picker on its own; picker on all",
)


class Played(NamedTuple):
    """One round: what was said of it, and what came."""

    start_ms: int
    base: Triple
    opening: Triple
    closing: Triple
    copied: Chances  # what was published at the close, in whole percent
    came: Prediction


@dataclass(frozen=True)
class Day:
    """What was saved against the base rate in the rounds of one day, in 10^-4 of a Brier score.

    Args:
        copied: by the copied ballot, (rounds,).
        picked: whether the picker plays the round, (rounds,).
        tapped: by each of the three taps, (rounds, 3).
    """

    copied: Units
    picked: npt.NDArray[np.bool_]
    tapped: Units


@dataclass(frozen=True)
class Row:
    """Shares of the draws, in percent, and what honest and picker saved a round in the mean."""

    days: int
    picker_before: float
    picker_now: float
    honest_beyond_luck: float  # of three keys
    lucky_above: float  # the best of a thousand tapping keys, above the honest one
    lucky_beyond: float  # the same key, where it is said to be beyond luck
    saved: tuple[float, float, float]  # honest; picker over its own rounds; picker over all


def rounds_of(frame: BarFrame) -> Iterator[Played]:
    """Read a market, and give the hourly rounds of its first asset.

    Args:
        frame: bars of five minutes.
    """
    engine = Engine(Weights.load(), frame.assets)
    asset = frame.assets[0]
    close = dict(zip((frame.t + BAR_MS).tolist(), frame.fields["close"][:, 0].tolist(), strict=True))
    opened: Forecast | None = None

    for row in engine.replay(frame):
        now_ms = int(frame.t[row]) + BAR_MS
        if row < WARM_UP_DAYS * BARS_A_DAY:
            continue

        # Votes open at a full hour; the last bar that is known before they close ends five minutes earlier.
        if now_ms % HOUR_MS == 0:
            opened = engine.forecast(asset, 60)
        elif (now_ms + BAR_MS) % HOUR_MS == 0 and opened is not None:
            sealed = engine.forecast(asset, 60, opened.band_bps)
            shown = engine.forecast(asset, 60)
            start_ms = now_ms + BAR_MS
            ends = close.get(start_ms), close.get(start_ms + HOUR_MS)
            if sealed is not None and shown is not None and ends[0] and ends[1]:
                yield _played(start_ms, opened, sealed, shown, 1e4 * (ends[1] / ends[0] - 1))


def _played(start_ms: int, opened: Forecast, sealed: Forecast, shown: Forecast, move_bps: float) -> Played:
    came = Prediction.NEUTRAL
    if abs(move_bps) > opened.band_bps:
        came = Prediction.BULLISH if move_bps > 0 else Prediction.BEARISH
    return Played(
        start_ms=start_ms,
        base=published_triple(opened.base_rate),
        opening=published_triple(opened.probabilities),
        closing=published_triple(sealed.probabilities),
        copied=ballot_of(published_triple(shown.probabilities)),
        came=came,
    )


def ballot_of(chances: Triple) -> Chances:
    """Round chances to whole percents that add to a hundred, as a ballot has them."""
    down, _, up = (round(100 * chance) for chance in chances)
    return Chances(up=up, neutral=100 - up - down, down=down)


def saved_by(chances: Triple, played: Played) -> int:
    """Return what chances saved against the base rate, in 10^-4 of a Brier score."""
    place = ORDER.index(played.came)
    return round((brier_e8(played.base, place) - brier_e8(chances, place)) / E4)


def distance(played: Played) -> float:
    """Return how far a copied ballot is from the base rate: what it would save if it were right."""
    own = given_chances(played.copied)
    return sum((mine - usual) ** 2 for mine, usual in zip(own, played.base, strict=True))


def saved_in(days: Days) -> list[Day]:
    """Work out what each kind of voter saves; the picker plays the third of all rounds that is farthest from usual."""
    farthest = np.quantile([distance(played) for of_day in days for played in of_day], 2 / 3)
    taps = [given_chances(tapped) for tapped in TAPPED.values()]
    return [
        Day(
            copied=np.array([saved_by(given_chances(played.copied), played) for played in of_day]),
            picked=np.array([distance(played) > farthest for played in of_day]),
            tapped=np.array([[saved_by(tap, played) for tap in taps] for played in of_day]),
        )
        for of_day in days
    ]


def rank_in(totals: Units, answers: int, asked: Asked, keys: int) -> Rank:
    """Rank one key by what it saved on each day, (days,)."""
    sums = Saved(answers, int(totals.sum()), int((totals**2).sum()))
    rank = rank_of(sums, asked, keys)
    assert rank is not None, "a row is of ten days and thirty answers at least"
    return rank


def low_before(saved: Units) -> float:
    """Return the lower end by which ranks went before: over a key's own rounds alone, as if these were independent."""
    own = saved / UNITS
    return float(own.mean() - Z_95 * own.std(ddof=1) / len(own) ** 0.5)


def row_of(pool: Sequence[Day], days: int, *, seed: int = 1, draws: int = DRAWS, keys: int = KEYS) -> Row:
    """Play so many draws of so many days."""
    dice = Random(seed)
    found: list[tuple[float, ...]] = []

    for _ in range(draws):
        drawn = dice.choices(pool, k=days)
        copied = np.concatenate([day.copied for day in drawn])
        picked = np.concatenate([day.copied[day.picked] for day in drawn])
        asked = Asked(len(copied), days)

        of_days = np.array([day.copied.sum() for day in drawn])
        honest = rank_in(of_days, len(copied), asked, 3)
        among_many = rank_in(of_days, len(copied), asked, keys + 1)
        picker = rank_in(np.array([day.copied[day.picked].sum() for day in drawn]), len(picked), asked, 3)
        lucky = best_of_tapping(drawn, asked, dice.randrange(2**32), keys)

        shares = (
            low_before(picked) > low_before(copied),
            _low(picker) > _low(honest),
            honest.beyond_luck,
            _low(lucky) > _low(among_many),
            lucky.beyond_luck,
        )
        saved = (copied.mean() / UNITS, picked.mean() / UNITS, picker.saved.value)
        found.append((*(100.0 * share for share in shares), *saved))

    before, now, honest_beyond, above, beyond, *saved_a_round = (fmean(column) for column in zip(*found, strict=True))
    of_honest, on_its_own, on_all = saved_a_round
    return Row(days, before, now, honest_beyond, above, beyond, (of_honest, on_its_own, on_all))


def _low(rank: Rank) -> float:
    assert rank.saved.low is not None
    return rank.saved.low


def best_of_tapping(days: Sequence[Day], asked: Asked, seed: int, keys: int) -> Rank:
    """Return the best rank of so many keys that tap one of three answers at random in every round."""
    generator = np.random.default_rng(seed)
    by_day = np.zeros((len(days), keys), dtype=np.int64)
    for at, day in enumerate(days):
        rounds, taps = day.tapped.shape
        chosen = generator.integers(0, taps, (keys, rounds))
        by_day[at] = day.tapped[np.arange(rounds), chosen].sum(axis=1)

    # The lower end grows with the mean and falls with the spread: only the best few by the mean can be the best.
    likely = np.argsort(by_day.sum(axis=0))[-50:].tolist()
    return max((rank_in(by_day[:, key], asked.questions, asked, keys + 1) for key in likely), key=_low)


class Edge(NamedTuple):
    """By how much a copied ballot's Brier score is below the brain's, with its 95% interval over days."""

    value: float
    low: float
    high: float


def edge_over(pool: Days, *, closing: bool) -> Edge:
    """Compare the copied ballot with what the brain sealed at the close, or at opening."""
    ratio = Ratio()
    for of_day in pool:
        saved = 0
        for played in of_day:
            place = ORDER.index(played.came)
            brain = played.closing if closing else played.opening
            saved += brier_e8(brain, place) - brier_e8(given_chances(played.copied), place)
        ratio = ratio.plus(saved, len(of_day))

    value = ratio.above / ratio.below / 1e8
    half = (ratio.half_width() or 0.0) / 1e8
    return Edge(value, value - half, value + half)


def days_of(rounds: Sequence[Played]) -> Days:
    """Group rounds by their UTC day; days that are not whole are left out."""
    by_day: dict[int, list[Played]] = {}
    for played in rounds:
        by_day.setdefault(played.start_ms // DAY_MS, []).append(played)
    return [of_day for of_day in by_day.values() if len(of_day) == DAY_MS // HOUR_MS]


def report(name: str, frame: BarFrame, lengths: Sequence[int] = (30, 90, 180)) -> None:
    """Print the table of one market."""
    pool = days_of(tuple(rounds_of(frame)))
    print(f"\n{name}: {len(pool)} days, {sum(map(len, pool))} rounds")
    for what, closing in (("at opening", False), ("at the close", True)):
        edge = edge_over(pool, closing=closing)
        print(f"a copied ballot saves against the brain {what}: {edge.value:+.4f} [{edge.low:+.4f}, {edge.high:+.4f}]")

    print(f"\n| {' | '.join(HEADINGS)} |\n{'|---' * len(HEADINGS)}|")
    days = saved_in(pool)
    for length in lengths:
        row = row_of(days, length)
        shares = (row.picker_before, row.picker_now, row.honest_beyond_luck, row.lucky_above, row.lucky_beyond)
        saved = ", ".join(f"{one:+.4f}" for one in row.saved)
        print(f"| {length} | {' | '.join(f'{share:.1f}%' for share in shares)} | {saved} |", flush=True)


def first_asset(frame: BarFrame) -> BarFrame:
    """Return the bars of Bitcoin, or of the first asset where it is not held."""
    column = frame.assets.index("BTC") if "BTC" in frame.assets else 0
    fields = {name: values[:, [column]] for name, values in frame.fields.items()}
    return BarFrame((frame.assets[column],), frame.t, fields)


def main() -> None:
    """Read the folders of candles that are named, else a simulated year."""
    folders = [Path(argument) for argument in sys.argv[1:]]
    for folder in folders:
        report(folder.name, first_asset(read_candles(folder)))
    if not folders:
        begin = FIRST_DAY * DAY_MS
        report("simulated", first_asset(SimulatedMarket(1).bars(begin, begin + 380 * DAY_MS)))


if __name__ == "__main__":
    main()
