"""The daily question: where Bitcoin will be at 13:00 UTC, as a 50% and a 90% range of its move, apart from rounds.

Asked at 13:00 on the day that its id names, it takes answers until 12:00 the next day, and is measured at 13:00 of the
day after that. Ranges are whole hundredths of a percent of `base`, the price published when it was asked: mostly a move
over 48 hours. A question that was asked under the earlier rule has no `base`; its ranges count from the price at 12:00.

What the brain expects and what a usual day gives are sealed when it is asked, and opened when answers close. As answers
may wait for the close and so know more, both are made again then, and answers are compared with these. A question
whose price cannot be had when it is due is not asked; one whose price cannot be had later is void, with its reason.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from math import isfinite, sqrt
from operator import attrgetter
from typing import Any, Final, NamedTuple

from gateway.wire.daily import ASKED_AT, CLOSES_AFTER, MEASURED_AFTER, Ends, is_sound
from generator.arena.ballots import digest_of_ballots
from generator.arena.inputs import PlayInputs
from generator.arena.outcome import fix_price
from generator.arena.published import digest_of
from generator.arena.ranges import move_percent
from generator.arena.ranks import UNITS, Calendar, Entrant, Place, ranking
from generator.arena.rates import ENOUGH
from generator.arena.scoring import NORMAL_50, NORMAL_90
from generator.arena.sealed import Life
from generator.arena.voters import PLACES, shortened
from generator.catalog.durations import DAY_MS
from generator.catalog.formats import iso, ms_of, rounded
from generator.catalog.text.figures import count
from generator.catalog.words import RoundPhase
from generator.values.questions import DailyQuestion
from generator.values.ranges import MoveRange
from generator.values.rows import (
    DailyPlace,
    DailyRanking,
    PublishedQuestion,
    QuestionScores,
    RangeEnds,
    RangesAtClose,
    SealedQuestion,
)

ASSET: Final = "BTC"
ASKED_AT_MS: Final = round(ASKED_AT.total_seconds() * 1000)
CLOSES_AFTER_MS: Final = round(CLOSES_AFTER.total_seconds() * 1000)
MEASURED_AFTER_MS: Final = round(MEASURED_AFTER.total_seconds() * 1000)
NORMAL_90_TO_50: Final = NORMAL_90 / NORMAL_50  # how much wider a normal distribution's 90% range is than its 50% range
HORIZON: Final = "24h"  # of the brain's published ranges, which are widened to the time until it is measured
RANKING_NOTE: Final = (
    "Places go by the lower end of the 95% interval of what a voter's ranges saved against a usual day per question "
    "since the first answer; a question left out saved nothing. "
    f"A place needs {count(ENOUGH, 'answer')}."
)
NOT_EXPECTED: Final = "no ranges when answers closed"

ENDS: Final = ("low_90", "low_50", "high_50", "high_90")


DailyChange = tuple[DailyQuestion | None, DailyQuestion]
"""A question before a tick, None where it is new, and after it."""
Answers = Mapping[str, Ends]
"""The answers to one question that count, one a voter, by transaction id."""


class DailyState(NamedTuple):
    """What the memory holds of daily questions before a tick."""

    active: tuple[DailyQuestion, ...] = ()  # those that are not over
    is_asked: bool = False  # whether the question that takes answers now was asked before
    answers: Callable[[str], Answers] = lambda _question_id: {}


def question_id_of(day: int) -> str:
    """Name the question that is asked on a UTC day, by the day's number since 1970.

    >>> question_id_of(20_781)
    'BTC-DAILY-20261124'
    """
    return f"{ASSET}-DAILY-{datetime.fromtimestamp(day * DAY_MS / 1000, UTC):%Y%m%d}"


def day_now(now_ms: int) -> int | None:
    """Return the day whose question takes answers; None in the hour between two of them."""
    day = (now_ms - ASKED_AT_MS) // DAY_MS
    return day if now_ms < closes_ms_of(day) else None


def closes_ms_of(day: int) -> int:
    """Return when the question of a day takes no more answers."""
    return day * DAY_MS + ASKED_AT_MS + CLOSES_AFTER_MS


def score(ends: Ends, move: float) -> float:
    """Return the mean interval score of both ranges in percentage points, four decimals; smaller is better.

    >>> score((-120, -40, 35, 110), 0.5)
    1.825
    """
    return rounded(MoveRange(*(end / 100 for end in ends)).score(move), 4)


def named(ends: Ends) -> RangeEnds:
    """Name the four ends, as they are published."""
    low_90, low_50, high_50, high_90 = ends
    return {"low_90": low_90, "low_50": low_50, "high_50": high_50, "high_90": high_90}


def closing_of(question: DailyQuestion) -> RangesAtClose | None:
    """Return what brain and usual day gave when answers closed; None before, and under the earlier rule."""
    if question.closing_brain is None or question.closing_usual is None:
        return None
    return {"brain": named(question.closing_brain), "usual_day": named(question.closing_usual)}


def forecast_of(question: DailyQuestion) -> SealedQuestion:
    """Return what is sealed of a question, as it is opened when answers close."""
    return {
        "question_id": question.question_id,
        "closes": iso(question.closes_ms),
        "measured": iso(question.measured_ms),
        "brain": named(question.brain),
        "usual_day": named(question.usual),
    }


def published_question(question: DailyQuestion) -> PublishedQuestion:
    """Return one row of `/arena/daily.json`: what is sealed stays closed while answers are taken."""
    is_open = question.phase is RoundPhase.OPEN

    # What would open the seal is null until answers close.
    return {
        "question_id": question.question_id,
        "asset": ASSET,
        "phase": question.phase,
        "asked": iso(question.asked_ms),
        "closes": iso(question.closes_ms),
        "measured": iso(question.measured_ms),
        "commitment": question.commitment,
        "base": question.base_price,
        "forecast": None if is_open else forecast_of(question),
        "salt": None if is_open else question.salt,
        "price_basis": question.price_basis,
        "start_price": question.start_price,
        "closing": closing_of(question),
        "end_price": question.end_price,
        "move": question.move,
        "answers": question.answers,
        "answers_sha256": question.answers_sha256,
        "scores": scores_of(question),
        "void_reason": question.void_reason,
    }


def scores_of(question: DailyQuestion) -> QuestionScores | None:
    """Return the scores of a measured question: the brain's, the usual day's, and the mean of the answers'.

    The first two are of the close, as answers are compared with them; those of the sealed ranges follow.
    """
    if question.move is None:
        return None

    brain, usual = question.compared
    scores: QuestionScores = {
        "brain": score(brain, question.move),
        "usual_day": score(usual, question.move),
        "people": question.people,
    }
    if question.base_price is not None:
        scores["brain_when_asked"] = score(question.brain, question.move)
        scores["usual_day_when_asked"] = score(question.usual, question.move)
    return scores


def question_of_row(row: Mapping[str, Any]) -> DailyQuestion:
    """Read a question that is closed, measured or void out of its row."""
    forecast = row["forecast"]
    closing = row.get("closing")

    return DailyQuestion(
        question_id=row["question_id"],
        asked_ms=ms_of(row["asked"]),
        closes_ms=ms_of(row["closes"]),
        measured_ms=ms_of(row["measured"]),
        brain=ends_of(forecast["brain"]),
        usual=ends_of(forecast["usual_day"]),
        salt=row["salt"],
        commitment=row["commitment"],
        base_price=row.get("base"),
        phase=RoundPhase(row["phase"]),
        start_price=row["start_price"],
        closing_brain=None if closing is None else ends_of(closing["brain"]),
        closing_usual=None if closing is None else ends_of(closing["usual_day"]),
        end_price=row["end_price"],
        price_basis=row["price_basis"],
        move=row["move"],
        void_reason=row["void_reason"],
        answers=row["answers"],
        answers_sha256=row["answers_sha256"],
        people=None if row["scores"] is None else row["scores"]["people"],
    )


def ends_of(named_ends: Mapping[str, int]) -> Ends:
    """Read four named ends; ValueError where they are no two ranges."""
    low_90, low_50, high_50, high_90 = (named_ends[name] for name in ENDS)
    ends = (low_90, low_50, high_50, high_90)
    if not is_sound(ends):
        raise ValueError("these are not a 50% range inside a 90% range")
    return ends


def times_complaint(row: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the times of a row, which follow from its name; None where they hold."""
    day = ms_of(row["closes"]) // DAY_MS - 1
    if row["question_id"] != question_id_of(day) or row["asset"] != ASSET:
        return "question_id does not name the day that it was asked on"
    closes_ms = closes_ms_of(day)
    if (ms_of(row["closes"]), ms_of(row["measured"])) != (closes_ms, closes_ms + MEASURED_AFTER_MS):
        return "it closes or is measured at another time than its day gives"
    if not day * DAY_MS + ASKED_AT_MS <= ms_of(row["asked"]) < closes_ms:
        return "it was not asked in its time"
    return None


def complaint_of(row: Mapping[str, Any]) -> str | None:
    """Recompute everything in a row that can be recomputed; return what does not agree, or None.

    A row of another form is a complaint too, never an exception.
    """
    try:
        complaint = times_complaint(row)
        if complaint is not None or row["phase"] == RoundPhase.OPEN:
            return complaint
        return _opened_complaint(row, question_of_row(row))
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, OverflowError) as error:
        return f"row is not of the published form ({type(error).__name__}: {error})"


def _opened_complaint(row: Mapping[str, Any], question: DailyQuestion) -> str | None:
    if row["forecast"] != forecast_of(question):
        return "the sealed forecast is of another question"
    if digest_of(row["forecast"], question.salt) != question.commitment:
        return "forecast and salt do not give the commitment"
    if question.phase is RoundPhase.VOID:
        return None if question.void_reason else "void without a reason"
    if (question.base_price is None) != (question.closing_brain is None):
        return "ranges of the close stand with a base, and only with one"
    if question.phase is RoundPhase.LIVE:
        return None if question.start_price is not None else "closed without a price"
    return _measured_complaint(row, question)


def _measured_complaint(row: Mapping[str, Any], question: DailyQuestion) -> str | None:
    begin = question.counted_from
    end = question.end_price
    if question.phase is not RoundPhase.RESOLVED or question.start_price is None or begin is None or end is None:
        return f"phase {row['phase']!r} without both prices"
    move = move_percent(begin, end)
    if move != question.move:
        return f"move is {question.move}, the prices give {move}"
    if row["scores"] != scores_of(question):
        return f"scores are {row['scores']}, the ranges give {scores_of(question)}"
    return None


def ask(inputs: PlayInputs, day: int) -> DailyQuestion | None:
    """Ask the question of a day and seal what the brain expects of the time until it is measured.

    Returns:
        None where there is no price to publish, the brain has no ranges, or no day is usual yet: a later tick may ask.
    """
    base, _ = fix_price(inputs.prices, ASSET, inputs.venues_needed, "start", 0)
    closes_ms = closes_ms_of(day)
    measured_ms = closes_ms + MEASURED_AFTER_MS
    forecasts = None if base is None else expected(inputs, base, base, measured_ms)
    if forecasts is None:
        return None

    brain, usual = forecasts
    question = DailyQuestion(
        question_id=question_id_of(day),
        asked_ms=inputs.now_ms,
        closes_ms=closes_ms,
        measured_ms=measured_ms,
        brain=brain,
        usual=usual,
        salt=inputs.salt(),
        commitment="",
        base_price=base,
    )
    return replace(question, commitment=digest_of(forecast_of(question), question.salt))


def expected(inputs: PlayInputs, price: float, base: float, measured_ms: int) -> tuple[Ends, Ends] | None:
    """Return the brain's ranges and a usual day's of the price when it is measured; None without either.

    Moves spread as the square root of time: the brain's 24-hour ranges and the usual day are widened by it. Half of all
    usual days move less than the median one, which is its 50% range.

    Args:
        inputs: of the tick.
        price: now, USD.
        base: USD; the ranges are in hundredths of a percent of it.
        measured_ms: when the question is measured.
    """
    day = inputs.ranges.get(ASSET, {}).get(HORIZON)
    if day is None or inputs.usual_day is None or not isfinite(inputs.usual_day) or inputs.usual_day <= 0:
        return None

    half = 100 * inputs.usual_day
    nine = half * NORMAL_90_TO_50
    usual_day = MoveRange(-nine, -half, half, nine)
    longer = sqrt((measured_ms - inputs.now_ms) / DAY_MS)
    brain, usual = (_of_base(ranges, longer, price / base) for ranges in (day, usual_day))
    return (brain, usual) if is_sound(brain) and is_sound(usual) else None


def _of_base(day: MoveRange, longer: float, ratio: float) -> Ends:
    """Return ranges of a day, widened, in hundredths of a percent of a base that the price now is `ratio` times."""
    low_90, low_50, high_50, high_90 = (round(10_000 * (ratio * (1 + longer * end / 100) - 1)) for end in day.ends)
    return (low_90, low_50, high_50, high_90)


def play_daily(state: DailyState, inputs: PlayInputs, published_ms: int | None) -> tuple[DailyChange, ...]:
    """Move the questions that are not over on by one tick, and ask today's. The same tick again changes nothing.

    A backtest has no questions.

    Args:
        state: what is stored of them.
        inputs: of the tick.
        published_ms: wall time of the last release.
    """
    if inputs.warm_up:
        return ()
    life: Life[DailyQuestion] = Life(attrgetter("asked_ms"), _opens_ms, partial(_judge, state.answers), void)
    changes: list[DailyChange] = [(question, life.moved(question, inputs, published_ms)) for question in state.active]

    day = day_now(inputs.now_ms)
    if day is not None and not state.is_asked and inputs.interrupted is None:
        asked = ask(inputs, day)
        if asked is not None:
            changes.append((None, asked))
    return tuple((before, after) for before, after in changes if before != after)


def _opens_ms(question: DailyQuestion) -> int | None:
    return question.closes_ms if question.phase is RoundPhase.OPEN else None


def _judge(answers: Callable[[str], Answers], question: DailyQuestion, inputs: PlayInputs) -> DailyQuestion:
    if question.phase is RoundPhase.OPEN and inputs.now_ms >= question.closes_ms:
        return _close(question, answers(question.question_id), inputs)
    if question.phase is RoundPhase.LIVE and inputs.now_ms >= question.measured_ms:
        return _measure(question, answers(question.question_id), inputs)
    return question


def _close(question: DailyQuestion, answers: Answers, inputs: PlayInputs) -> DailyQuestion:
    late_ms = inputs.now_ms - question.closes_ms

    # What was asked under the earlier rule counts from the price of the minute in which answers close.
    price, reason = fix_price(inputs.prices, ASSET, inputs.venues_needed, "start", late_ms)
    if price is None:
        return void(question, reason or "no start price")

    if question.base_price is not None:
        forecasts = expected(inputs, price, question.base_price, question.measured_ms)
        if forecasts is None:
            return void(question, NOT_EXPECTED)
        brain, usual = forecasts
        question = replace(question, closing_brain=brain, closing_usual=usual)

    return replace(
        question,
        phase=RoundPhase.LIVE,
        start_price=price,
        price_basis=inputs.price_basis,
        answers=len(answers),
        answers_sha256=digest_of_ballots(answers),
    )


def _measure(question: DailyQuestion, answers: Answers, inputs: PlayInputs) -> DailyQuestion:
    late_ms = inputs.now_ms - question.measured_ms
    price, reason = fix_price(inputs.prices, ASSET, inputs.venues_needed, "end", late_ms)
    begin = question.counted_from
    if price is None or begin is None:
        return void(question, reason or "no start price")
    move = move_percent(begin, price)
    people = mean_score([score(ends, move) for ends in answers.values()])
    return replace(question, phase=RoundPhase.RESOLVED, end_price=price, move=move, people=people)


def saved_of(question: DailyQuestion, ends: Ends) -> int | None:
    """Return what an answer saved against a usual day of the close, in 10^-4 percentage points.

    None without a move, or where the question has no base: it is in no rank.
    """
    if question.move is None or question.base_price is None:
        return None

    _, usual = question.compared
    return round(UNITS * score(usual, question.move)) - round(UNITS * score(ends, question.move))


def ranked(entrants: Iterable[Entrant], closes_ms: Sequence[int]) -> DailyRanking | None:
    """Rank those who answered; None before a question with a base was measured.

    Args:
        entrants: everyone who answered one.
        closes_ms: when each of these questions closed, in order.
    """
    if not closes_ms:
        return None
    answers = {entrant.address: entrant for entrant in entrants}
    ranks = ranking(answers.values(), Calendar(closes_ms), PLACES)

    return {
        "places": [_place(place, answers[place.address].saved.answers) for place in ranks.places],
        "voters": ranks.entrants,
        "too_early": ranks.too_early,
        "note": RANKING_NOTE,
    }


def _place(place: Place, answers: int) -> DailyPlace:
    rank = place.rank

    return {
        "place": place.place,
        "voter": shortened(place.address),
        "answers": answers,
        "questions": rank.asked,
        "saved": rank.saved.value,
        "low": rank.saved.low or 0.0,
        "high": rank.saved.high or 0.0,
        "luck": rank.luck,
        "beyond_luck": rank.beyond_luck,
    }


def void(question: DailyQuestion, reason: str) -> DailyQuestion:
    """End a question that cannot count."""
    return replace(question, phase=RoundPhase.VOID, void_reason=reason)


def mean_score(scores: Sequence[float]) -> float | None:
    """Return the mean of the answers' scores, four decimals, the same in any order; None without an answer."""
    units = sum(round(10_000 * score) for score in scores)
    return rounded(units / 10_000 / len(scores), 4) if scores else None
