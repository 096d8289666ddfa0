"""A forecast of one asset: three chances, and the call, which is what the forecast claims of them."""

from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np

from generator.brain.columns import Columns
from generator.brain.part import Part
from generator.brain.smoothing import Flags, latched
from generator.catalog.words import PREDICTION_OF_CALL, Call, Prediction
from generator.market.bars import FloatArray
from generator.values.chances import MoveChance, Probabilities

CHANCES_KIND: Final = "law"
"""How the chances of a forecast are made: from the kept law of moves. It is stored and sealed with them.

Another kind is scored apart; forecasts from before kinds have none.
"""
UNITS: Final = 10_000  # a published chance is a whole number of these
ENTER_SMALL: Final = 5_000  # the band's chance from which a small move is called
KEEP_SMALL: Final = 4_500  # and to which that call is kept
NONE: Final = 0.0
UP: Final = 1.0
DOWN: Final = -1.0
SMALL_MOVE: Final = 2.0
CALLS: Final = {NONE: Call.NONE, UP: Call.UP, DOWN: Call.DOWN, SMALL_MOVE: Call.SMALL_MOVE}


class SideRule(NamedTuple):
    """By how much a side must lead the opposite one to be called, and to stay called; chances, 0..1."""

    enter: float
    keep: float


EARNED: Final = SideRule(0.05, 0.03)  # where the live record has shown that such leads come true


@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast of one asset over one horizon."""

    asset: str
    horizon_minutes: int
    probabilities: Probabilities  # chances of down, neutral, up; neutral is |move| <= band
    base_rate: Probabilities  # the causal base rates of the three, which the forecast is judged against
    call: Call  # as `follow` decides, from the chances as published
    band_bps: float  # half-width of the neutral band, from the week's moves over the horizon, in basis points

    @property
    def prediction(self) -> Prediction:
        """The call in the words of an outcome: NEUTRAL for a small move and without a call."""
        return PREDICTION_OF_CALL[self.call]

    @property
    def confidence(self) -> float | None:
        """Chance of the called outcome, 0..1; None without a call."""
        return None if self.call is Call.NONE else self.probabilities.of(self.prediction)

    @property
    def move(self) -> MoveChance:
        """The chance of a move beyond the band, up or down, and its base rate."""
        return MoveChance(1.0 - self.probabilities.neutral, 1.0 - self.base_rate.neutral)


class Forecasts(Columns[Forecast | None]):
    """The forecasts of all assets over one horizon; None of an asset with too little or too old history."""

    def __init__(  # noqa: PLR0917
        self,
        assets: tuple[str, ...],
        horizon_minutes: int,
        chances: FloatArray,
        base_rates: FloatArray,
        calls: FloatArray,
        band: FloatArray,
        sound: Flags,
    ) -> None:
        """Take what `Forecast` says of one asset, of all.

        Args:
            chances, base_rates: of down, neutral and up, (3, assets).
            calls: by the codes of `CALLS`, (assets,).
            band: half-width of the neutral band, a fraction, likewise.
            sound: which assets have a forecast, likewise.
        """
        super().__init__(len(assets), self._forecast)
        self._assets = assets
        self._minutes = horizon_minutes
        self._chances = chances
        self._base_rates = base_rates
        self._band = band
        self.sound = sound
        self.calls = np.where(sound, calls, NONE)
        """The call of each asset, by the codes of `CALLS`: none where there is no forecast, (assets,)."""

    def confidences(self) -> list[float]:
        """Return the chance of what is called of each asset that has a call."""
        down, neutral, up = self._chances
        called = np.where(self.calls == UP, up, np.where(self.calls == DOWN, down, neutral))
        chances: list[float] = called[self.calls != NONE].tolist()
        return chances

    def _forecast(self, column: int) -> Forecast | None:
        if not self.sound[column]:
            return None

        return Forecast(
            asset=self._assets[column],
            horizon_minutes=self._minutes,
            probabilities=Probabilities(*self._chances[:, column].tolist()),
            base_rate=Probabilities(*self._base_rates[:, column].tolist()),
            call=CALLS[float(self.calls[column])],
            band_bps=1e4 * float(self._band[column]),
        )


def in_units(chance: FloatArray, units: int = UNITS) -> FloatArray:
    """Return chances, (3, assets), as they are published: whole numbers that sum to `units`, 10,000.

    It is what `formats.probabilities` gives for one triple, bit for bit; NaN stays NaN.

    >>> in_units(np.array([[1 / 3], [1 / 3], [1 / 3]])).T.tolist()
    [[3334.0, 3333.0, 3333.0]]
    """
    scaled = chance / np.add.reduce(chance) * units
    whole = np.floor(scaled)
    missing = units - np.add.reduce(whole)

    by_remainder = np.argsort(whole - scaled, axis=0, kind="stable")
    rank = np.argsort(by_remainder, axis=0, kind="stable")
    out: FloatArray = whole + (rank < missing)
    return out


def follow(held: FloatArray, units: FloatArray, sides: SideRule | None) -> FloatArray:
    """Return the call of each asset at each bar, by the codes of `CALLS`, (n, assets).

    The band or a side is called only if it is the likeliest of the three. A small move is called from a chance of 0.50
    and kept to 0.45. A side is called where it leads the *opposite side* by enough: what the two lose or gain together
    is not a reason to name one of them.

    Args:
        held: the calls of the bar before the first; none where nothing is kept, (assets,).
        units: the chances of down, neutral and up as published, see `in_units`, (3, n, assets).
        sides: None where no side may be called.

    >>> rising = np.array([2800.0, 3500.0, 3700.0])[:, None, None]
    >>> [follow(np.array([held]), rising, SideRule(0.10, 0.06)).item() for held in (NONE, UP)]
    [0.0, 1.0]
    """
    down, neutral, up = units
    is_likeliest = (neutral >= up) & (neutral >= down)
    may_enter = is_likeliest & (neutral >= ENTER_SMALL)
    is_small = latched(held == SMALL_MOVE, may_enter, is_likeliest & (neutral >= KEEP_SMALL))
    call = np.where(is_small, SMALL_MOVE, NONE)
    if sides is None:
        return call

    enter = round(UNITS * sides.enter)
    keep = round(UNITS * sides.keep)
    for side, chance, lead in ((UP, up, up - down), (DOWN, down, down - up)):
        is_likelier = chance > neutral
        is_side = latched(held == side, is_likelier & (lead >= enter), is_likelier & (lead >= keep))
        call = np.where(is_side, side, call)
    return call


class Calls(Part):
    """The calls of the next hour, kept from bar to bar, (..., assets)."""

    STATE: ClassVar[tuple[str, ...]] = ("held",)

    def __init__(self, assets: int) -> None:
        """Start with none."""
        super().__init__()
        self.held = np.full(assets, NONE)

    def update(self, units: FloatArray, sides: SideRule | None) -> None:
        """Take the chances of a block's bars as published, (3, n, assets); arguments as for `follow`."""
        self.held = follow(self.held, units, sides)
