"""What the page of the daily question shows: the question now, prices to judge from, and what came of earlier ones."""

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite, sqrt
from statistics import pstdev
from typing import Final, NamedTuple

from gateway.wire.daily import MOST
from generator.arena.daily import ASSET, closes_ms_of, day_now, scores_of
from generator.arena.rates import ENOUGH
from generator.arena.scoring import NORMAL_50, NORMAL_90
from generator.catalog.durations import DAY_MS, HOUR_MS, MINUTE_MS
from generator.catalog.formats import iso, moment
from generator.catalog.text.figures import count, minus, price, signed
from generator.catalog.words import RoundPhase
from generator.compose.tick import Tick
from generator.site.charts.day import DayPicture, Yesterday, day_picture, yesterday
from generator.values.questions import DailyQuestion
from generator.values.rows import DailyPlace, DailyRanking

HOURS_SHOWN: Final = 48
ROWS: Final = 30
WIDEST: Final = 16  # a range reaches so many times the spread of an hour to either side, about 2.3 of 48 hours
STEP: Final = 5  # hundredths of a percent, as an arrow key moves an end
LEAST: Final = 400  # hundredths of a percent
NOT_ASKED: Final = "No question takes answers now: the brain has no ranges, or too few days to tell a usual one."
FIRST: Final = "No question has ended yet."
NO_RANKS: Final = f"A place needs {count(ENOUGH, 'answer')}; none has been measured yet."
ANSWERED_BEFORE: Final = "What you answer today is drawn here once it has ended."
HELP: Final = "Half of such days should end in the inner band, nine in ten in the outer one."


class DailyRow(NamedTuple):
    """One question that is over, or waits for its price; `why` stands for the figures where there are none."""

    id: str
    why: str = ""
    move: str = ""
    brain: str = ""
    usual: str = ""
    answers: str = ""
    people: str = ""


class DailyRank(NamedTuple):
    """One place of the ranking."""

    voter: str
    place: str
    answers: str
    saved: str
    between: str
    luck: str


class Daily(NamedTuple):
    """The question now, and what came of earlier ones; what belongs to an open question is empty without one."""

    title: str
    help: str
    question_id: str
    closes: str
    closes_at: str
    commitment: str | None
    next: str
    now: str
    picture: DayPicture | None
    most: int
    begin: str  # the four ends that the bands begin with, in hundredths of a percent of the base
    yesterday: Yesterday | None
    rows: tuple[DailyRow, ...]
    ranks: tuple[DailyRank, ...]
    ranking: str
    first: str


def daily_source(ctx: Tick) -> tuple[object, ...]:
    """Return what the page is made from: it changes with a question, and each hour with the prices."""
    return (ctx.arena.daily, ctx.arena.daily_ranking, ctx.freshness.generated_ms // HOUR_MS)


def daily_view(ctx: Tick) -> Daily:
    """Return what pages/daily.html reads as `daily`."""
    now_ms = ctx.freshness.generated_ms
    questions = ctx.arena.daily
    open_question = next((question for question in questions if question.phase is RoundPhase.OPEN), None)
    prices = hourly_prices(ctx)
    price_now = ctx.seen[ASSET].price
    base = None if open_question is None else open_question.base_price
    off = 0.0 if base is None or price_now is None else 10_000 * (price_now / base - 1)
    most = reach(prices, off)
    measured = _foot(open_question) if open_question else ""
    over = [question for question in questions if question is not open_question]

    picture = day_picture(ctx, most, measured, base)
    begin = ""
    if open_question is not None and picture is not None:
        begin = begin_ends(prices, open_question.measured_ms - now_ms, off, most)
    past = next((yesterday(question) for question in over if question.move is not None), None)

    return Daily(
        title=title(open_question, now_ms),
        help=HELP,
        question_id=open_question.question_id if open_question else "",
        closes=_time(open_question.closes_ms, now_ms) if open_question else "",
        closes_at=iso(open_question.closes_ms) if open_question else "",
        commitment=open_question.commitment if open_question else None,
        next=iso(_next_asked_ms(now_ms) + 5 * MINUTE_MS),
        now=now_words(open_question, now_ms),
        picture=picture,
        most=most,
        begin=begin,
        yesterday=past,
        rows=tuple(row_of(question, now_ms) for question in over[:ROWS]),
        ranks=tuple(map(_rank, ctx.arena.daily_ranking["places"] if ctx.arena.daily_ranking else ())),
        ranking=ranking_words(ctx.arena.daily_ranking),
        first=_first(past, open_question, now_ms),
    )


def title(question: DailyQuestion | None, now_ms: int) -> str:
    """Return the question as it is asked, with the day by its name where it is tomorrow."""
    if question is None:
        return "The daily question: where will Bitcoin be?"
    measured = moment(question.measured_ms)
    day = f"{measured:%A}, {measured.day} {measured:%B}"
    if question.measured_ms // DAY_MS == now_ms // DAY_MS + 1:
        day = f"tomorrow, {day}"
    return f"Where will Bitcoin be at 13:00 UTC {day if day.startswith('tomorrow') else f'on {day}'}?"


def now_words(question: DailyQuestion | None, now_ms: int) -> str:
    """Say which question takes answers until when, and when it is measured."""
    if question is None and day_now(now_ms) is not None:
        return NOT_ASKED
    if question is None:
        return f"The next question is asked at {_time(_next_asked_ms(now_ms), now_ms)}."
    begin = "the price then"
    if question.base_price is not None:
        begin = f"{price(question.base_price)}, the price when it was asked,"
    return (
        f"{question.question_id} takes answers until {_time(question.closes_ms, now_ms)}. The move from {begin} "
        f"to that of {_time(question.measured_ms, now_ms)} is what counts."
    )


def _first(past: Yesterday | None, question: DailyQuestion | None, now_ms: int) -> str:
    """Say when the first question ends; with one that has, where today's answer will be."""
    if past is not None:
        return ANSWERED_BEFORE
    if question is None:
        return FIRST
    return f"No question has ended yet; the first does at {_time(question.measured_ms, now_ms)}."


def _foot(question: DailyQuestion) -> str:
    """Name the column of the picture on which a question is answered."""
    return f"{moment(question.measured_ms):%a %H:%M}"


def _next_asked_ms(now_ms: int) -> int:
    day = day_now(now_ms)
    if day is None:
        day = now_ms // DAY_MS - 1
    return closes_ms_of(day) + HOUR_MS


def _time(at_ms: int, now_ms: int) -> str:
    at = moment(at_ms)
    if at_ms // DAY_MS == now_ms // DAY_MS:
        return f"{at:%H:%M} UTC today"
    return f"{at:%H:%M} UTC on {at.day} {at:%B}"


def row_of(question: DailyQuestion, now_ms: int) -> DailyRow:
    """Return one row of what came."""
    name = question.question_id
    if question.phase is RoundPhase.VOID:
        return DailyRow(name, f"void: {question.void_reason}")
    scores = scores_of(question)
    if scores is None:
        answers = count(question.answers or 0, "answer")
        return DailyRow(name, f"{answers}; measured at {_time(question.measured_ms, now_ms)}")

    people = scores["people"]
    return DailyRow(
        name,
        move=signed(question.move),
        brain=f"{scores['brain']:.2f}",
        usual=f"{scores['usual_day']:.2f}",
        answers=str(question.answers or 0),
        people="none" if people is None else f"{people:.2f}",
    )


def _rank(place: DailyPlace) -> DailyRank:
    return DailyRank(
        voter=place["voter"],
        place=str(place["place"]),
        answers=f"{place['answers']} of {place['questions']}",
        saved=minus(f"{place['saved']:+.2f}"),
        between=minus(f"{place['low']:+.2f} to {place['high']:+.2f}"),
        luck=f"{place['luck']:.2f}",
    )


def ranking_words(ranking: DailyRanking | None) -> str:
    """Say how places are given, and how good the best looks by luck alone."""
    if ranking is None or not ranking["voters"]:
        return NO_RANKS
    words = f"{ranking['note']} {count(ranking['voters'], 'voter')} so far, {ranking['too_early']} with too few."
    if not ranking["places"]:
        return words
    luck = f"{ranking['places'][0]['luck']:.2f}"
    return f"{words} By luck alone, with no skill at all, the best of so many would save up to {luck}."


def hourly_prices(ctx: Tick) -> list[float]:
    """Return Bitcoin's closes of the last full hours, the last one being 100; fewer where some are unknown."""
    bars = ctx.bars
    if bars is None or not len(bars):
        return []
    closes = bars.fields["close"][:, bars.assets.index(ASSET)].tolist()
    closed_ms = (bars.t + bars.interval_ms).tolist()
    on_the_hour = [price for at, price in zip(closed_ms, closes, strict=True) if at % HOUR_MS == 0 and isfinite(price)]
    known = on_the_hour[-HOURS_SHOWN:]
    return [round(100 * price / known[-1], 2) for price in known]


def reach(prices: Sequence[float], off: float = 0.0) -> int:
    """Return how far ranges can be set, in hundredths of a percent of the base.

    Args:
        prices: of `hourly_prices`.
        off: how far the price now is from the base, likewise; there must be room around it too.
    """
    room = 2 * LEAST
    if len(prices) >= HOURS_SHOWN:
        room = max(LEAST, round(WIDEST * _spread(prices)) * 100)
    return min(MOST, room + 100 * round(abs(off) / 100))


def begin_ends(prices: Sequence[float], left_ms: int, off: float, most: int) -> str:
    """Return what the bands begin with: round the price now, as wide as hours like the last ones would spread.

    Whoever sends them as they are gives a fair answer by that, and nothing of the brain is in them.

    Args:
        prices: of `hourly_prices`.
        left_ms: until the question is measured.
        off: how far the price now is from the base, in hundredths of a percent.
        most: how far ranges can be set.
    """
    spread = most / 3.3  # so that the outer band reaches half of the way
    if len(prices) >= HOURS_SHOWN:
        spread = 100 * _spread(prices) * sqrt(left_ms / HOUR_MS)

    half = NORMAL_50 * spread
    nine = NORMAL_90 * spread
    ends = (STEP * round((off + far) / STEP) for far in (-nine, -half, half, nine))
    return " ".join(str(max(-most, min(most, end))) for end in ends)


def _spread(prices: Sequence[float]) -> float:
    """Return the spread of an hour's move, percent."""
    return pstdev(after - before for before, after in pairwise(prices))
