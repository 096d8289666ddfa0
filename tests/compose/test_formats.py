"""Numbers and times as they are published."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.arena.scores import published_triple
from generator.catalog import formats
from generator.values.chances import Probabilities

shares = st.floats(0.0, 1.0)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(97_412.384_61, 97_412.4), (0.000_012_345_678, 0.000_012_345_7), (1_234_567.8, 1_234_570.0), (0.0, 0.0)],
)
def test_a_price_keeps_six_significant_digits(value: float, shown: float) -> None:
    assert formats.price(value) == shown


@pytest.mark.parametrize("unknown", [None, math.nan, math.inf, -math.inf])
def test_what_is_not_a_number_becomes_null(unknown: float | None) -> None:
    assert formats.price(unknown) is None
    assert formats.percent(unknown) is None
    assert formats.change(unknown) is None


def test_a_tiny_fall_is_zero_without_a_sign() -> None:
    assert math.copysign(1, formats.change(-0.001) or 0.0) == 1.0


def test_a_share_becomes_percent_with_one_decimal() -> None:
    assert formats.share(0.712_345) == 71.2


def test_a_time_is_utc_with_z() -> None:
    assert formats.iso(1_795_341_180_999) == "2026-11-22T09:53:00Z"


@given(shares, shares, shares)
def test_three_chances_sum_to_one_and_agree_with_the_arena(a: float, b: float, c: float) -> None:
    total = a + b + c
    if total < 1e-6:
        return
    raw = (a / total, b / total, c / total)

    shown = tuple(formats.probabilities(raw))

    assert math.isclose(sum(shown), 1, abs_tol=1e-9)
    assert all(abs(left - right) <= 1e-4 for left, right in zip(shown, raw, strict=True))
    assert shown == published_triple(Probabilities(*raw))
