"""Do moves go beyond the levels of the ladder as often as stated, at the end and on the way: at full hours.

Rivals are asked at the same hours: a normal curve and Student's t with the same sigma, whose paths are reflected at a
level, and the climate: how often the asset went beyond it in the 30 days before, by hour of the day. The partition is
scored against its own base rates.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from generator.arena.scoring import log_score, squared_error
from generator.brain.engine import Engine
from generator.brain.outlook import HORIZON_BARS
from generator.brain.weights import Weights
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.horizons import HORIZONS
from generator.lab.coverage import ENOUGH, WARM_UP, Days, ratio_by_days
from generator.lab.outlook import moves_after
from generator.lab.report import met, table
from generator.market.bars import BAR_MS, BARS_A_DAY, BarFrame, FloatArray
from generator.values.scores import Estimate

KINDS: Final = ("end", "touch")
SIDES: Final = ("up", "down", "either")
RIVALS: Final = ("climate", "normal", "t")
RARE_DAYS: Final = 30  # with an event; a level with fewer, or with fewer than half of all days, is not judged by itself
_EITHER: Final = SIDES.index("either")
_CLIMATE_HOURS: Final = 30 * 24
_LEAST: Final = 0.001
_erfc: Final = np.vectorize(math.erfc, otypes=[np.float64])
_TERMS: Final = 6  # of the series for a path that leaves a band
_NEAR: Final = {"24h": 6.0}  # points within which what came should be of what was said
_NEAR_ELSE: Final = 4.0
_FEWEST_DAYS: Final = 60  # from which on bins are judged
_BIN: Final = 0.1
_PARTITION: Final = list(HORIZONS).index("4h")


@dataclass(frozen=True, slots=True)
class LadderSample:
    """What was said at full hours and what came; n hours, NaN where unknown.

    Chances are (2 kinds, 3 sides, 4 horizons, 4 levels, n, assets); the partition's are (3, n, assets).
    """

    t: Days  # start of the horizons, ms, (n,)
    stated: FloatArray  # chances as published
    came: FloatArray  # 1.0 where it went beyond
    rivals: dict[str, FloatArray]  # chances by rival
    partition: FloatArray  # stated chances of down, within the band and up
    base: FloatArray  # their base rates
    outcome: FloatArray  # 1.0 for what came
    first: int  # hour from which on hours are scored: those before only teach the climate

    @property
    def day(self) -> Days:
        """Number of the day (UTC) of each hour, from 0."""
        return np.asarray(self.t // DAY_MS - self.t[0] // DAY_MS)


def in_table(skill: Estimate) -> str:
    """Write a skill in percent as a table has it, with its 95% interval by resampled days."""
    return f"{skill.value:+.1f} ({skill.low:+.1f} to {skill.high:+.1f})"


def listen(frame: BarFrame, weights: Weights, warm_up: int = WARM_UP) -> LadderSample:
    """Feed a market and keep what is said at each full hour; `warm_up` bars are not scored."""
    engine = Engine(weights, frame.assets)
    rows: list[int] = []
    sigmas: list[FloatArray] = []
    stated: list[FloatArray] = []
    parts: list[FloatArray] = []
    first = 0
    for row in engine.replay(frame, HOUR_MS):
        if not np.isfinite(engine.sigma()).any():
            continue
        # Hours of the warm-up are kept, because they teach the climate; scores begin after them.
        first += row < warm_up
        rows.append(row)
        sigmas.append(engine.sigma())
        stated.append(_published(engine))
        parts.append(_partition(engine))

    at = np.array(rows)
    beyond, band_came = _outcomes(frame, at, np.array([part[-1] for part in parts]))
    sigma = np.array(sigmas).swapaxes(0, 1)
    t = frame.t[at] + BAR_MS
    rivals = {
        "climate": _climate(t, beyond),
        "normal": _reflected(sigma, normal_tail),
        "t": _reflected(sigma, t_tail),
    }
    every = np.array(parts)
    return LadderSample(
        t=t,
        stated=np.moveaxis(np.array(stated), 0, -2),
        came=beyond,
        rivals={name: np.clip(chances, _LEAST, 1.0 - _LEAST) for name, chances in rivals.items()},
        partition=np.moveaxis(every[:, :3], 0, -2),
        base=np.moveaxis(every[:, 3:6], 0, -2),
        outcome=band_came,
        first=first,
    )


def _published(engine: Engine) -> FloatArray:
    """Return the chances of every ladder, (2 kinds, 3 sides, 4 horizons, 4 levels, assets)."""
    chances = [
        [[[level.end.three, level.touch.three] for level in levels] for levels in ladder.values()]
        for ladder in engine.ladders()
    ]
    return np.array(chances).transpose(3, 4, 1, 2, 0)


def _partition(engine: Engine) -> FloatArray:
    """Return chances, base rates and the band of every partition, (7, assets), NaN where there is none."""
    out = np.full((7, len(engine.assets)), np.nan)
    for column, part in enumerate(engine.partitions()):
        if part:
            stated = (part.chances.down, part.chances.neutral, part.chances.up)
            usual = (part.base_rate.down, part.base_rate.neutral, part.base_rate.up)
            out[:, column] = (*stated, *usual, part.band)
    return out


def _levels() -> FloatArray:
    """Return the levels as fractions, (4 horizons, 4 levels)."""
    return np.array([horizon.levels for horizon in HORIZONS.values()]) / 100.0


def _edges() -> tuple[FloatArray, FloatArray]:
    """Return how far up and down each level is in logs, (4 horizons, 4 levels, 1, 1)."""
    levels = _levels()[..., None, None]
    return np.log1p(levels), -np.log1p(-levels)


def _outcomes(frame: BarFrame, at: Days, band: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return which levels were passed and what came of the partition; `band` is its half-width, (n, assets)."""
    up, down = _edges()
    move, _ = moves_after(frame, at)
    highest, lowest = edges_after(frame, at)
    moved = move[:, None]
    events = []
    for above, below in ((moved, moved), (highest[:, None], lowest[:, None])):
        is_known = np.isfinite(above) & np.isfinite(moved)
        rose = above > up
        fell = below < -down
        events.append([np.where(is_known, event, np.nan) for event in (rose, fell, rose | fell)])

    change = np.expm1(move[_PARTITION])
    is_known = np.isfinite(change) & np.isfinite(band)
    parts = (change < -band, np.abs(change) <= band, change > band)
    return np.array(events), np.array([np.where(is_known, part, np.nan) for part in parts])


def edges_after(frame: BarFrame, at: Days) -> FloatArray:
    """Return the highest and lowest log price on the way from the start's, (2, 4, n, assets), NaN with a bar missing.

    Looked up bar by bar: it shares no code with what the brain learns from.
    """
    high = np.log(frame.fields["high"])
    low = np.log(frame.fields["low"])
    close = np.log(frame.fields["close"])
    out = np.full((2, len(HORIZON_BARS), len(at), close.shape[1]), np.nan)
    for place, row in enumerate(at.tolist()):
        for horizon, ahead in enumerate(HORIZON_BARS):
            end = row + ahead + 1
            if end <= len(close) and frame.t[end - 1] - frame.t[row] == ahead * BAR_MS:
                out[0, horizon, place] = high[row + 1 : end].max(axis=0) - close[row]
                out[1, horizon, place] = low[row + 1 : end].min(axis=0) - close[row]

    return out


def normal_tail(sizes: FloatArray) -> FloatArray:
    """Return the chance that a standard normal number is larger.

    >>> normal_tail(np.array([0.0, 1.96])).round(3).tolist()
    [0.5, 0.025]
    """
    return np.asarray(0.5 * _erfc(sizes / math.sqrt(2.0)), dtype=np.float64)


def t_tail(sizes: FloatArray) -> FloatArray:
    """Return the chance that a number of Student's t with four degrees of freedom and unit variance is larger.

    >>> t_tail(np.array([0.0, 2.776 / 2**0.5])).round(3).tolist()
    [0.5, 0.025]
    """
    raw = sizes * math.sqrt(2.0)  # its variance is 2
    square = 1.0 + raw**2 / 4.0
    out: FloatArray = 0.5 - 0.375 * raw / np.sqrt(square) * (1.0 - raw**2 / (12.0 * square))
    return out


def _reflected(sigma: FloatArray, tail: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Return the chances that a curve with a tail gives at the end, and reflected at a level on the way.

    A path leaves a band round its start with 4 (Q(x) - Q(3x) + Q(5x) - ...), where Q is the tail at its end.

    Args:
        sigma: expected of the log moves, (4, n, assets).

    Source: P. Billingsley, Convergence of probability measures, 1968, 11.10.
    """
    above, below = (edge / sigma[:, None] for edge in _edges())
    end_up = tail(above)
    end_down = tail(below)
    # The series is of a symmetric band; in logs the two distances differ little, so their mean stands for both.
    size = 0.5 * (above + below)
    either = np.zeros_like(size)
    for term in range(_TERMS):
        either += (-1) ** term * 4.0 * tail((2 * term + 1) * size)
    return np.array(((end_up, end_down, end_up + end_down), (2.0 * end_up, 2.0 * end_down, either)))


def _climate(t: Days, beyond: FloatArray) -> FloatArray:
    """Return how often each asset went beyond each level in the 30 days before, by hour of the day.

    The asset's own rate, times how much likelier it was at this hour of the day than at any, over all assets. Only
    horizons that have ended count.
    """
    hours = (t - t[0]) // HOUR_MS
    hour_of_day = t // HOUR_MS % 24
    out = np.full(beyond.shape, np.nan)
    ahead = [max(1, horizon.length_ms // HOUR_MS) for horizon in HORIZONS.values()]
    for row, hour in enumerate(hours.tolist()):
        for horizon, length in enumerate(ahead):
            # Only hours whose horizon has ended by now: the climate must not look ahead.
            first, last = np.searchsorted(hours, (hour - length - _CLIMATE_HOURS + 1, hour - length + 1))

            past = beyond[:, :, horizon, :, first:last]
            if not past.shape[-2]:
                continue
            own = _rate(past, (-2,))
            every = _rate(past, (-2, -1))
            same = past[..., hour_of_day[first:last] == hour_of_day[row], :]
            here = _rate(same, (-2, -1)) if same.shape[-2] else every
            out[:, :, horizon, :, row] = own * here / every
    bounded: FloatArray = np.clip(out, _LEAST, 1.0 - _LEAST)
    return bounded


def _rate(beyond: FloatArray, axis: tuple[int, ...]) -> FloatArray:
    """Return the share of the known cases that came, half a case of each kind added."""
    known = np.isfinite(beyond)
    events = np.where(known, beyond, 0.0).sum(axis=axis, keepdims=True)
    out: FloatArray = ((events + 0.5) / (known.sum(axis=axis, keepdims=True) + 1.0))[..., 0, :]
    return out


def brier_skill(stated: FloatArray, rival: FloatArray, outcome: FloatArray, day: Days, together: int = 1) -> Estimate:
    """Return how much smaller the squared error is than a rival's, over the cases that both have, (n, assets)."""
    known = np.isfinite(stated) & np.isfinite(rival) & np.isfinite(outcome)
    own = np.where(known, squared_error(stated, outcome), 0.0).sum(axis=1)
    usual = np.where(known, squared_error(rival, outcome), 0.0).sum(axis=1)
    low, high = ratio_by_days(day, usual - own, usual, together)
    return Estimate(100.0 * float(1.0 - own.sum() / usual.sum()), low, high)


class LevelScore(NamedTuple):
    """One level, either side."""

    kind: str
    horizon: str
    level: float
    cases: int
    days: int  # with an event
    said: float  # percent
    came: float
    rare: bool  # too rare to be judged by itself
    skills: dict[str, Estimate]  # by rival


def level_scores(hours: LadderSample) -> list[LevelScore]:
    """Return the scores of every level, either side."""
    scores = []
    day = hours.day[hours.first :]
    for kind, kind_name in enumerate(KINDS):
        for horizon, (name, about) in enumerate(HORIZONS.items()):
            for place, level in enumerate(about.levels):
                cell = (kind, _EITHER, horizon, place, slice(hours.first, None))
                stated = hours.stated[cell]
                outcome = hours.came[cell]
                known = np.isfinite(stated) & np.isfinite(outcome)
                if not known.any():
                    continue
                # A horizon of a day overlaps with the next day's, so two days are drawn together.
                together = 2 if HORIZON_BARS[horizon] >= BARS_A_DAY else 1
                skills = {
                    rival: brier_skill(stated, chances[cell], outcome, day, together)
                    for rival, chances in hours.rivals.items()
                }
                with_event = len(np.unique(day[((outcome == 1.0) & known).any(axis=1)]))
                scores.append(
                    LevelScore(
                        kind=kind_name,
                        horizon=name,
                        level=level,
                        cases=int(known.sum()),
                        days=with_event,
                        said=100.0 * float(stated[known].mean()),
                        came=100.0 * float(outcome[known].mean()),
                        rare=with_event < min(RARE_DAYS, len(np.unique(day)) / 2),
                        skills=skills,
                    )
                )
    return scores


def reliability(chances: FloatArray, outcomes: FloatArray) -> list[tuple[float, float, int]]:
    """Return what was said and what came, in percent, with the number of cases, by tenths of what was said."""
    known = np.isfinite(chances) & np.isfinite(outcomes)
    stated = chances[known]
    event = outcomes[known]
    tenth = np.minimum((stated / _BIN).astype(np.int64), round(1 / _BIN) - 1)
    return [
        (100.0 * float(stated[chosen].mean()), 100.0 * float(event[chosen].mean()), int(chosen.sum()))
        for chosen in (tenth == at for at in np.unique(tenth))
    ]


def measured_ladder(name: str, hours: LadderSample) -> str:
    """Return every table of one market as Markdown."""
    scored = len(hours.t) - hours.first
    days = scored / 24
    assets = hours.came.shape[-1]
    head = f"{name}: {assets} assets, {days:.0f} days, {scored} full hours; intervals by resampled days.\n"
    scores = level_scores(hours)

    levels = table(
        "move beyond | horizon | level % | n | days with one | said % | came % | skill against the climate % | "
        "normal % | t % | rare",
        [_level_row(score) for score in scores],
    )
    means = table(
        "mean skill against the climate % | end | touch", [_mean_row(scores, horizon) for horizon in HORIZONS]
    )
    bins = table("of all levels and sides | horizon | said / came % (n) | within", list(_bin_rows(hours, days)))
    return "\n".join((head, levels, means, bins, _partition_table(hours)))


def _level_row(score: LevelScore) -> tuple[str, ...]:
    return (
        score.kind,
        score.horizon,
        f"{score.level:g}",
        str(score.cases),
        str(score.days),
        f"{score.said:.2f}",
        f"{score.came:.2f}",
        *(in_table(score.skills[rival]) for rival in RIVALS),
        "rare" if score.rare else "",
    )


def _mean_row(scores: list[LevelScore], horizon: str) -> tuple[str, ...]:
    """Return the mean skill over the levels of a horizon that are not rare."""
    means = []
    for kind in KINDS:
        skills = [
            score.skills["climate"].value
            for score in scores
            if score.kind == kind and score.horizon == horizon and not score.rare
        ]
        means.append(f"{np.mean(skills):+.1f} ({len(skills)} levels)" if skills else "all rare")
    return horizon, *means


def _bin_rows(hours: LadderSample, days: float) -> Iterable[tuple[str, ...]]:
    scored = slice(hours.first, None)
    for kind, kind_name in enumerate(KINDS):
        for horizon, name in enumerate(HORIZONS):
            cell = (kind, slice(None), horizon, slice(None), scored)
            bins = reliability(hours.stated[cell], hours.came[cell])
            limit = _NEAR.get(name, _NEAR_ELSE)
            gaps = [abs(stated - observed) for stated, observed, cases in bins if cases >= ENOUGH]
            good = max(gaps) <= limit if days >= _FEWEST_DAYS and gaps else None
            listed = ", ".join(f"{stated:.1f}/{observed:.1f} ({cases})" for stated, observed, cases in bins)
            yield kind_name, name, listed, met(good)


def _partition_table(hours: LadderSample) -> str:
    """Return the scores of the partition against its base rates, and its reliability."""
    scored = slice(hours.first, None)
    chances = hours.partition[:, scored]
    base = hours.base[:, scored]
    outcomes = hours.outcome[:, scored]
    known = np.isfinite(chances).all(axis=0) & np.isfinite(outcomes).all(axis=0)
    day = hours.day[scored]

    rows = []
    for measure, loss in (("Brier", _brier), ("log", _log)):
        own = np.where(known, loss(chances, outcomes), 0.0).sum(axis=1)
        usual = np.where(known, loss(base, outcomes), 0.0).sum(axis=1)
        low, high = ratio_by_days(day, usual - own, usual)
        skill = Estimate(100.0 * float(1.0 - own.sum() / usual.sum()), low, high)
        rows.append((f"{measure} skill against the base rates %", in_table(skill)))

    shares = [f"{100.0 * float(row[known].mean()):.1f}" for row in outcomes]
    stated = [f"{100.0 * float(row[known].mean()):.1f}" for row in chances]
    rows.append(("down, within, up: came %", ", ".join(shares)))
    rows.append(("down, within, up: said %", ", ".join(stated)))
    within = reliability(chances[1], outcomes[1])
    rows.append(("within: said / came % (n)", ", ".join(f"{a:.1f}/{b:.1f} ({n})" for a, b, n in within)))
    return table(f"partition of 4 h, n = {int(known.sum())} | figure", rows)


def _brier(chances: FloatArray, outcomes: FloatArray) -> FloatArray:
    out: FloatArray = squared_error(chances, outcomes).sum(axis=0)
    return out


def _log(chances: FloatArray, outcomes: FloatArray) -> FloatArray:
    out: FloatArray = np.vectorize(partial(log_score, least=_LEAST))((chances * outcomes).sum(axis=0))
    return out
