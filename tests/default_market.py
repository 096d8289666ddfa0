"""`python -m tests.default_market`: does the simulated market behave as real ones do?

The facts are those that the chapters of Learn teach, measured on hourly moves of every asset over 60 days of each seed.
Prints one row a seed and the pooled row, and ends with 1 where a pooled figure lies outside its bounds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt
import typer

from generator.market.bars import BAR_MS, BARS_A_DAY, FloatArray
from generator.market.simulated.market import SimulatedMarket

DAYS: Final = 60
FIRST_DAY: Final = 20_400  # November 2025
HOURS: Final = (1, 2, 4, 8, 12, 24)
BARS_AN_HOUR: Final = BARS_A_DAY // 24
CRASH: Final = 0.06  # of the median asset, within a day
CRASH_HOURS: Final = 24
LUCK: Final = 3.0  # standard errors
RIGHT: Final = float(np.log(2 * 0.55))  # log score over a coin's of a side that got 55 %
WRONG: Final = float(np.log(2 * 0.45))
USUAL_FUNDING: Final = 0.0001
BOUNDS: Final[Mapping[str, tuple[float, float]]] = {
    **{f"growth {hours} h": (0.8, 1.2) for hours in HOURS[1:]},
    "side, standard errors": (-LUCK, LUCK),
    "drift, standard errors": (-LUCK, LUCK),
    "beyond 4 sigma, %": (0.2, 1.2),
    "size, lag 24 h": (0.05, 0.20),
    "hours of a day": (1.3, 4.0),
    "weekend": (0.5, 0.95),
    "correlation": (0.4, 0.8),
    "crashes a month": (0.5, 2.5),
    "rallies a month": (0.5, 2.5),
    "usual funding, %": (40.0, 98.0),
    "rough depth": (0.2, 0.8),
}


@dataclass(frozen=True)
class Hourly:
    """One seed's market by the hour.

    Args:
        moves: log moves, shape (hours, assets).
        depth: in USD at each hour's last bar, likewise.
        funding: rate per eight hours, likewise.
        first_hour: since 1970, for the hour of the day and the day of the week.
    """

    moves: FloatArray
    depth: FloatArray
    funding: FloatArray
    first_hour: int


def hourly_of(seed: int, days: int = DAYS, first_day: int = FIRST_DAY) -> Hourly:
    """Return a market by the hour."""
    day_ms = BARS_A_DAY * BAR_MS
    fields = SimulatedMarket(seed).bars(first_day * day_ms, (first_day + days) * day_ms).fields
    moved = np.log(fields["close"] / fields["open"])
    moves = moved.reshape(days * 24, BARS_AN_HOUR, -1).sum(axis=1)
    last = slice(BARS_AN_HOUR - 1, None, BARS_AN_HOUR)
    return Hourly(moves, fields["depth_usd"][last], fields["funding"][last], first_day * 24)


def facts_of(market: Hourly) -> dict[str, float]:
    """Return every fact of one market."""
    moves = market.moves
    usual = np.median(np.abs(moves), axis=0)
    facts = {f"growth {hours} h": _growth(moves, hours, usual) for hours in HOURS[1:]}

    size = np.abs(moves)
    facts["side, standard errors"] = _side_skill(moves)
    facts["drift, standard errors"] = _standard_errors(moves.mean(axis=1))
    facts["beyond 4 sigma, %"] = 100.0 * float((size > 4.0 * moves.std(axis=0)).mean())
    facts["size, lag 24 h"] = float(np.mean([_autocorrelation(column, 24) for column in size.T]))

    scaled = (size / size.mean(axis=0)).mean(axis=1)
    hour = (market.first_hour + np.arange(len(scaled))) % 24
    by_hour = np.array([np.median(scaled[hour == number]) for number in range(24)])
    facts["hours of a day"] = float(np.sort(by_hour)[-4:].mean() / np.sort(by_hour)[:4].mean())
    weekday = ((market.first_hour + np.arange(len(scaled))) // 24 + 3) % 7
    facts["weekend"] = float(np.median(scaled[weekday >= 5]) / np.median(scaled[weekday < 5]))

    related: FloatArray = np.atleast_2d(np.corrcoef(moves.T))
    facts["correlation"] = float(related[np.triu_indices(len(related), 1)].mean())
    facts["crashes a month"] = 30.0 * 24.0 / len(moves) * _episodes(-_day_moves(moves) > CRASH)
    facts["rallies a month"] = 30.0 * 24.0 / len(moves) * _episodes(_day_moves(moves) > CRASH)
    facts["usual funding, %"] = 100.0 * float((np.abs(market.funding - USUAL_FUNDING) < 1e-9).mean())

    rough = scaled > np.quantile(scaled, 0.9)
    facts["rough depth"] = float(np.median(market.depth[rough], axis=0).mean() / np.median(market.depth, axis=0).mean())
    return facts


def _growth(moves: FloatArray, hours: int, usual: FloatArray) -> float:
    """Return the median move over some hours in units of the hour's times the root of the hours."""
    path = np.cumsum(moves, axis=0)
    far = np.abs(path[hours:] - path[:-hours])
    return float(np.mean(np.median(far, axis=0) / usual) / np.sqrt(hours))


def _side_skill(moves: FloatArray) -> float:
    """Return what following the last hour's, four hours' and day's side is worth in log score, in standard errors.

    A follower gives its side 55 %; the errors are of days, in which hours and assets go together.
    """
    path = np.vstack([np.zeros(moves.shape[1]), np.cumsum(moves, axis=0)])
    gains = []
    for hours in (1, 4, 24):
        before = np.sign(path[24:-1] - path[24 - hours : -1 - hours])
        came = np.sign(moves[24:])
        earned: FloatArray = np.where(before == came, RIGHT, WRONG) - 0.5 * (RIGHT + WRONG)
        gains.append(np.where(before * came == 0.0, 0.0, earned))  # an hour without a move has no side
    return _standard_errors(np.mean(gains, axis=(0, 2)))


def _standard_errors(values: FloatArray) -> float:
    """Return a mean in units of its standard error by blocks of a day."""
    days = values[: len(values) // 24 * 24].reshape(-1, 24).mean(axis=1)
    return float(days.mean() / (days.std(ddof=1) / np.sqrt(len(days))))


def _autocorrelation(values: FloatArray, lag: int) -> float:
    return float(np.corrcoef(values[:-lag], values[lag:])[0, 1])


def _day_moves(moves: FloatArray) -> FloatArray:
    """Return the median asset's move over each window of a day."""
    path = np.median(np.cumsum(moves, axis=0), axis=1)
    moved: FloatArray = path[CRASH_HOURS:] - path[:-CRASH_HOURS]
    return moved


def _episodes(holds: npt.NDArray[np.bool_]) -> int:
    """Count the runs of windows, those within two days of each other as one."""
    at = np.flatnonzero(holds)
    return 0 if not len(at) else 1 + int((np.diff(at) > 48).sum())


def pooled(rows: list[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each fact; of standard errors, the sum over the root of how many."""
    root = np.sqrt(len(rows))
    return {
        name: float(np.sum([row[name] for row in rows]) / root)
        if "standard" in name
        else float(np.mean([row[name] for row in rows]))
        for name in BOUNDS
    }


def outside(row: Mapping[str, float]) -> Iterator[str]:
    """Yield each fact that lies outside its bounds."""
    for name, (low, high) in BOUNDS.items():
        if not low <= row[name] <= high:
            yield f"{name} {row[name]:.3f} outside {low:g} to {high:g}"


def main(seeds: Annotated[int, typer.Option(help="How many.")] = 20, first: int = 2026) -> None:
    """Measure one seed after the other, then all of them together."""
    rows = [facts_of(hourly_of(seed)) for seed in range(first, first + seeds)]
    together = pooled(rows)
    print(f"{'fact':<26}{'bounds':>14}{'pooled':>9}{'least':>9}{'most':>9}")
    for name, (low, high) in BOUNDS.items():
        values = [row[name] for row in rows]
        print(f"{name:<26}{f'{low:g} to {high:g}':>14}{together[name]:>9.3f}{min(values):>9.3f}{max(values):>9.3f}")
    faults = list(outside(together))
    print("\n".join(faults) if faults else f"all {len(BOUNDS)} hold, {seeds} seeds of {DAYS} days")
    raise typer.Exit(1 if faults else 0)


if __name__ == "__main__":
    typer.run(main)
