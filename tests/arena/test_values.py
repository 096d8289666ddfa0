"""Published scores of the Arena, each computed a second time from its definition."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import log, sqrt
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.arena.play import play
from generator.arena.scores import ORDER, Sums, track_record
from generator.arena.timetable import Timetable, asset_of
from generator.arena.voters import CountedVote, Voter, by_record
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.words import Call, Prediction, RoundPhase
from generator.values.hours import PredictionMade
from generator.values.scores import ForecastScores, Rate
from tests.arena.test_sealing import an_open_round
from tests.support.arena_inputs import MINUTE, NOON, inputs_at, state_of
from tests.support.known import known

UP, DOWN, FLAT = Prediction.BULLISH, Prediction.BEARISH, Prediction.NEUTRAL
DOWN_NEUTRAL_UP = (DOWN, FLAT, UP)
ASSETS = ("BTC", "ETH", "SOL")


def case(
    chances: tuple[float, float, float],
    outcome: Prediction | None,
    base: tuple[float, float, float] = (0.25, 0.35, 0.4),
    **more: object,
) -> PredictionMade:
    """Return a forecast that calls the likeliest outcome; chances and base rates are of down, neutral and up."""
    likeliest = chances.index(max(chances))
    made = PredictionMade("BTC", 0, 1, chances, base, DOWN_NEUTRAL_UP[likeliest], 10.0, outcome=outcome)
    made = replace(made, call=(Call.DOWN, Call.SMALL_MOVE, Call.UP)[likeliest])
    return replace(made, **more)  # type: ignore[arg-type]


CASES = (
    case((0.2, 0.3, 0.5), UP, previous=UP),
    case((0.2, 0.3, 0.5), DOWN, previous=UP),
    case((0.6, 0.3, 0.1), UP, base=(0.1, 0.2, 0.7)),
    case((0.3, 0.45, 0.25), FLAT, previous=FLAT),
    case((0.995, 0.005, 0.0), FLAT, base=(0.3, 0.5, 0.2), previous=DOWN),
)
WAITING = case((0.2, 0.3, 0.5), None)
VOID = case((0.2, 0.3, 0.5), None, void_reason="no end price")


def scored(cases: Sequence[PredictionMade]) -> ForecastScores:
    sums = Sums()
    for made in cases:
        sums = sums.counted(made).ended([made])
    return track_record("hourly", sums)


def chance_given(made: PredictionMade) -> float:
    assert made.outcome is not None
    return dict(zip(DOWN_NEUTRAL_UP, made.probabilities, strict=True))[made.outcome]


def squared_error(chances: Sequence[float], outcome: Prediction | None) -> float:
    return sum((p - (word is outcome)) ** 2 for p, word in zip(chances, DOWN_NEUTRAL_UP, strict=True))


def wilson(share: float, cases: float) -> tuple[float, float]:
    """Return the interval in percent as the two shares from which the data lie 1.96 standard errors away."""
    z2 = 1.959964**2
    a, b, c = 1 + z2 / cases, -(2 * share + z2 / cases), share * share  # (p - share)^2 = z^2 p (1 - p) / cases
    root = sqrt(b * b - 4 * a * c)
    if share in {0.0, 1.0}:  # exact: the share at which so extreme a count comes one time in forty
        reach = 100 * (1 - 0.025 ** (1 / cases))
        return (0.0, reach) if share == 0.0 else (100 - reach, 100.0)
    return 100 * (-b - root) / (2 * a), 100 * (-b + root) / (2 * a)


def test_triples_are_of_down_neutral_and_up() -> None:
    assert ORDER == DOWN_NEUTRAL_UP


def test_the_log_score_is_of_the_forecast_and_not_of_the_base_rate() -> None:
    expected = fmean(-log(max(chance_given(made), 0.01)) for made in CASES)

    assert scored(CASES).log_score == pytest.approx(expected, abs=6e-5)


def test_the_brier_score_and_its_baselines_are_those_of_the_definition() -> None:
    record = scored(CASES)

    last = (0 if made.previous is made.outcome else 2 for made in CASES if made.previous)
    assert record.brier == pytest.approx(fmean(squared_error(c.probabilities, c.outcome) for c in CASES), abs=6e-5)
    assert record.baselines["base_rate"] == pytest.approx(
        fmean(squared_error(made.base_rate, made.outcome) for made in CASES), abs=6e-5
    )
    assert record.baselines["persistence"] == pytest.approx((sum(last) + 2 / 3) / len(CASES), abs=6e-5)
    assert record.baselines["uniform"] == 0.6667


def test_whether_it_moves_is_scored_by_the_definitions_of_two_classes() -> None:
    hours = (0, 1, 24, 25, 3)
    cases = [
        replace(made, start_ms=(48 * days + hour) * 60 * MINUTE)
        for days in range(10)
        for made, hour in zip(CASES, hours, strict=True)
    ]

    scores = scored([*cases, WAITING, VOID]).move

    said, usual = [1 - made.probabilities[1] for made in cases], [1 - made.base_rate[1] for made in cases]
    moved = [made.outcome is not FLAT for made in cases]
    brier, base_brier = mean_square(said, moved), mean_square(usual, moved)
    log_score, base_log = mean_surprise(said, moved), mean_surprise(usual, moved)
    assert (scores.n, scores.moved.hits, scores.moved.n) == (50, 30, 50)
    assert (scores.said_percent, scores.base_percent) == (round(100 * fmean(said), 1), round(100 * fmean(usual), 1))
    assert (scores.brier, scores.base_rate_brier) == pytest.approx((brier, base_brier), abs=6e-5)
    assert (scores.log_score, scores.base_rate_log_score) == pytest.approx((log_score, base_log), abs=6e-5)
    assert known(scores.skill_percent).value == pytest.approx(100 * (1 - brier / base_brier), abs=0.1)
    assert known(scores.log_skill_percent).value == pytest.approx(100 * (1 - log_score / base_log), abs=0.1)
    assert [(row.hour, row.n) for row in scores.hours if row.n] == [(0, 20), (1, 20), (3, 10)]
    assert scores.hours[0].said_percent == round(50 * (said[0] + said[2]), 1)


def mean_square(chances: Sequence[float], moved: Sequence[bool]) -> float:
    return fmean((chance - came) ** 2 for chance, came in zip(chances, moved, strict=True))


def mean_surprise(chances: Sequence[float], moved: Sequence[bool]) -> float:
    """Return the mean of -ln of the chance given to what came, none below 1%."""
    given = (chance if came else 1 - chance for chance, came in zip(chances, moved, strict=True))
    return fmean(-log(max(chance, 0.01)) for chance in given)


def test_skill_is_what_the_published_brier_score_saves_of_each_baseline() -> None:
    record = scored([replace(made, start_ms=day * DAY_MS) for day in range(10) for made in CASES])

    assert record.brier is not None
    for name, baseline in record.baselines.items():
        assert baseline is not None
        assert record.skill_percent[name] == round(100 - 100 * record.brier / baseline, 1)
    assert record.skill_percent["base_rate"] != record.skill_percent["uniform"]


@pytest.mark.parametrize(
    "cases",
    [
        [replace(CASES[hour % 5], start_ms=day * DAY_MS + hour * HOUR_MS) for day in range(9) for hour in range(24)],
        [case((0.2, 0.3, 0.5), UP, start_ms=day * DAY_MS) for day in range(60)],
        [case((0.2, 0.3, 0.5), FLAT, start_ms=day * DAY_MS) for day in range(60)],
    ],
    ids=["nine days", "nothing but moves", "no move at all"],
)
def test_no_skill_is_shown_below_ten_days_or_ten_events(cases: list[PredictionMade]) -> None:
    record = scored(cases)

    assert set(record.skill_percent.values()) == {None}
    assert record.move.skill_percent is record.move.log_skill_percent is None


def test_forecasts_are_counted_as_made_resolved_void_right_and_as_the_usual_outcome() -> None:
    record = scored([*CASES, WAITING, VOID])

    assert (record.predictions, record.resolved, record.void) == (7, 5, 1)
    assert (record.hit.n, record.hit.hits, record.hit.percent) == (5, 2, 40.0)
    usual = sum(DOWN_NEUTRAL_UP[made.base_rate.index(max(made.base_rate))] is made.outcome for made in CASES)
    assert (record.chance.n, record.chance.hits, record.chance.percent) == (5, usual, 20.0 * usual)


def test_calibration_compares_the_mean_confidence_of_a_bin_with_its_hits() -> None:
    cases = [case((0.2, 0.3, 0.5), UP if number % 3 else DOWN) for number in range(30)]
    cases += [case((0.27, 0.29, 0.44), UP), case((0.27, 0.296, 0.434), UP)]

    bins = {part.low_percent: part for part in scored(cases).bins}

    fifty, forties = bins[50.0], bins[40.0]
    assert (fifty.high_percent, fifty.n, fifty.said_percent) == (60.0, 30, 50.0)
    assert fifty.hit is not None
    assert (fifty.hit.hits, fifty.hit.n) == (20, 30)
    assert (forties.high_percent, forties.n, forties.said_percent, forties.hit) == (
        45.0,
        2,
        43.7,
        None,
    )
    assert [part.n for low, part in bins.items() if low not in {40.0, 50.0}] == [0] * 4


def test_a_confidence_of_an_edge_is_in_the_bin_that_begins_there() -> None:
    edges = [case((0.3, 0.35, 0.35), UP), case((0.3, 0.3, 0.4), UP), case((0.0, 0.0, 1.0), UP)]

    assert [(part.low_percent, part.n) for part in scored(edges).bins if part.n] == [(35.0, 1), (40.0, 1), (60.0, 1)]


HOURS = st.lists(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=5, max_size=40)


def hits_of(hours: Sequence[tuple[int, int]]) -> Rate:
    """Score hours in each of which so many forecasts came due and so many of them were right."""
    sums = Sums()
    for n, right in hours:
        sums = sums.ended([case((0.2, 0.3, 0.5), UP if number < right else DOWN) for number in range(n)])
    return track_record("hourly", sums).hit


@given(HOURS)
def test_the_interval_takes_forecasts_of_one_hour_as_dependent(hours: list[tuple[int, int]]) -> None:
    n, right = sum(hour[0] for hour in hours), sum(hour[1] for hour in hours)
    share = right / n
    if share in {0, 1}:
        effect = max(1.0, sum(size * size for size, _ in hours) / n)
    else:  # Kish: the variance of the rate over hours, over that of as many independent cases
        effect = max(1.0, sum((hit - share * size) ** 2 for size, hit in hours) / (n * share * (1 - share)))
    low, high = wilson(share, n / effect)

    hit = hits_of(hours)

    assert hit.low_percent == pytest.approx(low, abs=0.051)
    assert hit.high_percent == pytest.approx(high, abs=0.051)


def test_hours_that_balance_out_make_no_interval_narrower_than_independent_cases() -> None:
    low, high = wilson(0.5, 40)

    hit = hits_of([(2, 1)] * 20)

    assert (hit.low_percent, hit.high_percent) == (round(low, 1), round(high, 1))


@pytest.mark.parametrize("minutes", [15, 24, 60, 90])
def test_the_assets_take_turns_in_rounds_of_any_length(minutes: int) -> None:
    timetable = Timetable(minutes)
    slots = [timetable.slot_at(NOON)]
    while len(slots) < 7:
        slots.append(timetable.next_slot(slots[-1].start_ms))

    turns = [asset_of(slot, ASSETS) for slot in slots]

    assert turns[0] == ASSETS[NOON // (minutes * MINUTE) % 3]
    assert all(ASSETS.index(after) == (ASSETS.index(before) + 1) % 3 for before, after in pairwise(turns))


def test_a_voter_weighs_as_if_right_in_ten_of_thirty_rounds_before_the_first() -> None:
    votes = [CountedVote(UP, NOON, Voter("A", 30, 20)), CountedVote(DOWN, NOON, Voter("B", 90, 50))]
    up = (20 + 10) / (30 + 30) - 1 / 3
    down = (50 + 10) / (90 + 30) - 1 / 3

    crowd = by_record(votes)

    assert crowd.bullish == pytest.approx(up / (up + down))
    assert crowd.bearish == pytest.approx(down / (up + down))


@pytest.mark.parametrize(("later_ms", "phase"), [(0, RoundPhase.VOID), (-1, RoundPhase.OPEN)])
def test_a_forecast_sealed_when_its_bar_closed_already_knew_it(later_ms: int, phase: RoundPhase) -> None:
    now = NOON + 2 * MINUTE
    sealed = replace(an_open_round(), opens_ms=now - MINUTE)
    inputs = replace(inputs_at(now), next_close_ms=now - MINUTE - later_ms)

    result = play(state_of(active=(sealed,), taken=frozenset({sealed.start_ms})), inputs)

    changed = {after.round_id: after.phase for _, after in result.rounds.changes}
    assert changed.get(sealed.round_id, RoundPhase.OPEN) is phase
