"""Joint scenarios as a sealed game: how all assets move together over 1, 4 and 24 hours from each full hour.

Judged by the published prices at both ends. The portfolio's ranges are scored by coverage and mean interval score; the
scenarios by the energy score of the paths that were sealed, and by whether many assets moved far at once. Next to each
stands the same for independence: the same moves of each asset, put together at random.

Source of the energy score: T. Gneiting and A. Raftery, Strictly proper scoring rules, prediction, and estimation, 2007;
of pairs of different paths (C. Ferro, Fair scores for ensemble forecasts, 2014), so that few paths are no fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import dist, fsum
from typing import Final

from generator.arena.hourly import upcoming_hour
from generator.arena.inputs import PlayInputs
from generator.arena.outcome import fix_price
from generator.arena.rates import SKILL_DAYS, shared
from generator.arena.scoring import Ratio, skill
from generator.arena.sealed import Content, Scores, Sealed, Seen
from generator.brain.joint import FEWEST_ASSETS, MANY, PATHS, TOGETHER, Joint
from generator.catalog.durations import DAY_MS
from generator.catalog.formats import rounded
from generator.catalog.horizons import HORIZONS
from generator.values.joint import JointScores
from generator.values.ranges import MoveRange
from generator.values.scores import Estimate, Rate

KIND: Final = "joint"
_DECIMALS: Final = 4
_SCALE: Final = 10**_DECIMALS  # units of a score in a sum
_PER_PERCENT: Final = 100  # paths are sealed in whole hundredths of a percent
_STEP: Final = 3  # places by which the paths of each asset are moved on against those before: a portfolio of strangers


def make(inputs: PlayInputs, horizon: str) -> Content | None:
    """Return what is said of a horizon, as it is sealed; None where too little is known."""
    if inputs.joint is None or horizon not in inputs.joint:
        return None
    return content_of(inputs.joint, horizon)


def content_of(joint: Joint, horizon: str) -> Content:
    """Return what is sealed of a horizon: ends of ranges and large moves in percent, chances, half of the paths.

    The other half are these turned: a move of m percent becomes one of 100 (1 / (1 + m / 100) - 1).
    """
    together = joint[horizon]
    portfolio, many = joint.apart(horizon)
    # The turned half follows from this one, and would double what the log holds of each hour.
    upright = joint.paths(horizon)[: PATHS // 2]
    return {
        "assets": list(joint.assets),
        "portfolio": [rounded(end, _DECIMALS) for end in together.portfolio.ends],
        "portfolio_if_independent": [rounded(end, _DECIMALS) for end in portfolio.ends],
        "large": [rounded(move, _DECIMALS) for move in together.large],
        "three_beyond": rounded(together.many, _DECIMALS),
        "three_beyond_if_independent": rounded(many, _DECIMALS),
        "paths": [[round(_PER_PERCENT * move) for move in path] for path in upright.tolist()],
    }


def see(inputs: PlayInputs, what: str) -> tuple[Seen | None, str | None]:
    """Return the prices of this tick by asset; None with fewer than three."""
    prices = {}
    for asset in inputs.prices:
        price, _ = fix_price(inputs.prices, asset, inputs.venues_needed, what, 0)
        if price is not None:
            prices[asset] = price
    if len(prices) < FEWEST_ASSETS:
        return None, f"fewer than {FEWEST_ASSETS} prices at the {what}"
    return prices, None


def score(content: Content, at_start: Seen, at_end: Seen) -> Scores | None:
    """Return the scores of what was sealed, by name; None where a price of one of its assets is not known."""
    assets = content["assets"]
    if not all(asset in at_start and asset in at_end for asset in assets):
        return None
    moves = [100 * (at_end[asset] / at_start[asset] - 1) for asset in assets]
    together = fsum(moves) / len(moves)

    own, apart = (MoveRange(*content[name]) for name in ("portfolio", "portfolio_if_independent"))
    far = sum(abs(move) >= large for move, large in zip(moves, content["large"], strict=True)) >= MANY
    # Independence is scored by the very same moves, so that only what comes together with what differs.
    paths = paths_of(content["paths"])
    scores = {
        "held_50": float(own.holds_50(together)),
        "held_90": float(own.holds_90(together)),
        "held_90_if_independent": float(apart.holds_90(together)),
        "interval": own.score(together),
        "interval_if_independent": apart.score(together),
        "energy": energy_score(paths, moves),
        "energy_if_independent": energy_score(strangers(paths), moves),
        "three_beyond": float(far),
        "three_beyond_chance": content["three_beyond"],
    }
    return {name: rounded(value, _DECIMALS) for name, value in scores.items()}


def paths_of(sealed: Sequence[Sequence[int]]) -> list[list[float]]:
    """Return all paths in percent from those that were sealed.

    >>> paths_of([[100, -50]])
    [[1.0, -0.5], [-0.9900990099009901, 0.5025125628140703]]
    """
    upright = [[move / _PER_PERCENT for move in path] for path in sealed]
    return upright + [[-move / (1 + move / 100) for move in path] for path in upright]


def strangers(paths: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the same moves of each asset, put together from different paths.

    >>> strangers([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]])
    [[1.0, 40.0], [2.0, 10.0], [3.0, 20.0], [4.0, 30.0]]
    """
    many = len(paths)
    columns = range(len(paths[0]))
    return [[paths[(place + _STEP * column) % many][column] for column in columns] for place in range(many)]


def energy_score(paths: Sequence[Sequence[float]], moves: Sequence[float]) -> float:
    """Return the energy score of paths against the moves that came, percent; less is better.

    >>> energy_score([[0.0, 0.0], [0.0, 2.0]], [0.0, 0.0])
    0.0
    """
    to_moves = fsum(dist(path, moves) for path in paths) / len(paths)
    between = [dist(first, second) for first, second in combinations(paths, 2)]
    return to_moves - 0.5 * fsum(between) / len(between)


def record_of(claims: Iterable[tuple[str, int, Scores]]) -> tuple[JointScores, ...]:
    """Return the record of claims that were judged, by horizon; blocks are the UTC days of their starts.

    Args:
        claims: of each horizon, start in ms and scores.
    """
    by_day: dict[str, dict[int, list[Scores]]] = {}
    for horizon, start_ms, scores in claims:
        by_day.setdefault(horizon, {}).setdefault(start_ms // DAY_MS, []).append(scores)
    return tuple(_record(horizon, list(by_day[horizon].values())) for horizon in TOGETHER if horizon in by_day)


def _record(horizon: str, days: Sequence[Sequence[Scores]]) -> JointScores:
    def rate(name: str) -> Rate:
        return shared(_ratio(days, name).rate(backtest=False))

    def against_independence(name: str) -> Estimate | None:
        losses = _ratio(days, name, f"{name}_if_independent")
        return skill(losses.above, losses.below, losses) if len(days) >= SKILL_DAYS else None

    chance = _ratio(days, "three_beyond_chance")
    return JointScores(
        horizon=horizon,
        days=len(days),
        held_50=rate("held_50"),
        held_90=rate("held_90"),
        held_90_if_independent=rate("held_90_if_independent"),
        three_beyond_percent=rounded(100 * chance.above / chance.below / _SCALE, 1),
        three_beyond=rate("three_beyond"),
        interval_skill=against_independence("interval"),
        energy_skill=against_independence("energy"),
    )


def _ratio(days: Sequence[Sequence[Scores]], name: str, below: str | None = None) -> Ratio:
    """Return a score's total over another's, in whole units; over the number of cases where none is named."""
    scale = 1 if name.startswith(("held", "three_beyond")) and not name.endswith("chance") else _SCALE
    ratio = Ratio()
    for scores in days:
        total = sum(round(scale * case[name]) for case in scores)
        ratio = ratio.plus(total, sum(round(scale * case[below]) for case in scores) if below else len(scores))
    return ratio


GAME: Final = Sealed(KIND, {name: HORIZONS[name].length_ms for name in TOGETHER}, upcoming_hour, make, see, score)
