"""Cleaning: the largest numbers a float can hold are garbage, not an exception."""

from __future__ import annotations

import numpy as np
import pytest

from generator.brain.bars import clean
from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame


@pytest.mark.parametrize("field", BAR_FIELDS)
@pytest.mark.parametrize("value", [1.7976931348623157e308, -1.7e308, np.inf, -np.inf, 5e-324])
def test_an_extreme_value_is_cleaned_without_overflow(field: str, value: float) -> None:
    fields = {name: np.full((3, 1), 1.0) for name in BAR_FIELDS}
    fields[field][1] = value

    bars = clean(BarFrame(("BTC",), np.arange(3, dtype=np.int64) * BAR_MS, fields), ("BTC",))

    for values in (bars.log_close, bars.range_variance, *bars.extra.values()):
        known = values[np.isfinite(values)]
        assert not np.isinf(values).any()
        assert (np.abs(known) <= 1e18).all()
