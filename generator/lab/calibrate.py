"""Fit the temperature of the regime's chances on markets that did not teach the networks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.brain.calibration import KEEP, USUAL, Calibration, temperature, tempered
from generator.lab.recurrent_fit import Numbers

_STEPS: Final = (0.2, 2.0)  # first steps of level and slope
_HALVINGS: Final = 10
_TINY: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a network said of the markets of one family; n half hours, g markets.

    Args:
        chances: (4, n, g); clarity: (n, g), as the filter would know it then.
        truth: (n, g); counted: where the truth is scored, (n, g).
    """

    chances: npt.NDArray[np.float64]
    clarity: npt.NDArray[np.float64]
    truth: npt.NDArray[np.int64]
    counted: npt.NDArray[np.bool_]


def stretch(posterior: Numbers, truth: npt.NDArray[np.int64], counted: npt.NDArray[np.bool_], first: int) -> Stretch:
    """Follow the clarity from the start and leave out the first half hours.

    Args:
        posterior: (n, 4, g).
        first: half hours of warm-up.
    """
    level = np.full(posterior.shape[2], USUAL)
    clarity = np.empty(truth.shape)
    for i, best in enumerate(posterior.max(axis=1).astype(np.float64)):
        level = level + (best - level) * (1.0 - KEEP)
        clarity[i] = level
    chances = posterior[first:].astype(np.float64).swapaxes(0, 1)
    return Stretch(chances, clarity[first:], truth[first:], counted[first:])


def loss(stretches: list[Stretch], calibration: Calibration) -> float:
    """Return the log loss of the true regime, the mean over families."""
    total = 0.0
    for one in stretches:
        said = tempered(one.chances, temperature(calibration.level, calibration.slope, one.clarity))
        came = np.take_along_axis(said, one.truth[None], axis=0)[0]
        total -= float(np.log(np.maximum(came[one.counted], _TINY)).mean())
    return total / len(stretches)


def calibrate(stretches: list[Stretch], progress: Callable[[int, int], None] | None = None) -> Calibration:
    """Search level and slope step by step, halving the steps where none of them helps."""
    best, at = loss(stretches, Calibration()), Calibration()
    for number in range(_HALVINGS):
        up, along = (step / 2**number for step in _STEPS)
        moved = True
        while moved:
            moved = False
            for level, slope in ((up, 0.0), (-up, 0.0), (0.0, along), (0.0, -along)):
                tried = Calibration(at.level + level, at.slope + slope)
                found = loss(stretches, tried)
                if found < best:
                    best, at, moved = found, tried, True
        if progress:
            progress(number + 1, _HALVINGS)
    return at
