"""The state as bytes: nothing is lost, and it is small."""

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.packing import fill, header_of, packed
from generator.brain.weights import Weights
from tests.support.markets import market

MOST_BYTES = 150_000  # of seven assets, but for the two tables by the hour of a year
BY_HOUR = ("hours",)


def arrays() -> list[np.ndarray]:
    """Return arrays of every precision and number of axes, with what is not a number in them."""
    rng = np.random.default_rng(3)
    prices = np.exp(rng.normal(0.0, 0.001, (300, 7)).cumsum(axis=0)).astype(np.float32)
    prices[10:20, 3] = np.nan
    table = rng.normal(size=(40, 5, 8)).astype(np.float16)
    table[0] = -np.inf
    return [prices, rng.normal(size=(30, 6, 7)), table, rng.normal(size=(4, 2, 46)), np.array([-0.0, np.nan, np.inf])]


def test_arrays_come_back_to_the_bit() -> None:
    before = arrays()

    header, body = header_of(packed({"format": 1}, before))
    after = [np.zeros_like(array) for array in before]
    fill(after, body)

    assert header == {"format": 1}
    assert [array.tobytes() for array in after] == [array.tobytes() for array in before]


def test_a_body_of_another_size_is_refused() -> None:
    _, body = header_of(packed({}, arrays()))

    with pytest.raises(ValueError, match="another shape"):
        fill(arrays()[1:], body)


def test_the_state_but_its_hourly_tables_is_small() -> None:
    names = tuple("ABCDEFG")
    engine = Engine(Weights.load(), names)
    engine.advance(market(9 * 288, assets=names))

    rest = [array for _, name, array in engine.arrays() if name not in BY_HOUR]

    assert len(packed({}, rest)) <= MOST_BYTES
