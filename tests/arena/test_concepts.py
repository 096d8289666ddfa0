"""What a finished round illustrates, and the sentences of its lesson."""

import re
from dataclasses import asdict, replace
from datetime import UTC, datetime
from statistics import NormalDist
from typing import Any

import pytest

from generator.arena.concepts import (
    FITS,
    LessonFacts,
    concept_of,
    explain,
    in_hundred,
    lead_of,
    likeliest,
    once_in,
    rarity_of,
    whole_percents,
)
from generator.arena.lessons import lesson_of
from generator.arena.scores import brier
from generator.arena.values import Lesson, Round, Tally
from generator.catalog.discovery import PAGES
from generator.catalog.durations import HOUR_MS
from generator.catalog.measured import RARITY
from generator.catalog.text import lessons as texts
from generator.catalog.text.concepts import CONCEPTS, chapter_of
from generator.catalog.words import Call, Concept, Prediction, RoundPhase
from generator.site.words.lessons import chosen
from tests.arena.test_sealing import an_open_round
from tests.contradictions.lesson_rows import most_shared
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


def facts(votes: Tally = NO_ONE, others: tuple[float, ...] = (), **played: object) -> LessonFacts:
    return LessonFacts(a_round(**played), votes, others)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("concept", "fitting", "other"),
    [
        (Concept.FAT_TAILS, facts(change_bps=70.0), facts(change_bps=68.0)),  # 3.0 and 2.9 standard deviations
        (Concept.FAT_TAILS, facts(change_bps=-70.0), facts(change_bps=70.0, end_ms=MONDAY_NOON + HOUR_MS // 4)),
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
    "came": "46",
    "together": "4",
    "others": "6",
    "squared": "9",
    "sigmas": "3.0",  # 70 / (10 / 0.4307)
    "by_normal": "once in 370 hours",
    "rarity_share": "4.9 in 100",
    "crowd_outcome": "up",
    "crowd_share": "64",  # 9 of 14
    "crowd_base": "32",
}


@pytest.mark.parametrize("concept", Concept)
def test_every_idea_is_put_with_the_figures_of_the_round_in_forms_that_take_turns(concept: Concept) -> None:
    for hour in range(0, 24, 4):
        played = facts(Tally(9, 3, 2), others=(1.0, 1.0, 1.0, 1.0, -1.0, 0.0), change_bps=70.0, start_ms=hour * HOUR_MS)
        form = CONCEPTS[concept].forms[hour // 7 % 3]

        assert explain(concept, played) == (
            concept,
            form.point.format_map(FIGURES),
            form.question.format_map(FIGURES),
            form.answer.format_map(FIGURES),
        )


def test_by_a_normal_curve_is_what_a_normal_curve_gives() -> None:
    explained = explain(Concept.FAT_TAILS, facts(change_bps=70.0, start_ms=0))

    share = 2 * NormalDist().cdf(-3.0)
    assert f"once in {float(f'{1 / share:.2g}'):.0f} hours" in explained.point
    assert "4.9 in 100" in explained.point


def test_a_move_is_never_called_rarer_than_it_was_measured() -> None:
    sizes = [size for size, _ in RARITY]
    shares = [share for _, share in RARITY]

    assert sizes == sorted(sizes)
    assert shares == sorted(shares, reverse=True)
    for size, share in RARITY:
        assert rarity_of(size) == share
        assert rarity_of(size + 0.01) == share


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


@pytest.mark.parametrize(("share", "text"), [(0.1, "10 in 100"), (0.0999, "10.0 in 100"), (0.01, "1.0 in 100")])
def test_shares_of_hours(share: float, text: str) -> None:
    assert in_hundred(share) == text


def test_what_a_normal_curve_all_but_forbids() -> None:
    assert once_in(1e-6) == "once in 1,000,000 hours"
    assert once_in(9e-7) == "less than once in a million hours"


def a_lesson(played: Round, votes: Tally = NO_ONE, simulated: Tally = NO_ONE) -> str:
    return lesson_of(played, votes, NOON, simulated=simulated).summary


def test_a_lesson_gives_the_chances_what_came_its_size_and_its_score() -> None:
    played = a_round(change_bps=50.0, start_ms=0)

    summary = a_lesson(played)

    sigma = 10.0 / 0.4307
    score = brier((0.41, 0.13, 0.46), UP)
    base = brier((0.33, 0.35, 0.32), UP)
    assert summary == (
        "It gave up 46, small move 13, down 41; up came. "
        f"Bitcoin rose 0.50% in the hour, {50 / sigma:.1f} standard deviations of its week; of real hours about "
        "12 in 100 go as far. "
        f"Brier score {score:.3f}, the base rate's {base:.3f}: better by {base - score:.3f}. No one voted."
    )


# Of an hour in which the price fell by 50 bps, worked out by hand: sigma is 10 / 0.4307 bps.
WRITTEN = {
    "up": 46,
    "small": 13,
    "down": 41,
    "came": 41,
    "outcome": "down",
    "rank": "the middle one of three chances",
    "name": "Bitcoin",
    "moved": "fell 0.50% in the hour",
    "sigmas": "2.2",
    "sigma": "0.23",
    "rarity": "; of real hours about 12 in 100 go as far",
    "score": "0.577",  # 0.59^2 + 0.13^2 + 0.46^2
    "base": "0.674",  # 0.67^2 + 0.35^2 + 0.32^2
    "verdict": "better by 0.097",
}


@pytest.mark.parametrize("form", range(texts.FORMS))
def test_every_form_of_a_lesson_is_filled_with_the_same_figures(form: int) -> None:
    summary = a_lesson(a_round(change_bps=-50.0, start_ms=form * HOUR_MS), Tally(1, 3, 0), Tally(1, 0, 0))

    sentences = (texts.CHANCES[form], texts.SIZES[form], texts.SCORES[form])
    written = " ".join(sentence.format_map(WRITTEN) for sentence in sentences)
    assert summary == f"{written} 3 of 4 votes said down. 1 of 1 simulated vote said up."


@pytest.mark.parametrize(
    ("played", "part"),
    [
        (a_round(change_bps=0.4, start_ms=0), "Bitcoin hardly moved in the hour, 0.0 standard deviations of its week."),
        (a_round(change_bps=-0.6, start_ms=0), "Bitcoin fell 0.01% in the hour, 0.0 standard deviations of its week."),
        (a_round(change_bps=9.5, start_ms=0), "rose 0.10% in the hour, 0.4 standard deviations of its week. Brier"),
        (a_round(change_bps=11.7, start_ms=0), "0.5 standard deviations of its week; of real hours about 62 in 100"),
        (
            a_round(start_ms=0, end_ms=HOUR_MS // 4),
            "rose 0.50% in 15 minutes, 2.2 standard deviations of its week. Brier",
        ),
        (a_round(start_ms=0, band_bps=None), "up came. Brier score"),
        (a_round(start_ms=0, chances=(0.9, 0.05, 0.05)), "score 1.715, the base rate's 0.694: worse by 1.021."),
        (a_round(start_ms=0, chances=(0.33, 0.35, 0.32)), "score 0.694, the base rate's 0.694: level."),
        (a_round(start_ms=0, base_rate=None), "score 0.477, the base rate's 0.667: better by 0.190."),
        (a_round(start_ms=4 * HOUR_MS, chances=(0.41, 0.46, 0.13)), "What came was up, the smallest of three chances"),
        (a_round(start_ms=4 * HOUR_MS), "What came was up, the largest of three chances"),
    ],
)
def test_a_lesson_says_how_far_how_well_and_how_likely_where_it_can(played: Round, part: str) -> None:
    assert part in a_lesson(played)


def test_votes_that_are_even_were_split() -> None:
    assert a_lesson(a_round(), Tally(2, 2, 0)).endswith(" The 4 votes were split.")


def test_simulated_votes_are_votes() -> None:
    assert "No one" not in a_lesson(a_round(), simulated=Tally(2, 2, 0))


def test_no_form_of_a_lesson_calls_a_round_without_a_call_wrong_or_expected() -> None:
    for hour in range(7):
        for change in (50.0, -50.0, 5.0, 0.1):
            summary = a_lesson(a_round(change_bps=change, start_ms=hour * HOUR_MS))

            assert not re.search(r"wrong|right|expected", summary)


def test_in_a_backtest_voting_was_not_possible() -> None:
    assert a_lesson(a_round(warm_up=True)).endswith("It was a backtest: voting was not possible.")


def test_real_and_simulated_votes_are_counted_apart() -> None:
    summary = a_lesson(a_round(), Tally(1, 3, 0), Tally(20, 15, 0))

    assert "3 of 4 votes said down. 20 of 35 simulated votes said up." in summary


def test_a_round_of_another_length_has_no_rarity() -> None:
    played = replace(a_round(), end_ms=MONDAY_NOON + HOUR_MS // 4)

    assert LessonFacts(played, Tally()).rarity is None
    assert "of real hours" not in a_lesson(played)


@pytest.mark.parametrize("change", [5.0, -50.0])
@pytest.mark.parametrize(("call", "previous"), [(Call.NONE, None), (Call.SMALL_MOVE, UP)])
def test_at_most_three_of_twenty_lessons_share_a_sentence(
    change: float, call: Call, previous: Prediction | None
) -> None:
    used: list[Concept] = []
    made: list[dict[str, Any]] = []
    for hour in range(60):
        played = a_round(change_bps=change, start_ms=MONDAY_NOON + hour * HOUR_MS, call=call, previous=previous)
        one = lesson_of(played, Tally(), NOON, used=tuple(dict.fromkeys(reversed(used))))
        assert one.concept is not None
        used.append(one.concept)
        made.append(asdict(one))

    count, sentence = most_shared(made)
    assert count <= 3, sentence


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
