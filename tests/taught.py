"""`python -m tests.taught [FOLDER ...]`: does a chapter teach a rule that its own bars refute?

Makes the chapters that are counted from prices for months of the simulated market, and for every month of the folders
with candles (`<PAIR>.csv.gz`: time in ms at which a candle opened, open, high, low, close). Each rule is read off what
the page shows: the bars of its picture, or the remark on its count. Prints a row a rule, and ends with 1 where a page
taught one that it refutes.
"""

import csv
import gzip
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import nan
from pathlib import Path
from typing import Final

import numpy as np

from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.text.chapters import CHAPTER_OF, REMARKS
from generator.market.simulated.market import SimulatedMarket
from generator.site.pages.chapters.chapter import Ask, Facts
from generator.site.pages.learn import ASKED
from generator.site.words.month import HourlyMonth, hourly_month
from tests.support.builders import empty_arena

SEEDS: Final = range(1, 13)
FIRST_DAY: Final = 20_400
MONTH_DAYS: Final = 30
AGREES: Final = 1.2  # times, up to which a bar agrees with the rule next to it
_BAR: Final = re.compile(r"([\d.]+)% \(rule ([\d.]+)%\)")
# What an idea says of markets, and the remark by which a count of the same page denies it.
IDEAS: Final = {
    "wild hours come in groups": ("volatility", "wild ones wild ones", REMARKS["wild"].below),
    "tails are fat": ("fat-tails", "Prices have fat tails", REMARKS["tails"].below),
    "coins go together": ("correlation", "mostly rise and fall together", REMARKS["together"].below),
}


def refuted_square_root(asks: Sequence[Ask]) -> bool | None:
    """Return whether an exercise applies the rule of the square root though a bar denies it; None without bars."""
    bars = [(float(size), float(rule)) for ask in asks if ask.picture for size, rule in _BAR.findall(str(ask.picture))]
    if not bars:
        return None
    agrees = all(1 / AGREES <= size / rule <= AGREES for size, rule in bars if rule)
    applied = any(ask.guess is not None and "by the rule of the square root?" in ask.question for ask in asks)
    return applied and not agrees


def verdicts_of(month: HourlyMonth) -> Iterator[tuple[str, bool | None]]:
    """Give each rule, and whether the page of this month teaches it against what the page shows."""
    facts = Facts(month, (), empty_arena())
    asked = {name: ASKED[name](facts) for name in ("volatility", "fat-tails", "correlation")}

    yield "square root of time", refuted_square_root(asked["volatility"])
    for rule, (chapter, claim, denied) in IDEAS.items():
        is_claimed = any(claim in paragraph for paragraph in CHAPTER_OF[chapter].idea)
        answers = [ask.tell for ask in asked[chapter]]
        yield rule, (is_claimed and any(denied in words for words in answers)) if answers else None


def simulated_months(seeds: Iterable[int] = SEEDS) -> Iterator[HourlyMonth]:
    """Give a month of each seed of the market that a fresh start shows."""
    for seed in seeds:
        begin_ms = (FIRST_DAY + 40 * seed) * DAY_MS
        yield hourly_month(SimulatedMarket(seed).bars(begin_ms, begin_ms + MONTH_DAYS * DAY_MS))


def recorded_months(folder: Path) -> Iterator[HourlyMonth]:
    """Give every 30 days of a folder with candles, one after the other."""
    by_asset: dict[str, dict[int, float]] = {}
    for asset in ASSETS:
        for file in folder.glob(f"{asset}USDT*.csv.gz"):
            by_asset[asset] = _hourly(file)
    times = sorted(set().union(*by_asset.values()))
    for begin_ms in range(times[0], times[-1] - MONTH_DAYS * DAY_MS + 1, MONTH_DAYS * DAY_MS):
        ends = tuple(range(begin_ms, begin_ms + MONTH_DAYS * DAY_MS, HOUR_MS))
        yield HourlyMonth(
            ends, {("close", asset): tuple(closes.get(end) for end in ends) for asset, closes in by_asset.items()}
        )


def _hourly(file: Path) -> dict[int, float]:
    """Return the closes of candles that end at full hours, by that time."""
    with gzip.open(file, "rt", newline="") as lines:
        rows = [(int(row[0]), float(row[4])) for row in csv.reader(lines) if row[0].isdigit()]
    step = int(np.median(np.diff([at for at, _ in rows[:100]]))) if len(rows) > 1 else nan
    return {at + int(step): close for at, close in rows if (at + step) % HOUR_MS == 0}


def main() -> None:
    """Print the table."""
    counts: Counter[tuple[str, bool | None]] = Counter()
    months = [*simulated_months()]
    for folder in sys.argv[1:]:
        months += recorded_months(Path(folder))
    for month in months:
        counts.update(verdicts_of(month))

    rules = sorted({rule for rule, _ in counts})
    print(f"{len(months)} months, {len(SEEDS)} of them simulated")
    print("| rule | not asked | not refuted, or not taught | taught and refuted |\n|---|---|---|---|")
    for rule in rules:
        print(f"| {rule} | {counts[rule, None]} | {counts[rule, False]} | {counts[rule, True]} |")
    sys.exit(int(any(counts[rule, True] for rule in rules)))


if __name__ == "__main__":
    main()
