"""Every claim of skill, in every body: made where the figures allow it, and nowhere else."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from generator.catalog.words import Call
from generator.compose.all import compose
from generator.values.scores import (
    BeforeCalls,
    CalibrationBin,
    Estimate,
    ForecastScores,
    HorizonRecord,
    MoveScores,
    RangeForecastScore,
)
from tests.support.builders import NOW_MS, full_context, rate, record
from tests.support.known import rate_of
from tests.support.walk import strings

SKILL = "More than chance so far"
NO_SKILL = "No skill is shown"


def track(n: int = 321, *, skill: float | None = 2.5, low: float | None = 38.0, usual: float = 36.2) -> ForecastScores:
    """Return a record of `n` forecasts; without changes all speaks for skill: 38.0 is above 34 and 36.2."""
    made = record("hourly", 321)
    return replace(
        made,
        resolved=n,
        hit=replace(made.hit, n=n, low_percent=low, high_percent=None if low is None else 45.0),
        chance=replace(rate(321, 36.2), percent=usual),
        skill_percent={"uniform": 9.0, "base_rate": skill, "persistence": 45.3},
    )


def bodies_with(**arena: Any) -> dict[str, dict[str, Any]]:
    """Return every free and paid body of a tick whose Arena differs in these values."""
    ctx = full_context()
    done = compose(replace(ctx, arena=replace(ctx.arena, **arena)))
    return {key: body.as_json() for key, body in {**done.free, **done.paid}.items()}


def claims(**arena: Any) -> set[str]:
    """Return the texts of all bodies that claim skill, each once."""
    found = (text for body in bodies_with(**arena).values() for _, text in strings(body))
    return {text for text in found if SKILL.lower() in text.lower()}


def test_a_record_that_beats_both_chances_and_the_base_rate_claims_more_than_chance() -> None:
    (claim,) = claims(hourly_record=track())

    assert claim.startswith(f"{SKILL}: of 321 calls 37.7% (95% interval 38.0 to 45.0%) were right; ")
    assert "always naming the commonest outcome, 36.2%" in claim
    assert "That promises nothing of the next forecast." in claim


@pytest.mark.parametrize(
    "weak",
    [
        track(low=36.2),  # no better than always naming the outcome that was most frequent before
        track(low=38.0, usual=38.0),
        track(low=38.0, usual=44.0),
        track(low=None),
        track(skill=0.0),  # no better than the base rate
        track(skill=-0.1),
        track(skill=None),
        track(n=29),  # too few
        track(n=1),
    ],
)
def test_no_body_claims_skill_where_one_of_the_figures_does_not_allow_it(weak: ForecastScores) -> None:
    assert claims(hourly_record=weak) == set()


@pytest.mark.parametrize("barely", [track(low=36.3), track(low=30.1, usual=30.0), track(skill=0.1), track(n=30)])
def test_a_record_that_is_barely_better_claims_it(barely: ForecastScores) -> None:
    assert len(claims(hourly_record=barely)) == 1


def test_a_record_without_skill_says_so_with_the_same_figures() -> None:
    shown = bodies_with(hourly_record=track(low=36.0))["/api/main-brain.php"]["public_performance"]

    assert shown["statement"].startswith(f"{NO_SKILL}: of 321 calls 37.7% (95% interval 36.0 to 45.0%) were right")
    assert "promises" not in shown["statement"]


@pytest.mark.parametrize(("n", "resolved"), [(1, "1 forecast has"), (29, "29 forecasts have")])
def test_fewer_than_thirty_forecasts_are_too_few_to_tell(n: int, resolved: str) -> None:
    shown = bodies_with(hourly_record=track(n=n))["/api/main-brain.php"]["public_performance"]

    assert shown["statement"].startswith(f"Only {resolved} resolved: no skill is shown, it is too few to tell.")


def test_the_record_is_published_figure_by_figure() -> None:
    made = track()

    shown = bodies_with(hourly_record=made)["/api/main-brain.php"]["public_performance"]

    assert [shown[key] for key in ("kind", "predictions", "resolved", "void", "warm_up", "n")] == [
        "hourly", 328, 321, 2, 214, 321,
    ]  # fmt: skip
    assert [shown[f"hit_rate_{end}percent"] for end in ("", "low_", "high_")] == [37.7, 38.0, 45.0]
    assert [shown[key] for key in ("chance_percent", "brier", "log_score")] == [36.2, 0.6612, 1.0912]
    assert [shown[key] for key in ("baseline", "brier_baseline", "skill_percent")] == ["base_rate", 0.6623, 2.5]
    assert {row["name"]: (row["n"], row["brier"], row["skill_percent"]) for row in shown["baselines"]} == {
        "base_rate": (321, 0.6623, 2.5),
        "uniform": (321, 0.6667, 9.0),
        "persistence": (321, 1.21, 45.3),
    }


# Calls


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        (0, "No skill is shown: none of 321 forecasts made a call."),
        (29, "No skill is shown: only 29 calls could be judged, too few for a rate."),
        (40, "of 40 calls 45.0% (95% interval 38.0 to 52.0%) were right; always naming"),
    ],
)
def test_a_hit_rate_is_of_calls_and_is_written_from_thirty_on(calls: int, said: str) -> None:
    hits = rate_of(18 * calls // 40, calls, 45.0 if calls else None, 38.0, 52.0)
    made = replace(track(), hit=hits, no_calls=321 - calls, by_call={Call.SMALL_MOVE: hits})

    shown = bodies_with(hourly_record=made)["/api/main-brain.php"]["public_performance"]

    assert said in shown["statement"]
    assert "33.3" not in shown["statement"]
    assert (shown["n"], shown["no_calls"], shown["resolved"]) == (calls, 321 - calls, 321)
    assert [(kind, row["n"]) for kind, row in shown["by_call"].items()] == [
        ("up", 0),
        ("small_move", calls),
        ("down", 0),
    ]


@pytest.mark.parametrize(
    ("skill", "verdict"),
    [
        (
            Estimate(2.0, 0.5, 3.5),
            "Better than the base rate: Brier skill 2% (95% interval 0.5 to 3.5%).",
        ),
        (
            Estimate(2.0, 0.0, 3.5),
            "No better or worse than the base rate: Brier skill 2% (95% interval 0 to 3.5%).",
        ),
        (
            Estimate(-2.0, -3.5, -0.5),
            "Worse than the base rate: Brier skill -2% (95% interval -3.5 to -0.5%).",
        ),
        (None, "Of fewer than ten days, or ten moves, no skill is shown."),
    ],
)
def test_whether_prices_moved_is_published_figure_by_figure_with_what_it_shows(
    skill: Estimate | None, verdict: str
) -> None:
    moved = rate_of(208, 321, 64.8, 59.0, 70.1)
    scores = MoveScores(
        321,
        63.2,
        61.0,
        moved,
        0.2212,
        0.2301,
        0.6312,
        0.6501,
        skill,
        skill,
        (CalibrationBin.of(50.0, 60.0, 40, moved, 55.1),),
    )

    shown = bodies_with(hourly_record=replace(track(), move=scores))["/api/statistics.php"]["main_brain"]["record"][
        "move"
    ]

    assert [shown[key] for key in ("n", "said_percent", "base_percent")] == [321, 63.2, 61.0]
    assert [shown[f"two_class_{key}"] for key in ("brier", "brier_baseline", "log_score", "log_score_baseline")] == [
        0.2212, 0.2301, 0.6312, 0.6501,
    ]  # fmt: skip
    assert shown["brier_skill_percent"] == (asdict(skill) if skill else None)
    assert (shown["moved"]["n"], shown["calibration"][0]["said_percent"]) == (321, 55.1)
    assert shown["statement"] == verdict


@pytest.mark.parametrize("n", [0, 29])
def test_whether_prices_moved_has_no_rate_in_words_below_thirty(n: int) -> None:
    scores = MoveScores(
        n,
        63.2,
        61.0,
        rate_of(n // 2, n, 50.0 if n else None),
        0.2,
        0.2,
        0.6,
        0.6,
    )

    shown = bodies_with(hourly_record=replace(track(), move=scores))["/api/main-brain.php"]["public_performance"][
        "move"
    ]

    assert "%" not in shown["statement"]


def test_forecasts_from_before_calls_keep_a_record_of_their_own() -> None:
    hit = rate_of(30, 90, 33.3, 24.5, 43.6)
    before = BeforeCalls(
        hit,
        {Call.SMALL_MOVE: hit},
        rate_of(31, 90, 34.4, 25.4, 44.7),
        NOW_MS,
    )

    shown = bodies_with(hourly_record=replace(track(), before_calls=before))["/api/main-brain.php"][
        "public_performance"
    ]

    assert shown["before_calls"]["before"] == "2026-11-20T09:53:00Z"
    assert (shown["before_calls"]["hit"]["n"], shown["before_calls"]["chance_percent"]) == (90, 34.4)
    assert shown["before_calls"]["by_word"]["small_move"]["hits"] == 30
    assert shown["n"] == 321  # of calls alone
    assert bodies_with(hourly_record=track())["/api/main-brain.php"]["public_performance"]["before_calls"] is None


# How far


def loss(sign: int) -> Estimate:
    """Return how much a loss is below another's: surely more (1), surely less (-1), or either (0)."""
    return {1: Estimate(2.0, 0.5, 3.5), 0: Estimate(0.2, -1.0, 1.4), -1: Estimate(-2.0, -3.5, -0.5)}[sign]


def against(pinball: int, qlike: int, blocks: int = 40) -> str:
    """Return what /api/statistics.php says of ranges that differ so from those of every simple rule."""
    inside = rate_of(300, 320, 93.8, 91.0, 96.0)
    brain = RangeForecastScore("brain", inside, inside, 0.1, 0.2, None, None)
    rules = tuple(
        RangeForecastScore(name, inside, inside, 0.1, 0.2, loss(pinball), loss(qlike))
        for name in ("last_hour", "last_day", "ewma")
    )
    hour = HorizonRecord("1h", 320, 0, blocks, (brain, *rules))
    said: str = bodies_with(how_far=(hour,))["/api/statistics.php"]["main_brain"]["how_far"]["statement"]
    return said


@pytest.mark.parametrize(
    ("pinball", "qlike", "verdict"),
    [
        (1, 1, "The ranges scored better than those from the last hour, the last day and EWMA"),
        (-1, -1, "The ranges scored worse than those from"),
        (-1, 0, "The ranges scored worse than those from"),  # worse by one loss is worse
        (0, -1, "The ranges scored worse than those from"),
        (-1, 1, "The ranges scored worse than those from"),
        (1, -1, "The ranges scored worse than those from"),
        (1, 0, "the difference could be chance"),  # better by one loss alone is open
        (0, 1, "the difference could be chance"),
        (0, 0, "the difference could be chance"),
    ],
)
def test_ranges_are_better_by_both_losses_and_worse_by_one(pinball: int, qlike: int, verdict: str) -> None:
    said = against(pinball, qlike)

    verdicts = ("better than", "worse than", "could be chance")
    assert verdict in said
    assert sum(word in said for word in verdicts) == 1


def test_ranges_of_a_short_time_are_compared_with_nothing() -> None:
    assert against(1, 1, blocks=9) == (
        "Only 320 ranges for 1 hour could be judged, all of a short time: too few to tell."
    )
    assert "better than" in against(1, 1, blocks=10)


def test_an_interval_that_ends_at_zero_shows_no_difference() -> None:
    ends = (Estimate(1.0, 0.0, 2.0), Estimate(-1.0, -2.0, 0.0))
    inside = rate_of(300, 320, 93.8, 91.0, 96.0)
    rules = tuple(RangeForecastScore("ewma", inside, inside, 0.1, 0.2, end, loss(1)) for end in ends)
    brain = RangeForecastScore("brain", inside, inside, 0.1, 0.2, None, None)

    for rule in rules:
        hour = HorizonRecord("1h", 320, 0, 40, (brain, rule))
        said = bodies_with(how_far=(hour,))["/api/statistics.php"]["main_brain"]["how_far"]["statement"]
        assert "better" not in said
        assert "worse" not in said


def test_how_far_is_published_score_by_score() -> None:
    ctx = full_context()
    shown = bodies_with()["/api/statistics.php"]["main_brain"]["how_far"]

    assert shown["resolved"] == sum(horizon.resolved for horizon in ctx.arena.how_far)
    for horizon, row in zip(ctx.arena.how_far, shown["horizons"], strict=True):
        assert [row[key] for key in ("horizon", "resolved", "void", "blocks")] == [
            horizon.horizon, horizon.resolved, horizon.void, horizon.blocks,
        ]  # fmt: skip
        for score, published in zip(horizon.scores, row["scores"], strict=True):
            assert (published["name"], published["n"]) == (score.name, horizon.resolved)
            assert (published["pinball"], published["qlike"]) == (score.pinball, score.qlike)
            for key, part in (("inside_50_percent", score.inside_50), ("inside_90_percent", score.inside_90)):
                assert published[key] == {"value": part.percent, "low": part.low_percent, "high": part.high_percent}
            for key, saved in (("pinball_saved_percent", score.pinball_saved), ("qlike_saved", score.qlike_saved)):
                assert (saved is None) == (score.name == "brain")
                assert published[key] == (asdict(saved) if saved else None)
