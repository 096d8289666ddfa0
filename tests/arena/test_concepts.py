"""What a finished round illustrates, and the sentences of its lesson."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from statistics import NormalDist

import pytest

from generator.arena.concepts import (
    FITS,
    LessonFacts,
    concept_of,
    explain,
    lead_of,
    likeliest,
    whole_percents,
)
from generator.arena.lessons import lesson_of
from generator.arena.scores import brier
from generator.catalog.discovery import PAGES
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.concepts import CONCEPTS, chapter_of
from generator.catalog.text.lessons import HoursOnRecord
from generator.catalog.words import Call, Concept, Prediction, RoundPhase
from generator.site.words.lessons import chosen
from generator.values.rounds import Lesson, Round
from generator.values.votes import Tally
from tests.arena.test_sealing import an_open_round
from tests.support.arena_inputs import NOON

SATURDAY_NOON = 1_763_812_800_000  # 2025-11-22 12:00 UTC
MONDAY_NOON = SATURDAY_NOON + 48 * HOUR_MS
UP, SMALL, DOWN = Prediction.BULLISH, Prediction.NEUTRAL, Prediction.BEARISH
NO_ONE = Tally()


def a_round(
    change_bps: float = 50.0,
    chances: tuple[float, float, float] = (0.41, 0.13, 0.46),
    base_rate: tuple[float, float, float] | None = (0.33, 0.35, 0.32),
    start_ms: int = MONDAY_NOON,
    **other: object,
) -> Round:
    """Return a resolved hour with a band of 10 bps."""
    outcome = SMALL
    if abs(change_bps) > 10.0:
        outcome = UP if change_bps > 0 else DOWN
    played = replace(
        an_open_round(),
        start_ms=start_ms,
        end_ms=start_ms + HOUR_MS,
        phase=RoundPhase.RESOLVED,
        probabilities=chances,
        base_rate=base_rate,
        band_bps=10.0,
        change_bps=change_bps,
        outcome=outcome,
        call=Call.NONE,
        prediction=SMALL,
        previous=None,
    )
    return replace(played, **other)  # type: ignore[arg-type]


def facts(
    votes: Tally = NO_ONE, others: tuple[float, ...] = (), record: HoursOnRecord | None = None, **played: object
) -> LessonFacts:
    return LessonFacts(a_round(**played), votes, others, record)  # type: ignore[arg-type]


def hours(as_large: int, usual: float = 0.15, known: int = 9_912) -> HoursOnRecord:
    """Return a record by which a move of 0.70% has 3.1 standard deviations; a normal curve expects 16 such hours."""
    return HoursOnRecord(known, as_large, usual)


@pytest.mark.parametrize(
    ("concept", "fitting", "other"),
    [
        (Concept.FAT_TAILS, facts(change_bps=70.0, record=hours(50)), facts(change_bps=66.0, record=hours(70))),
        (Concept.FAT_TAILS, facts(change_bps=-70.0, record=hours(50)), facts(change_bps=70.0, record=hours(40))),
        (Concept.FAT_TAILS, facts(change_bps=70.0, record=hours(50)), facts(change_bps=70.0)),
        (Concept.FAT_TAILS, facts(change_bps=450.0, record=hours(3)), facts(change_bps=450.0, record=hours(2))),
        (Concept.FAT_TAILS, facts(change_bps=450.0, record=hours(3)), facts(change_bps=450.0, record=hours(3, 0.0))),
        (
            Concept.FAT_TAILS,
            facts(change_bps=450.0, record=hours(3, known=336)),
            facts(change_bps=450.0, record=hours(3, known=335)),
        ),
        (Concept.CROWD_BIAS, facts(Tally(5, 3, 2)), facts(Tally(4, 3, 2))),  # ten votes and nine
        (Concept.CROWD_BIAS, facts(Tally(3, 5, 2)), facts(Tally(4, 3, 3))),  # 17 and 8 above the base rate
        (
            Concept.CROWD_BIAS,
            facts(Tally(12, 10, 10), base_rate=(0.4, 0.375, 0.225)),  # 37.5% and 15 more than usual
            facts(Tally(12, 10, 10), base_rate=(0.4, 0.37, 0.23)),
        ),
        (Concept.BAND_WIDTH, facts(change_bps=12.5), facts(change_bps=12.6)),
        (Concept.BAND_WIDTH, facts(change_bps=-7.5), facts(change_bps=0.0, band_bps=0.0)),
        (Concept.CORRELATION, facts(others=(1, 1, 1, 1, -1)), facts(others=(1, 1, 1, -1, -1))),
        (Concept.CORRELATION, facts(others=(1, 1, 1, 1)), facts(others=(1, 1, 1))),
        (Concept.CORRELATION, facts(others=(-1, -1, -1, -1), change_bps=-50.0), facts(others=(1, 1, 1, 0, 0))),
        (Concept.LUCK, facts(chances=(0.33, 0.32, 0.35)), facts(chances=(0.30, 0.32, 0.38))),
        (Concept.LUCK, facts(chances=(0.32, 0.33, 0.35)), facts(chances=(0.35, 0.32, 0.33))),
        (Concept.REVERSION, facts(change_bps=5.0, previous=UP), facts(change_bps=5.0, previous=SMALL)),
        (Concept.REVERSION, facts(change_bps=5.0, previous=DOWN), facts(change_bps=50.0, previous=DOWN)),
        (Concept.REVERSION, facts(change_bps=5.0, previous=UP), facts(change_bps=5.0, previous=None)),
        (Concept.CLUSTERING, facts(previous=DOWN), facts(previous=SMALL)),
        (Concept.CLUSTERING, facts(previous=UP), facts(previous=UP, change_bps=5.0)),
        (Concept.CLUSTERING, facts(previous=UP), facts(previous=None)),
        (Concept.BASE_RATE, facts(base_rate=(0.3, 0.3, 0.4)), facts(base_rate=(0.4, 0.3, 0.3))),
        (Concept.NO_CALL, facts(call=Call.NONE), facts(call=Call.UP)),
    ],
)
def test_an_idea_fits_by_its_facts_and_not_just_beyond_them(
    concept: Concept, fitting: LessonFacts, other: LessonFacts
) -> None:
    assert FITS[concept](fitting)
    assert not FITS[concept](other)


def test_a_weekend_is_every_hour_of_saturday_and_sunday() -> None:
    hours = range(MONDAY_NOON, MONDAY_NOON + 7 * 24 * HOUR_MS, HOUR_MS)

    fitting = [ms for ms in hours if FITS[Concept.WEEKEND](facts(start_ms=ms))]

    assert fitting == [ms for ms in hours if datetime.fromtimestamp(ms / 1000, UTC).strftime("%a") in {"Sat", "Sun"}]


def test_every_idea_has_a_rule_and_a_text() -> None:
    assert set(FITS) == set(CONCEPTS) == set(Concept)
    assert len(Concept) == 12


def test_no_idea_returns_before_every_other_that_fits_had_its_turn() -> None:
    used: list[Concept] = []
    for hour in range(200):
        one = facts(start_ms=MONDAY_NOON + hour * HOUR_MS, previous=UP if hour % 3 else SMALL)
        fitting = {concept for concept, fits in FITS.items() if fits(one)}

        chosen = concept_of(one, tuple(dict.fromkeys(reversed(used))))

        since = used[len(used) - used[::-1].index(chosen) :] if chosen in used else used
        assert chosen in fitting
        assert fitting - {chosen} <= set(since) or chosen not in used
        used.append(chosen)


# Of an hour with a band of 10 bps in which the price rose by 70, worked out by hand.
FIGURES = {
    "usual_outcome": "a small move",
    "usual_chance": "35",
    "edge": "0.60",
    "band": "0.10",
    "lead": "5.0",
    "given": "46",
    "together": "4",
    "others": "6",
    "hours": "9,912",
    "as_large": "50",
    "by_normal": "16",  # 2 x 9,912 x the tail beyond 0.6745 x 0.70 / 0.15
    "crowd_outcome": "up",
    "crowd_votes": "9",
    "all_votes": "14",
    "crowd_base": "32",
}


@pytest.mark.parametrize("concept", Concept)
def test_every_idea_is_put_with_the_figures_of_the_round(concept: Concept) -> None:
    others = (1.0, 1.0, 1.0, 1.0, -1.0, 0.0)
    played = facts(Tally(9, 3, 2), others=others, record=hours(50), change_bps=70.0)
    text = CONCEPTS[concept]

    assert explain(concept, played) == (
        concept,
        text.point.format_map(FIGURES),
        text.question.format_map(FIGURES),
        text.answer.format_map(FIGURES),
    )


@pytest.mark.parametrize(("change_bps", "text"), [(70.0, " 16 of"), (86.0, " 1.1 of"), (450.0, " less than 0.1 of")])
def test_what_a_normal_curve_expects_is_what_it_gives(change_bps: float, text: str) -> None:
    explained = explain(Concept.FAT_TAILS, facts(change_bps=change_bps, record=hours(50)))

    tail = 2 * 9_912 * NormalDist().cdf(-0.6745 * change_bps / 15.0)
    assert f"expects{text} the 9,912 hours" in explained.point
    assert round(tail) == 16 or tail < 1.2


@pytest.mark.parametrize(
    ("chances", "percents"),
    [((0.41, 0.13, 0.46), (41, 13, 46)), ((0.335, 0.33, 0.335), (34, 33, 33)), ((0.0, 0.0, 1.0), (0, 0, 100))],
)
def test_whole_percents_add_to_100(chances: tuple[float, float, float], percents: tuple[int, int, int]) -> None:
    assert whole_percents(chances) == percents


def test_ranks_and_leads_of_chances() -> None:
    assert likeliest((0.41, 0.13, 0.46)) is UP
    assert likeliest((0.40, 0.40, 0.20)) is DOWN
    assert lead_of((0.41, 0.13, 0.46)) == pytest.approx(0.05)


def a_lesson(
    played: Round, votes: Tally = NO_ONE, simulated: Tally = NO_ONE, record: HoursOnRecord | None = None
) -> str:
    return lesson_of(played, votes, NOON, simulated=simulated, record=record).summary


def test_a_lesson_gives_the_move_how_rare_it_was_the_chances_and_the_score() -> None:
    score = brier((0.41, 0.13, 0.46), UP)
    base = brier((0.33, 0.35, 0.32), UP)

    assert a_lesson(a_round(change_bps=50.0), record=hours(340)) == (
        "Bitcoin rose 0.50% in the hour, beyond the band of 0.10%: up. "
        "Of the 9,912 hours on record before it, 340 moved as far or farther. "
        "Sealed before it: 46 in 100 for up, 13 for a small move, 41 for down. "
        f"Its Brier score is {score:.3f}, the base rate's {base:.3f}: better by {base - score:.3f}. No one voted."
    )


@pytest.mark.parametrize(
    ("played", "record", "part"),
    [
        (a_round(change_bps=0.4), hours(9_900), "Bitcoin hardly moved in the hour: a small move. Sealed"),
        (a_round(change_bps=-0.6), None, "Bitcoin fell 0.01% in the hour, inside the band of 0.10%: a small move."),
        (a_round(change_bps=9.5), hours(7_434), "inside the band of 0.10%: a small move. Sealed"),
        (a_round(change_bps=9.5), hours(7_433), "Of the 9,912 hours on record before it, 7,433 moved as far"),
        (a_round(change_bps=-1_700.0), hours(0), "None of the 9,912 hours on record before it moved as far."),
        (a_round(change_bps=-1_700.0), hours(0), "Bitcoin fell 17% in the hour, beyond the band of 0.10%: down."),
        (a_round(), hours(0, known=335), "up. Sealed"),
        (a_round(end_ms=MONDAY_NOON + HOUR_MS // 4), None, "rose 0.50% in 15 minutes, beyond the band of 0.10%: up."),
        (a_round(band_bps=None), None, "Bitcoin rose 0.50% in the hour: up. Sealed"),
        (a_round(chances=(0.9, 0.05, 0.05)), None, "score is 1.715, the base rate's 0.694: worse by 1.021."),
        (a_round(chances=(0.33, 0.35, 0.32)), None, "score is 0.694, the base rate's 0.694: level."),
        (a_round(base_rate=None), None, "score is 0.477, the base rate's 0.667: better by 0.190."),
        (
            a_round(chances=(0.41, 0.46, 0.13)),
            None,
            "Sealed before it: 13 in 100 for up, 46 for a small move, 41 for down.",
        ),
    ],
)
def test_a_lesson_says_how_far_how_well_and_how_likely_where_it_can(
    played: Round, record: HoursOnRecord | None, part: str
) -> None:
    assert part in a_lesson(played, record=record)


def test_votes_that_are_even_were_split() -> None:
    assert a_lesson(a_round(), Tally(2, 2, 0)).endswith(" The 4 votes were split.")


def test_simulated_votes_are_votes() -> None:
    assert "No one" not in a_lesson(a_round(), simulated=Tally(2, 2, 0))


def test_no_lesson_calls_a_round_without_a_call_wrong_or_expected() -> None:
    for change in (50.0, -50.0, 5.0, 0.1):
        assert not re.search(r"wrong|right|expected", a_lesson(a_round(change_bps=change)))


def test_in_a_backtest_voting_was_not_possible() -> None:
    assert a_lesson(a_round(warm_up=True)).endswith("It was a backtest: voting was not possible.")


def test_real_and_simulated_votes_are_counted_apart() -> None:
    summary = a_lesson(a_round(), Tally(1, 3, 0), Tally(20, 15, 0))

    assert "3 of 4 votes said down. 20 of 35 simulated votes said up." in summary


def test_every_idea_leads_to_a_chapter_that_exists() -> None:
    pages = {page.path for page in PAGES}

    assert {chapter_of(concept) for concept in Concept} <= pages


def of_the_day(hour: int, score: float, concept: Concept | None) -> Lesson:
    made = lesson_of(a_round(start_ms=MONDAY_NOON + hour * HOUR_MS), NO_ONE, MONDAY_NOON + hour * HOUR_MS)
    return replace(made, lesson_id=str(hour), learning_score=score, concept=concept)


def test_a_day_explains_its_most_surprising_rounds_each_with_another_idea() -> None:
    lessons = [
        of_the_day(1, 60.0, Concept.LUCK),
        of_the_day(2, 59.0, Concept.LUCK),
        of_the_day(3, 10.0, Concept.WEEKEND),
        of_the_day(4, 58.0, Concept.NO_CALL),
        of_the_day(5, 20.0, Concept.ONE_ROUND),
        of_the_day(6, 99.0, None),
    ]

    shown = chosen(lessons)

    assert [explained.lesson.lesson_id for explained in shown.explained] == ["1", "4", "5"]
    assert [lesson.lesson_id for lesson in shown.listed] == ["6", "3", "2"]
