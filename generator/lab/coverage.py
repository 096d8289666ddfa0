"""Do ranges hold as often as they claim, and does it move as often as said: at full hours, which are what is stored."""

from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from generator.arena.scoring import squared_error
from generator.brain.engine import Engine
from generator.brain.measures import SHOWN_MINUTES
from generator.brain.outlook import HORIZON_BARS
from generator.brain.weights import Weights
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.horizons import HORIZONS
from generator.lab.outlook import moves_after
from generator.lab.report import met, table
from generator.lab.scores import draw, interval_of
from generator.market.bars import BAR_MS, BARS_A_DAY, BarFrame, FloatArray

STATED: Final = (50, 90)
BOUNDS: Final = ((47.0, 53.0), (88.0, 92.0))
"""Between which percentages the ranges of `STATED` should hold."""
ENOUGH: Final = 300
"""Cases from which on a bin's gap counts."""
NEAR: Final = 3.0
"""Points within which what came should be of what was said."""
_LONG_DAYS: Final = 60  # from which on bins are judged; on shorter sets a few days decide them
WARM_UP: Final = 7 * BARS_A_DAY
_BLOCK_HOURS: Final = 4
_THIRDS: Final = 3
_BIN: Final = 0.1
_PRIOR: Final = 10.0  # cases that the published base rate counts for in the base rate of an hour of the day
HOUR: Final = list(HORIZONS).index("1h")
Flags = npt.NDArray[np.bool_]
Days = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FullHours:
    """What the brain said at full hours and what came; n moments in the order of time, NaN where unknown."""

    t: npt.NDArray[np.int64]  # start of each horizon, ms, (n,)
    move: FloatArray  # log moves that came, (4, n, assets)
    sigma: FloatArray  # expected sigma of them, likewise
    reach: FloatArray  # log moves that half and nine tenths should stay within, (2, 4, n, assets)
    chance: FloatArray  # said chance that the hour's move ends outside its band, (n, assets)
    base: FloatArray  # its published base rate, likewise
    band: FloatArray  # half-width of the band as a fraction, likewise

    @property
    def day(self) -> Days:
        """Number of the day (UTC) of each moment, from 0."""
        return np.asarray(self.t // DAY_MS - self.t[0] // DAY_MS)

    @property
    def hour(self) -> Days:
        """Hour of the day (UTC) of each moment."""
        return np.asarray(self.t // HOUR_MS % 24)

    def inside(self, horizon: int, level: int) -> tuple[Flags, Flags]:
        """Return which moves ended inside a range and which are known, both (n, assets)."""
        move = self.move[horizon]
        return np.abs(move) <= self.reach[level, horizon], np.isfinite(move) & np.isfinite(self.reach[level, horizon])


def listen(frame: BarFrame, weights: Weights, warm_up: int = WARM_UP, *, engine: Engine | None = None) -> FullHours:
    """Feed a market to a new brain, or to `engine`, and keep what is said at each full hour after `warm_up` bars."""
    engine = engine or Engine(weights, frame.assets)
    rows: list[int] = []
    states: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    for row in engine.replay(frame, HOUR_MS):
        if row >= warm_up:
            rows.append(row)
            states.append((engine.sigma(), engine.ranges.widths(), _of_the_hour(engine)))

    at = np.array(rows)
    sigma, widths, hours = (np.array(column) for column in zip(*states, strict=True))
    move, _ = moves_after(frame, at)
    by_horizon = sigma.swapaxes(0, 1)
    chance, base, band = hours.swapaxes(0, 1)
    return FullHours(
        t=frame.t[at] + BAR_MS,
        move=move,
        sigma=by_horizon,
        reach=by_horizon * widths.transpose(2, 1, 0)[..., None],
        chance=chance,
        base=base,
        band=band,
    )


def _of_the_hour(engine: Engine) -> FloatArray:
    """Return the chance that the next hour's move ends outside its band, the base rate of it and the band, (3, assets).

    NaN where there is no forecast.
    """
    rows = np.full((3, len(engine.assets)), np.nan)
    for column, forecast in enumerate(engine.forecasts(SHOWN_MINUTES)):
        if forecast:
            rows[:, column] = (forecast.move.chance, forecast.move.base_rate, forecast.band_bps / 1e4)
    return rows


class Coverage(NamedTuple):
    """How often one range held, in percent."""

    horizon: str
    stated: int
    cases: int
    share: float
    low: float  # of the 95% interval, by resampled days
    high: float
    rms_by_hour: float  # root mean square over the hours of the day of the distance from `share`, points
    blocks: tuple[float, ...]  # of four hours from 00:00 UTC
    thirds: tuple[float, ...]  # of each asset's expected sigma, the calmest first


def coverages(hours: FullHours) -> list[Coverage]:
    """Return how often each range held, at all four horizons."""
    return [_coverage(hours, horizon, level) for horizon in range(len(HORIZONS)) for level in range(len(STATED))]


def _coverage(hours: FullHours, horizon: int, level: int) -> Coverage:
    inside, known = hours.inside(horizon, level)
    share = _percent(inside, known)

    # A horizon of a day overlaps with the next day's, so two days are drawn together.
    days_together = 2 if HORIZON_BARS[horizon] >= BARS_A_DAY else 1
    low, high = ratio_by_days(hours.day, (inside & known).sum(axis=1), known.sum(axis=1), days_together)

    by_hour = [_percent(inside[hours.hour == hour], known[hours.hour == hour]) for hour in range(24)]
    block = hours.hour // _BLOCK_HOURS
    blocks = [_percent(inside[block == at], known[block == at]) for at in range(24 // _BLOCK_HOURS)]

    third = _third_of(hours.sigma[horizon])
    thirds = [_percent(inside[third == at], known[third == at]) for at in range(_THIRDS)]
    return Coverage(
        horizon=list(HORIZONS)[horizon],
        stated=STATED[level],
        cases=int(known.sum()),
        share=share,
        low=low,
        high=high,
        rms_by_hour=float(np.sqrt(np.nanmean((np.array(by_hour) - share) ** 2))),
        blocks=tuple(blocks),
        thirds=tuple(thirds),
    )


def _percent(inside: Flags, known: Flags) -> float:
    """Return how many percent of the known cases are inside, NaN without any."""
    cases = int(known.sum())
    return 100.0 * int((inside & known).sum()) / cases if cases else np.nan


def _third_of(sigma: FloatArray) -> npt.NDArray[np.int64]:
    """Return 0, 1 or 2 by the rank of each sigma among those of its own asset, (n, assets)."""
    rank = sigma.argsort(axis=0).argsort(axis=0)
    return np.asarray(rank * _THIRDS // len(sigma))


def ratio_by_days(day: Days, above: FloatArray, below: FloatArray, together: int = 1) -> tuple[float, float]:
    """Return the 95% interval, in percent, of a ratio of two sums over days drawn with replacement."""
    many = int(day.max()) + 1
    top = np.bincount(day, weights=above, minlength=many)
    bottom = np.bincount(day, weights=below, minlength=many)
    taken = draw(np.random.default_rng(0), many, together, 1000)
    return interval_of(100.0 * (top[taken].sum(axis=1) / bottom[taken].sum(axis=1)))


@dataclass(frozen=True, slots=True)
class Movement:
    """Said chances that the hour's move ends outside its band, with what came; known cases in the order of time."""

    said: FloatArray  # (cases,)
    base: FloatArray  # published base rate
    climate: FloatArray  # base rate of the hour of the day, from the days before
    moved: FloatArray  # 1.0 where it did
    day: Days
    moment: Days  # full hour, counted from 0

    def skill(self, base: FloatArray) -> tuple[float, float, float]:
        """Return the Brier skill against a base in percent, and its 95% interval by resampled days."""
        own = squared_error(self.said, self.moved)
        usual = squared_error(base, self.moved)
        low, high = ratio_by_days(self.day, usual - own, usual)
        return 100.0 * float(1.0 - own.sum() / usual.sum()), low, high

    def bins(self) -> list[tuple[float, float, int]]:
        """Return what was said and what came, in percent, with the number of cases, by tenths of what was said."""
        return [
            (100.0 * float(self.said[chosen].mean()), 100.0 * float(self.moved[chosen].mean()), int(chosen.sum()))
            for chosen in (self._tenth == at for at in np.unique(self._tenth))
        ]

    @property
    def _tenth(self) -> Days:
        return np.minimum((self.said / _BIN).astype(np.int64), round(1 / _BIN) - 1)

    def together(self) -> float:
        """Return how alike the assets are: mean correlation, over the pairs of a moment, of what came beyond chance."""
        beyond = (self.moved - self.said) / np.sqrt(self.said * (1.0 - self.said))
        many, total, squares = (np.bincount(self.moment, weights=weights) for weights in (None, beyond, beyond**2))
        pairs = float((many * (many - 1)).sum())
        return float((total**2 - squares).sum() / pairs) if pairs else 0.0

    def luck(self, draws: int = 2000) -> tuple[float, float]:
        """Return how the bins come out of a forecaster whose chances, these, are exact.

        Outcomes are drawn from them with assets that move together as these do: a normal copula whose correlation is
        that of halves of a normal pair, sin(pi / 2 x correlation of the outcomes).

        Returns:
            In how many percent of the draws all bins of `ENOUGH` cases lie within `NEAR` points, and the points that
            the largest of their gaps stays below in 95%; NaN without such a bin.
        """
        many = np.bincount(self._tenth)
        enough = many >= ENOUGH
        if not enough.any():
            return np.nan, np.nan
        normal = NormalDist()
        limit = np.array([normal.inv_cdf(chance) for chance in self.said.tolist()])
        expected = np.bincount(self._tenth, weights=self.said)
        alike = max(0.0, float(np.sin(0.5 * np.pi * self.together())))

        rng = np.random.default_rng(0)
        gaps = np.empty(draws)
        for place in range(draws):
            # One common factor a moment gives each pair of assets the correlation `alike`.
            common = rng.standard_normal(int(self.moment[-1]) + 1)[self.moment]
            size = np.sqrt(alike) * common + np.sqrt(1.0 - alike) * rng.standard_normal(len(limit))
            inside = np.bincount(self._tenth, weights=size < limit)
            gaps[place] = 100.0 * (np.abs(inside - expected)[enough] / many[enough]).max()
        return 100.0 * float((gaps <= NEAR).mean()), float(np.quantile(gaps, 0.95))


def movement(hours: FullHours) -> Movement:
    """Return what was said of whether it moves, with what came."""
    move = hours.move[HOUR]
    outside = np.abs(np.expm1(move)) > hours.band
    known = np.isfinite(move) & np.isfinite(hours.chance)
    climate = _climate(hours, outside, known)
    day = np.broadcast_to(hours.day[:, None], known.shape)

    return Movement(
        said=hours.chance[known],
        base=hours.base[known],
        climate=climate[known],
        moved=outside[known].astype(np.float64),
        day=day[known],
        moment=np.nonzero(known)[0],
    )


def _climate(hours: FullHours, outside: Flags, known: Flags) -> FloatArray:
    """Return the base rate of each hour of the day from the same hour of the days before, all assets, (n, assets).

    The published base rate counts for the first cases. An hour has ended before the same hour of the next day begins.
    """
    moved = np.zeros(24)
    cases = np.zeros(24)
    climate = np.full(outside.shape, np.nan)
    for row, hour in enumerate(hours.hour.tolist()):
        # Stated before the hour's own outcomes are counted, as it must not know them.
        climate[row] = (_PRIOR * hours.base[row] + moved[hour]) / (_PRIOR + cases[hour])
        moved[hour] += np.count_nonzero(outside[row] & known[row])
        cases[hour] += np.count_nonzero(known[row])
    return climate


def held(name: str, hours: FullHours) -> str:
    """Return every table of one market as Markdown."""
    days = len(hours.t) / 24
    size = f"{hours.move.shape[2]} assets, {days:.0f} days, {len(hours.t)} full hours"
    head = f"{name}: {size}; intervals by resampled days."
    ranges = table(
        "horizon | stated % | held % (95%) | n | met | by 4 h from 00:00 UTC | rms over hours | by thirds of sigma",
        [_range_row(coverage) for coverage in coverages(hours)],
    )

    moves = movement(hours)
    skills = table(
        "will it move, 60 min | Brier skill % (95%) | n",
        [_skill_row(moves, "its own base rate", moves.base), _skill_row(moves, "a base rate by hour", moves.climate)],
    )
    judged = days >= _LONG_DAYS
    bins = table("said % | came % | n | within 3 points", [_bin_row(*row, judged=judged) for row in moves.bins()])
    return "\n".join((head + "\n", ranges, skills, bins, _luck_line(moves)))


def _range_row(coverage: Coverage) -> tuple[str, ...]:
    low, high = BOUNDS[STATED.index(coverage.stated)]
    return (
        coverage.horizon,
        str(coverage.stated),
        f"{coverage.share:.1f} ({coverage.low:.1f} to {coverage.high:.1f})",
        str(coverage.cases),
        met(low <= coverage.share <= high),
        _listed(coverage.blocks),
        f"{coverage.rms_by_hour:.1f}",
        _listed(coverage.thirds),
    )


def _listed(shares: tuple[float, ...]) -> str:
    return ", ".join(f"{share:.1f}" for share in shares)


def _skill_row(moves: Movement, against: str, base: FloatArray) -> tuple[str, ...]:
    skill, low, high = moves.skill(base)
    return f"against {against}", f"{skill:+.2f} ({low:+.2f} to {high:+.2f})", str(len(moves.said))


def _bin_row(stated: float, observed: float, cases: int, *, judged: bool) -> tuple[str, ...]:
    near = met(abs(stated - observed) <= NEAR) if judged and cases >= ENOUGH else ""
    return f"{stated:.1f}", f"{observed:.1f}", str(cases), near


def _luck_line(moves: Movement) -> str:
    within, largest = moves.luck()
    if np.isnan(within):
        return f"No bin has {ENOUGH} cases.\n"
    return (
        f"Were these chances exact, with assets that move together as these do (correlation {moves.together():.2f}),\n"
        f"all bins of {ENOUGH} cases would lie within {NEAR:g} points in {within:.0f}% of 2,000 draws, and the\n"
        f"largest gap below {largest:.1f} points in 95%.\n"
    )


def was_fitted(frame: BarFrame, weights: Weights) -> bool:
    """Say whether the outlook was fitted on days that a market shares."""
    fitted = weights.recipe
    first, last = (str(np.datetime64(int(t), "ms"))[:10] for t in (frame.t[0], frame.t[-1]))
    return bool(first <= fitted["last_day"] and last >= fitted["first_day"])


def pooled(parts: list[FullHours]) -> FullHours:
    """Return several markets as one, one after the other, so that days of different markets stay apart."""
    starts = np.cumsum([0, *(int(part.day[-1]) + 1 for part in parts)])
    first = parts[0].t[0] // DAY_MS * DAY_MS
    times = [
        first + at * DAY_MS + (part.t - part.t[0] // DAY_MS * DAY_MS) for at, part in zip(starts, parts, strict=False)
    ]
    joined = partial(_joined, parts)

    return FullHours(
        t=np.concatenate(times),
        move=joined("move", 1),
        sigma=joined("sigma", 1),
        reach=joined("reach", 2),
        chance=joined("chance", 0),
        base=joined("base", 0),
        band=joined("band", 0),
    )


def _joined(parts: list[FullHours], name: str, axis: int) -> FloatArray:
    return np.concatenate([getattr(part, name) for part in parts], axis=axis)
