"""Venues agree on a price, or there is none."""

import math
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.market.consensus import Agreement, VenueQuote, agree

NOW = 1_700_000_000_000


def quotes(*mids: float, as_of: int = NOW) -> list[VenueQuote]:
    return [VenueQuote(f"v{number}", mid, as_of) for number, mid in enumerate(mids)]


@pytest.mark.parametrize("mid", [math.nan, math.inf, -math.inf, 0.0, -1.0])
def test_impossible_price_is_left_out_with_a_reason(mid: float) -> None:
    result = agree([*quotes(100.0, 100.0), VenueQuote("odd", mid, NOW)], NOW)

    assert result.venues == ("v0", "v1")
    assert result.left_out["odd"].startswith("price is not")


@pytest.mark.parametrize(
    ("as_of", "reason"), [(NOW - 90_001, "stale by 90 s"), (NOW + 90_001, "timestamp lies in the future")]
)
def test_quote_far_from_the_tick_is_left_out(as_of: int, reason: str) -> None:
    result = agree([*quotes(100.0, 100.0), VenueQuote("late", 100.0, as_of)], NOW)

    assert result.left_out == {"late": reason}


def test_quote_exactly_at_the_age_limit_counts() -> None:
    assert agree(quotes(100.0, as_of=NOW - 90_000), NOW).price == 100.0


@pytest.mark.parametrize("other", [101.1, 101.9, 105.0, 0.01])
def test_two_venues_that_disagree_give_no_price(other: float) -> None:
    result = agree(quotes(100.0, other), NOW)

    assert result.price is None
    assert result.venues == ()
    assert result.reason is not None
    assert result.left_out == {"v0": "venues disagree", "v1": "venues disagree"}


@pytest.mark.parametrize("mids", [(100.0, 100.0, 110.0, 110.0), (100.0, 110.0, 121.0)])
def test_without_a_majority_near_the_median_there_is_no_price(mids: tuple[float, ...]) -> None:
    assert agree(quotes(*mids), NOW).price is None


def test_no_quotes_give_no_price_and_a_reason() -> None:
    assert agree([], NOW) == Agreement(None, (), {}, "no venue has a fresh price")


any_mid = st.one_of(st.floats(), st.floats(0.01, 1e6), st.floats(99.0, 101.0))
any_quotes = st.lists(st.tuples(any_mid, st.integers(-200_000, 200_000)), max_size=9).map(
    lambda rows: [VenueQuote(f"v{n}", mid, NOW + shift) for n, (mid, shift) in enumerate(rows)]
)


@given(any_quotes)
def test_every_venue_is_either_kept_or_left_out_with_a_reason(given_quotes: list[VenueQuote]) -> None:
    result = agree(given_quotes, NOW)

    assert set(result.venues) | set(result.left_out) == {quote.venue for quote in given_quotes}
    assert not set(result.venues) & set(result.left_out)
    assert (result.price is None) == (result.reason is not None) == (not result.venues)


@given(any_quotes)
def test_price_is_the_median_of_fresh_positive_quotes_and_lies_among_them(given_quotes: list[VenueQuote]) -> None:
    result = agree(given_quotes, NOW)

    kept = [quote for quote in given_quotes if quote.venue in result.venues]
    assert all(math.isfinite(quote.mid) and quote.mid > 0 and abs(quote.as_of_ms - NOW) <= 90_000 for quote in kept)
    if result.price is not None:
        assert result.price == median(quote.mid for quote in kept)


@given(any_quotes, st.randoms(use_true_random=False))
def test_order_of_the_venues_does_not_matter(given_quotes: list[VenueQuote], random: object) -> None:
    shuffled = list(given_quotes)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    one, other = agree(given_quotes, NOW), agree(shuffled, NOW)

    assert (one.price, set(one.venues), one.left_out) == (other.price, set(other.venues), other.left_out)


@given(st.lists(st.floats(100.0, 100.4), min_size=3, max_size=9), st.floats(1e-6, 1e9))
def test_one_bad_venue_cannot_move_the_price_out_of_the_good_ones(good: list[float], bad: float) -> None:
    result = agree(quotes(*good, bad), NOW)

    assert result.price is not None
    assert min(good) <= result.price <= max(good)
