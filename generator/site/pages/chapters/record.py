"""Chapters that are counted from forecasts: calibration, luck, saying nothing."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from math import comb
from statistics import fmean, median
from typing import Final

from generator.arena.scoring import squared_error
from generator.catalog.counts import quantity
from generator.catalog.durations import HOUR_MS
from generator.catalog.horizons import HOUR
from generator.catalog.text.chapters import LUCK_AT_TIMES
from generator.catalog.text.figures import percent
from generator.catalog.words import Call, Prediction
from generator.site.charts.lessons import few_cases
from generator.site.charts.plot import Caption, Chart, Row, row_chart
from generator.site.charts.record import reliability
from generator.site.pages.chapters.chapter import (
    OWN_RECORD,
    Ask,
    Case,
    Facts,
    Guess,
    counted,
    in_blocks,
    in_words,
    remark,
    share_guess,
    share_of,
)
from generator.site.pages.chapters.market import NAME, PRICES
from generator.values.hours import Move, PredictionMade
from generator.values.scores import Z_95

RULES: Final = 100
TOSSES: Final = 30  # hours that the rules are judged by
GOOD: Final = 20  # of them right
_SCALE: Final = 1_000_000  # of scores, which are added up in whole numbers
_BITS: Final = 1024  # tosses of a rule before they begin again
_GROUPS: Final = ((0, 11), (12, 14), (15, 17), (18, 20), (21, TOSSES))
_CALLS: Final = (
    (Call.NONE, "no call"),
    (Call.SMALL_MOVE, "small move"),
    (Call.UP, "up"),
    (Call.DOWN, "down"),
)


def calibration(facts: Facts) -> tuple[Ask, ...]:
    """Ask whether ranges held as often as they said, and what a proper score rewards."""
    judged, tested = facts.judged()
    held_50 = []
    held_90 = []
    for prediction in judged:
        # An hour whose end is not known held and missed nothing: it is left out of both shares.
        move = prediction.moves.get(HOUR, Move()).move
        ranges = (prediction.ranges or {}).get(HOUR)
        if move is not None and ranges is not None:
            held_50.append((prediction.start_ms, ranges.holds_50(move)))
            held_90.append((prediction.start_ms, ranges.holds_90(move)))

    if not held_90:
        return ()

    nine_in_ten = share_of(held_90)
    one_in_two = share_of(held_50)
    return in_words(
        (
            Ask(
                f"How many of the last {len(held_90):,} ranges that should hold an hour nine times in ten{tested} held "
                "it?",
                f"{counted(nine_in_ten)}. {remark('held_90', nine_in_ten, 90)}",
                share_guess(nine_in_ten),
                _chances(facts),
            ),
            Ask(
                "And of the ranges that should hold it one time in two?",
                f"{counted(one_in_two)}. {remark('held_50', one_in_two, 50)}",
                share_guess(one_in_two),
            ),
            _best_chance(judged, tested),
            _skill(judged, tested),
        )
    )


def _chances(facts: Facts) -> Chart | None:
    """Draw stated chances of a move against what came, of the backtest while live play has too few."""
    drawn = reliability("honest", facts.arena.hourly_record.move, OWN_RECORD)
    if drawn is None and facts.arena.backtest is not None:
        drawn = reliability("honest", facts.arena.backtest.hourly.move, OWN_RECORD)
    return drawn


def _moved(judged: Sequence[PredictionMade]) -> list[tuple[PredictionMade, bool]]:
    """Return the forecasts with an outcome, and whether the price left its band."""
    return [
        (prediction, prediction.outcome != Prediction.NEUTRAL)
        for prediction in judged
        if prediction.outcome is not None
    ]


def _best_chance(judged: Sequence[PredictionMade], tested: str) -> Ask | None:
    """Ask which chance, given each time, scores best."""
    moved = [left for _, left in _moved(judged)]
    if not moved:
        return None

    share = sum(moved) / len(moved)
    scores = {chance: fmean(squared_error(chance, float(left)) for left in moved) for chance in (share, 0.5, 0.9)}
    return Ask(
        f"In each of the last {len(moved):,} hours{tested} you must give the same chance that the price leaves its "
        "band. Which one has the best mean Brier score?",
        f"{100 * share:.0f}: as often as it happened, {sum(moved):,} times. Its mean score is {scores[share]:.3f}; 50 "
        f"in 100 would have had {scores[0.5]:.3f} and 90 in 100 {scores[0.9]:.3f}.",
        Guess(100 * share, 0, 100, 1, "{} in 100"),
    )


def _skill(judged: Sequence[PredictionMade], tested: str) -> Ask | None:
    """Ask by how much the brain's chances of a move scored better than their base rates."""
    own: list[float] = []
    base: list[float] = []
    saved: list[tuple[int, int, int]] = []
    for prediction, left in _moved(judged):
        move = prediction.move
        if move is not None:
            own.append(squared_error(move.chance, float(left)))
            base.append(squared_error(move.base_rate, float(left)))
            saved.append((prediction.start_ms, round(_SCALE * (base[-1] - own[-1])), round(_SCALE * base[-1])))
    half = in_blocks(saved).half_width()
    if half is None or not sum(base):
        return None

    skill = 100 * (1 - sum(own) / sum(base))
    low, high = (skill + sign * 100 * half for sign in (-1, 1))
    verdict = "Zero lies inside: that may well be luck." if low <= 0 <= high else "Zero lies outside."
    return Ask(
        f"By how many percent was the mean Brier score of the brain's chances of a move{tested} better than that of "
        "the base rates (below zero: worse)?",
        f"{percent(skill)} ({percent(low)} to {percent(high)} allowing for luck): {fmean(own):.4f} against "
        f"{fmean(base):.4f}. "
        f"{verdict} Good forecasts of markets are a few percent better than base rates, over a long time.",
        Guess(skill, min(-20.0, skill), max(20.0, skill), 0.5, "{}%"),
    )


def luck(facts: Facts) -> tuple[Ask, ...]:
    """Ask how good the best of many looks that know nothing."""
    rose = [(end_ms, move > 0) for end_ms, move in sorted(facts.month.moves().items()) if move != 0]
    few = Ask(
        "Somebody was right in 5 of 10 rounds. How low may their true rate be, 95 times in 100?",
        "24 in 100, and as high as 76: worse than a coin, or far better. A thousand rounds would tell it to three "
        "points either way.",
        Guess(24, 0, 50, 1, "{} in 100"),
        few_cases("few"),
    )
    if len(rose) < 2 * TOSSES:
        return (few,)

    lately = rose[-TOSSES:]
    before = rose[:-TOSSES]
    hits = [_hits(rule, lately) for rule in range(RULES)]
    best = max(range(RULES), key=lambda rule: hits[rule])
    later = share_of((end_ms, _names(best, end_ms) == up) for end_ms, up in before)
    good = sum(number >= GOOD for number in hits)
    chance_of_good = sum(comb(TOSSES, right) for right in range(GOOD, TOSSES + 1)) / 2**TOSSES
    return (
        Ask(
            f"A hundred rules toss a coin for each hour: does {NAME} rise or fall? Of its last {TOSSES} hours, how "
            "many did the best of them get right?",
            f"{hits[best]} of {TOSSES}, though no rule knows anything. Luck alone gives the best of a hundred about "
            f"{expected_best():.0f}.",
            Guess(hits[best], 0, TOSSES, 1, f"{{}} of {TOSSES}"),
            rules_chart(hits),
        ),
        Ask(
            "How often was that best rule right in the hours of the month before these?",
            f"{counted(later)}. {remark('best_rule', later, 50)}",
            share_guess(later),
        ),
        Ask(
            f"How many of the hundred rules were right in {GOOD} or more of {TOSSES} hours?",
            f"{good}. Chance gives {100 * chance_of_good:.0f} on average. Whoever shows you one of them has not shown "
            "you the others.",
            Guess(good, 0, RULES, 1, "{} rules"),
        ),
        few,
    )


@lru_cache(maxsize=RULES)
def _tosses(rule: int) -> int:
    """Return the coins of a rule as the bits of a number: always the same ones, and like those of no other rule."""
    return int.from_bytes(hashlib.shake_256(f"rule {rule}".encode()).digest(_BITS // 8))


def _hits(rule: int, rose: Sequence[tuple[int, bool]]) -> int:
    """Count the hours in which the coin of a rule named its side."""
    return sum(_names(rule, end_ms) == up for end_ms, up in rose)


def _names(rule: int, end_ms: int) -> bool:
    """Return whether the coin of a rule names up for an hour."""
    return _tosses(rule) >> (end_ms // HOUR_MS % _BITS) & 1 == 1


def expected_best() -> float:
    """Return how many the best of all rules gets right on average, if each tosses a fair coin.

    >>> round(expected_best(), 1)
    21.8
    """
    at_most = 0.0
    mean = 0.0
    for right in range(TOSSES):
        at_most += comb(TOSSES, right) / 2**TOSSES
        mean += 1 - at_most**RULES
    return mean


def rules_chart(hits: Sequence[int]) -> Chart:
    """Draw how many rules were right how often."""
    rows = []
    for low, high in _GROUPS:
        number = sum(low <= right <= high for right in hits)
        label = f"{low} to {high}" if high < TOSSES else f"{low} or more"
        rows.append(Row(label, float(number), f"{number} rules"))
    caption = Caption(
        name="rules",
        finding=f"How many of {len(hits)} rules that know nothing were right in so many of {TOSSES} hours",
        desc="A bar for each number of hours that were right, with the number of rules.",
        source=PRICES,
        columns=("Hours right", "Rules"),
    )
    return row_chart(caption, "rules", rows, bars=True)


def silence(facts: Facts) -> tuple[Ask, ...]:
    """Ask when a forecast should name an outcome."""
    judged, tested = facts.judged()
    calls = [prediction.call for prediction in judged if prediction.call is not None]
    silent = share_of(
        (prediction.start_ms, prediction.call is Call.NONE) for prediction in judged if prediction.call is not None
    )
    by_a_hair = Ask(
        "A forecast gives 35 in 100 to up, 33 to a small move and 32 to down. Should it say “up”?",
        "No: it would be wrong in 65 of 100 such cases, and its chances say all that it knows.",
    )
    if not calls:
        return (by_a_hair,)

    return in_words(
        (
            Ask(
                f"In how many of its last {len(calls):,} hourly forecasts{tested} did the brain name no outcome?",
                f"{counted(silent)}. It gave its chances in all of them.",
                share_guess(silent),
                calls_chart(calls),
            ),
            by_a_hair,
            _likelier_side(judged, tested),
            _lead(judged, tested),
        )
    )


def calls_chart(calls: Sequence[Call]) -> Chart:
    """Draw what the forecasts named."""
    rows = []
    for call, words in _CALLS:
        number = calls.count(call)
        rows.append(Row(words, float(number), f"{number:,} of {len(calls):,}"))
    caption = Caption(
        name="calls",
        finding=f"What the last {len(calls):,} hourly forecasts named",
        desc="A bar for each outcome that was named, and for none, with the number of forecasts.",
        source=OWN_RECORD,
        columns=("Named", "Forecasts"),
    )
    return row_chart(caption, "forecasts", rows, bars=True)


def _likelier_side(judged: Sequence[PredictionMade], tested: str) -> Ask | None:
    """Ask how often the likelier side would have been right, had it been named each time."""
    right = []
    opposite = []
    for prediction in judged:
        down, _, up = prediction.probabilities
        # With equal chances there is no likelier side to be right with.
        if prediction.outcome is None or up == down:
            continue
        likelier = Prediction.BULLISH if up > down else Prediction.BEARISH
        right.append((prediction.start_ms, prediction.outcome == likelier))
        opposite.append((prediction.start_ms, prediction.outcome not in {likelier, Prediction.NEUTRAL}))
    if not right:
        return None

    named = share_of(right)
    return Ask(
        f"Had the brain named the likelier of up and down every time{tested}, how often would it have been right?",
        f"{counted(named)}; the opposite happened in {counted(share_of(opposite))}, and a small move in the others. "
        f"{_difference(right, opposite)}",
        share_guess(named),
    )


def _difference(right: Sequence[Case], opposite: Sequence[Case]) -> str:
    """Say whether the likelier side was right more often than the other, by the hours as blocks."""
    # Hours in a row, and coins in one hour, are not independent cases.
    lead = in_blocks(
        (start_ms, int(was_right) - int(was_opposite), 1)
        for (start_ms, was_right), (_, was_opposite) in zip(right, opposite, strict=True)
    )
    half = lead.half_width()
    if half is None:
        return "Too few to say more."
    difference = lead.above / lead.below
    if abs(difference) <= half:
        return "Their difference may well be luck: it gives no reason to follow that side, nor to bet against it."
    return f"Their difference is more than luck easily gives. {LUCK_AT_TIMES}"


def _lead(judged: Sequence[PredictionMade], tested: str) -> Ask | None:
    """Ask by how much one side led in the median forecast."""
    leads = [100 * abs(prediction.probabilities[2] - prediction.probabilities[0]) for prediction in judged]
    if not leads:
        return None
    typical = median(leads)
    sides = fmean(prediction.probabilities[0] + prediction.probabilities[2] for prediction in judged)
    needed = ""
    if round(typical, 1):
        hours = sides * (Z_95 / (typical / 100)) ** 2
        needed = f" If that lead is true, it takes about {quantity(_two_digits(hours), 'separate hour')} to show."
    return Ask(
        f"By how many points in 100 did the likelier side lead in the median forecast{tested}?",
        f"{typical:.1f}.{needed}",
        Guess(typical, 0, max(20.0, typical), 0.5, "{} points"),
    )


def _two_digits(value: float) -> int:
    """Round to two significant digits.

    >>> _two_digits(2_471.0), _two_digits(7.4)
    (2500, 7)
    """
    return int(float(f"{value:.1e}")) if value >= 100 else round(value)
