"""Chapters of Learn whose exercise is counted from the record: a guess, and what the newest hours say."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final, NamedTuple

from generator.arena.values import PredictionMade
from generator.catalog.assets import ASSET_NAMES, ASSETS, DEFAULT_ASSET
from generator.catalog.horizons import HORIZONS, HOUR
from generator.catalog.text.chapters import TEXTS, ChapterText
from generator.catalog.words import Call
from generator.site.charts.plot import Caption, Chart, Row, row_chart
from generator.site.words.format import percent

NEAR_PERCENT: Final = 0.25  # a move of less ends near where it began
FAR_SIGMAS: Final = 3.0
EDGES: Final = (0.0, 0.25, 0.5, 1.0)  # percent, where the bars of the picture begin
OWN_RECORD: Final = "Source: own record."


class Chapter(NamedTuple):
    """One idea: its text, an exercise with the answer that the record gives, and a picture where one helps."""

    text: ChapterText
    ask: str
    tell: str
    picture: Chart | None = None


def chapters(due: Sequence[PredictionMade]) -> tuple[Chapter, ...]:
    """Return the chapters whose exercise can be answered; before the first hours there are few.

    Args:
        due: hourly forecasts that came due or were void, newest first.
    """
    found = (base_rates(due), fat_tails(due), correlation(due), order_books(), silence(due))
    return tuple(chapter for chapter in found if chapter is not None)


def hour_moves(due: Sequence[PredictionMade], asset: str | None = None) -> Iterator[tuple[PredictionMade, float]]:
    """Give the hours of an asset, or of all, whose move is known, with that move in percent."""
    for made in due:
        came = made.moves.get(HOUR)
        if came is not None and came.move is not None and asset in {None, made.asset}:
            yield made, came.move


def base_rates(due: Sequence[PredictionMade]) -> Chapter | None:
    """Ask how often an hour ends near where it began."""
    sizes = [abs(move) for _, move in hour_moves(due, DEFAULT_ASSET)]
    if not sizes:
        return None

    near = sum(size <= NEAR_PERCENT for size in sizes)
    name = ASSET_NAMES[DEFAULT_ASSET]
    return Chapter(
        TEXTS["base-rates"],
        ask=f"Of {name}'s last {len(sizes)} hours, how many ended within {percent(NEAR_PERCENT, 2)} of their start?",
        tell=f"{near} of {len(sizes)}. Whoever gave that chance before looking at a chart had the best plain forecast.",
        picture=sizes_chart(name, sizes),
    )


def sizes_chart(name: str, sizes: Sequence[float]) -> Chart:
    """Draw how many hours moved how far."""
    rows = []
    for begin, end in zip(EDGES, (*EDGES[1:], None), strict=True):
        number = sum(begin < size <= (end or float("inf")) or size == begin == 0 for size in sizes)
        label = f"over {percent(begin, 2)}" if end is None else f"{percent(begin, 2)} to {percent(end, 2)}"
        rows.append(Row(label, float(number), f"{number} of {len(sizes)}"))
    caption = Caption(
        name="base-rates",
        finding=f"How far {name} moved in its last {len(sizes)} hours",
        desc="A bar for each size of move, up or down, with the number of hours.",
        source=OWN_RECORD,
        columns=("Move", "Hours"),
    )
    return row_chart(caption, "hours", rows, bars=True)


def fat_tails(due: Sequence[PredictionMade]) -> Chapter | None:
    """Ask how many hours went three times as far as the spread of the day before."""
    known = [(made, move) for made, move in hour_moves(due) if made.ranges and HOUR in made.ranges]
    if not known:
        return None

    far = sum(abs(move) > FAR_SIGMAS * (made.ranges or {})[HOUR].last_day for made, move in known)
    return Chapter(
        TEXTS["fat-tails"],
        ask=(
            f"In how many of the last {len(known)} asset-hours did the price move more than three times the standard "
            "deviation of the day before?"
        ),
        tell=f"{far} of {len(known)}. A normal distribution would have had about {0.0027 * len(known):.1f}.",
    )


def correlation(due: Sequence[PredictionMade]) -> Chapter | None:
    """Ask how often nearly all assets went the same way."""
    by_hour: defaultdict[int, list[float]] = defaultdict(list)
    for made, move in hour_moves(due):
        if move != 0:
            by_hour[made.start_ms].append(move)
    whole = [moves for moves in by_hour.values() if len(moves) == len(ASSETS)]
    if not whole:
        return None

    most = len(ASSETS) - 1
    together = sum(max(_risen(moves), len(moves) - _risen(moves)) >= most for moves in whole)
    return Chapter(
        TEXTS["correlation"],
        ask=f"In how many of the last {len(whole)} hours did at least {most} of {len(ASSETS)} assets go the same way?",
        tell=f"{together} of {len(whole)}. Coins that moved independently would do so in 12 or 13 of 100 hours.",
    )


def _risen(moves: Sequence[float]) -> int:
    return sum(move > 0 for move in moves)


def order_books() -> Chapter:
    """Ask how far a large sale moves a price."""
    return Chapter(
        TEXTS["order-books"],
        ask="A book holds 500,000 USD of bids within 0.1% of the price. Someone sells 1,000,000 USD at once. How far?",
        tell="Beyond 0.1%: the bids within it take half of the sale. The rest meets lower bids, or waits for new ones.",
    )


def silence(due: Sequence[PredictionMade]) -> Chapter | None:
    """Ask when a forecast should name an outcome."""
    known = [made for made in due if made.call is not None]
    if not known:
        return None

    silent = sum(made.call is Call.NONE for made in known)
    return Chapter(
        TEXTS["silence"],
        ask="A forecast gives 35 in 100 to up, 33 to a small move and 32 to down. Should it say “up”?",
        tell=(
            "No: it would be wrong in 65 of 100 such cases, and its chances say all that it knows. "
            f"Of the last {len(known)} hourly forecasts of the brain, {silent} made no call."
        ),
    )


def times_and_moves(due: Sequence[PredictionMade]) -> str | None:
    """Say how the typical move grows with time, next to the rule of the square root; None before a day is over."""
    sizes: dict[str, float] = {}
    for horizon in HORIZONS:
        came = [made.moves.get(horizon) for made in due if made.asset == DEFAULT_ASSET]
        moves = [abs(one.move) for one in came if one is not None and one.move is not None]
        if not moves:
            return None
        sizes[horizon] = median(moves)

    hour = sizes[HOUR]
    parts = []
    for horizon in ("4h", "24h"):
        ruled = hour * (HORIZONS[horizon].minutes / HORIZONS[HOUR].minutes) ** 0.5
        parts.append(f"{HORIZONS[horizon].words} {percent(sizes[horizon], 2)} (the rule says {percent(ruled, 2)})")
    return f"The median move of {ASSET_NAMES[DEFAULT_ASSET]} lately: 1 hour {percent(hour, 2)}, {', '.join(parts)}."
