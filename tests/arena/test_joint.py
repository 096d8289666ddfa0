"""Joint scenarios as a game: what is sealed, what it scores against prices, and the record of it."""

import math
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from generator.arena.joint import GAME, energy_score, paths_of, record_of
from generator.arena.sealed import Claim, SealedState
from generator.brain.joint import PATHS
from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MS
from generator.catalog.words import RoundPhase
from tests.support.arena_inputs import HOUR, MINUTE, NOON, inputs_at, joint_at, prices_at

BEFORE = NOON - 5 * MINUTE


def played(now_ms: int, *active: Claim, **changes: Any) -> list[Claim]:
    inputs = replace(inputs_at(now_ms), **{"joint": joint_at(now_ms), **changes})
    upcoming = tuple(claim for claim in active if claim.start_ms == GAME.upcoming(now_ms))
    return [after for _, after in GAME.play(SealedState(active, upcoming), inputs, None)]


def test_each_horizon_is_sealed_before_the_hour_and_judged_by_prices_at_its_end() -> None:
    sealed = played(BEFORE)
    opened = played(NOON, *sealed)
    judged = [claim for claim in played(NOON + HOUR, *opened) if claim.phase is RoundPhase.RESOLVED]

    assert [claim.horizon for claim in sealed] == ["1h", "4h", "24h"]
    assert {claim.phase for claim in opened} == {RoundPhase.LIVE}
    assert [claim.horizon for claim in judged] == ["1h"]
    assert set(opened[0].at_start or ()) == set(ASSETS)
    assert played(NOON, *sealed, joint=None) == opened
    assert played(BEFORE, joint=None) == []


def test_the_scores_are_those_of_the_portfolio_and_of_the_sealed_paths() -> None:
    content = played(BEFORE)[0].content
    start = dict.fromkeys(ASSETS, 100.0)
    end = {asset: 100.0 + 0.2 * place for place, asset in enumerate(ASSETS)}

    scores = GAME.score(content, start, end)

    moves = [0.2 * place for place in range(len(ASSETS))]
    paths = paths_of(content["paths"])
    assert len(paths) == PATHS
    to_moves = sum(math.dist(path, moves) for path in paths) / PATHS
    spread = [math.dist(one, other) for one, other in combinations(paths, 2)]
    low, _, _, high = content["portfolio"]
    assert scores is not None
    assert scores["energy"] == pytest.approx(to_moves - sum(spread) / len(spread) / 2, abs=1e-3)
    assert scores["held_90"] == float(low <= 0.6 <= high)
    assert scores["three_beyond"] == float(sum(m >= far for m, far in zip(moves, content["large"], strict=True)) >= 3)
    assert content["portfolio_if_independent"][3] < high


def test_paths_that_keep_together_score_better_where_prices_do() -> None:
    content = played(BEFORE)[0].content
    paths = paths_of(content["paths"])

    gaps = []
    for path in paths:
        others = [other for other in content["paths"] if paths_of([other])[0] != path]
        start = dict.fromkeys(ASSETS, 1.0)
        end = {asset: 1.0 + move / 100 for asset, move in zip(ASSETS, path, strict=True)}
        scores = GAME.score({**content, "paths": others}, start, end)
        assert scores is not None
        gaps.append(scores["energy_if_independent"] - scores["energy"])
    assert sum(gaps) > 0
    assert energy_score([[1.0], [1.0]], [1.0]) == 0.0


def test_a_claim_without_the_price_of_one_of_its_assets_is_void() -> None:
    opened = played(NOON, *played(BEFORE))
    gone = {asset: point for asset, point in prices_at(NOON + HOUR).items() if asset != "XLM"}
    none: dict[str, Any] = {}

    [judged] = [claim for claim in played(NOON + HOUR, *opened, prices=gone) if claim.start_ms == NOON]
    [unseen] = [claim for claim in played(NOON + HOUR, *opened, prices=none) if claim.start_ms == NOON]

    assert judged.void_reason == "what was sealed cannot be scored by what was seen"
    assert unseen.void_reason == "fewer than 3 prices at the end"


def test_the_record_counts_by_horizon_and_needs_ten_days_for_a_skill() -> None:
    good = {
        "held_50": 1.0, "held_90": 1.0, "held_90_if_independent": 0.0, "interval": 1.0, "interval_if_independent": 1.5,
        "energy": 1.0, "energy_if_independent": 1.05, "three_beyond": 0.0, "three_beyond_chance": 0.1,
    }  # fmt: skip
    bad = {**good, "held_50": 0.0, "three_beyond": 1.0, "energy": 1.02}
    claims = [("1h", hour * HOUR, good if hour % 2 else bad) for hour in range(20 * 24)]

    [hour] = record_of(claims)
    [few] = record_of(claims[:9])

    assert (hour.days, hour.held_50.n, hour.held_50.percent) == (20, 480, 50.0)
    assert (hour.held_90.percent, hour.held_90_if_independent.percent) == (100.0, 0.0)
    assert (hour.three_beyond_percent, hour.three_beyond.percent) == (10.0, 50.0)
    assert hour.interval_skill is not None
    assert hour.energy_skill is not None
    assert hour.interval_skill.value == pytest.approx(33.3, abs=0.05)
    assert hour.energy_skill.value == pytest.approx(100 * (1 - 1.01 / 1.05), abs=0.06)
    assert (few.held_90.percent, few.energy_skill) == (None, None)
    assert record_of([("24h", DAY_MS, good)])[0].horizon == "24h"
