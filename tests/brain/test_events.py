"""Events of the kept record: what is one, what followed, and that no difference is claimed where there is none."""

from fractions import Fraction

import numpy as np
import pytest

from generator.brain.events import (
    AFTER,
    FEWEST,
    KINDS,
    LOOKED_AT,
    Events,
    events_of,
    followed,
    most_alike,
    moves_after,
    record_of,
)
from generator.brain.highlights import DAY_MARK, HOUR_MARK
from generator.brain.record import HOURS, in_half
from generator.catalog.durations import HOUR_MS
from generator.market.bars import FloatArray

LAST = 490_000
"""Number of the last hour of a record."""


def hours_of(seed: int, many: int, *, grouped: bool = False) -> FloatArray:
    """Draw the moves of some hours; grouped ones have rough weeks."""
    rng = np.random.default_rng(seed)
    size = np.repeat(np.exp(0.5 * rng.standard_normal(many // 72 + 1)), 72)[:many] if grouped else 1.0
    return np.asarray(0.004 * size * rng.standard_t(4, many))


def days_of(hours: FloatArray) -> FloatArray:
    """Return the moves over 24 hours up to each hour."""
    level = np.concatenate(([1.0], np.cumprod(1.0 + hours)))
    out = np.full(len(hours), np.nan)
    out[23:] = level[24:] / level[:-24] - 1.0
    return out


def of_kind(events: Events, kind: str) -> list[int]:
    """Return the hours at which the events of a kind ended."""
    return [int(at) for at in events.at[events.kind == KINDS.index(kind)]]


def test_what_followed_is_the_price_after_over_the_price_then() -> None:
    hours = hours_of(1, 500)
    level = np.cumprod(1.0 + hours)

    after = moves_after(hours, days_of(hours))

    for place, span in enumerate(AFTER.values()):
        assert after[200, place] == pytest.approx(level[200 + span] / level[200] - 1.0)
        assert np.isfinite(after[499 - span, place])
        assert np.isnan(after[500 - span :, place]).all()


def test_events_of_a_kind_are_a_day_apart_and_pass_the_mark_of_it() -> None:
    hours = hours_of(2, 6000, grouped=True)
    days = days_of(hours)

    found = events_of(hours, days)

    for kind in KINDS:
        at = of_kind(found, kind)
        assert len(at) >= 20
        assert min(np.diff(at)) >= 24
    assert min(abs(hours[of_kind(found, "large_hour")])) >= 4 * np.median(abs(hours))
    assert min(abs(days[of_kind(found, "large_day")])) >= 2 * np.nanmedian(abs(days))
    assert min(days[of_kind(found, "turn_up")]) > 0 > max(days[of_kind(found, "turn_down")])


def test_a_rough_spell_starts_with_rough_hours_and_ends_with_calm_ones() -> None:
    hours = np.tile([0.001, -0.001], 200)
    hours[200:230] *= 20

    found = events_of(hours, days_of(hours))

    assert of_kind(found, "rough_start") == [200]
    assert of_kind(found, "rough_end") == [253]


def test_an_event_does_not_depend_on_what_followed_it() -> None:
    hours = hours_of(3, 1000)
    other = hours.copy()
    other[800:] = other[800:][::-1]

    before, after = (events_of(moves, days_of(moves)) for moves in (hours, other))

    early, also = ([at for at in of_kind(found, "large_hour") if at < 800] for found in (before, after))
    assert early
    assert early == also


def test_shares_are_counted_of_the_hours_chosen_and_of_all() -> None:
    hours = hours_of(4, 3000)
    moves = moves_after(hours, days_of(hours))
    at = np.arange(30, 2900, 30)

    shares = followed(at, moves)

    for place, span in enumerate(AFTER):
        known = [float(move) for move in moves[at, place] if np.isfinite(move)]
        every = [float(move) for move in moves[:, place] if np.isfinite(move)]
        up = shares[span]["up"]
        assert up.n == len(known)
        assert up.share == float(Fraction(sum(move > 0 for move in known), len(known)))
        assert up.usual == float(Fraction(sum(move > 0 for move in every), len(every)))
        assert shares[span]["larger"].usual == pytest.approx(0.5, abs=0.001)


@pytest.mark.parametrize(("many", "apart"), [(FEWEST - 1, 30), (100, 1)])
def test_no_share_is_given_of_few_events_or_of_few_blocks(many: int, apart: int) -> None:
    hours = hours_of(5, 3000)
    shares = followed(apart * np.arange(many), moves_after(hours, days_of(hours)))

    assert {of.share for outcomes in shares.values() for of in outcomes.values()} == {None}
    assert not any(of.differs for outcomes in shares.values() for of in outcomes.values())


def test_where_all_or_none_came_the_limit_is_exact_of_the_blocks() -> None:
    moves = np.ones((3000, len(AFTER)))
    at = 72 * np.arange(40)

    up = followed(at, moves)["1h"]["up"]
    down = followed(at, -moves)["1h"]["up"]

    # Of 40 blocks: the chance at which none of them comes with the probability of the tail.
    assert up.low is not None
    assert up.low**40 == pytest.approx(0.05 / (2 * LOOKED_AT))
    assert (up.share, up.high) == (1.0, 1.0)
    assert (down.share, down.low) == (0.0, 0.0)
    assert down.high == pytest.approx(1.0 - up.low)


def test_events_of_one_block_count_for_less_than_as_many_on_blocks_of_their_own() -> None:
    moves = np.repeat(np.random.default_rng(6).choice([-1.0, 1.0], 100), 72)[:, None] * np.ones(len(AFTER))

    def width(at: np.ndarray) -> float:
        up = followed(at, moves)["1h"]["up"]
        assert up.low is not None
        assert up.high is not None
        return up.high - up.low

    alone = 72 * np.arange(90)
    together = np.concatenate([72 * np.arange(30) + hour for hour in (0, 1, 2)])
    assert width(np.sort(together)) > 1.4 * width(alone)


def test_a_difference_is_found_where_there_is_one_and_seldom_where_there_is_none() -> None:
    claims = 0
    looked_at = 0
    for seed in range(60):
        events = events_of(*(part(hours_of(seed, 5000, grouped=True)) for part in (np.asarray, days_of)))
        moves = moves_after(*(part(hours_of(1000 + seed, 5000, grouped=True)) for part in (np.asarray, days_of)))
        for kind in range(len(KINDS)):
            shares = followed(events.at[events.kind == kind], moves)
            said = [of for outcomes in shares.values() for of in outcomes.values() if of.share is not None]
            looked_at += bool(said)
            claims += any(of.differs for of in said)
    assert looked_at > 200
    assert claims <= 0.04 * looked_at

    hours = hours_of(7, 6000)
    hours[1::50] = 0.03
    hours[2::50] = 0.02
    own = events_of(hours, days_of(hours))
    large = own.at[own.kind == KINDS.index("large_hour")]
    assert followed(large, moves_after(hours, days_of(hours)))["1h"]["up"].differs


def test_the_most_alike_are_of_its_kind_and_before_it() -> None:
    found = events_of(*(part(hours_of(8, 6000)) for part in (np.asarray, days_of)))

    alike = most_alike(found)

    assert len(alike) == 10
    assert set(found.kind[alike].tolist()) == {int(found.kind[-1])}
    assert len(found.at) - 1 not in alike
    same = found.kind == found.kind[-1]
    near = abs(found.size[alike] - found.size[-1])
    assert np.median(near) < np.median(abs(found.size[same] - found.size[-1]))


def test_none_is_alike_where_nothing_happened() -> None:
    found = events_of(np.zeros(0), np.zeros(0))

    assert not len(found.at)
    assert not len(most_alike(found))


def test_a_record_has_the_times_of_its_hours_and_none_of_what_is_unknown() -> None:
    hours = hours_of(9, 1000)
    kept = np.full((HOURS, 5), np.nan, dtype=np.float16)
    kept[-1000:, HOUR_MARK] = in_half(hours)
    kept[-1000:, DAY_MARK] = in_half(days_of(hours))

    record = record_of(kept, LAST)

    assert record.hours == len(record.moves) == 1000
    assert record.at_ms(999) == LAST * HOUR_MS
    large = [row for row in range(1000) if row in of_kind(record.events, "large_hour")]
    assert large
    assert large == of_kind(events_of(hours, days_of(hours)), "large_hour")


def test_an_empty_record_has_no_event() -> None:
    record = record_of(np.full((HOURS, 5), np.nan, dtype=np.float16), LAST)

    assert (record.hours, len(record.events.at), record.moves.shape) == (0, 0, (0, len(AFTER)))
