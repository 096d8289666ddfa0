"""What is known to be zero is published as zero, and never as unknown or as anything else."""

from dataclasses import replace
from typing import Final

from generator.brain.derivatives import Pressure
from generator.brain.ladder import Partition
from generator.compose.coins import ranges
from generator.compose.derivatives import funding
from generator.compose.ladder import asset_partition
from generator.compose.rounds import crowd_by_record, human_consensus_block, vote_bursts
from generator.compose.tick import Tick
from generator.values.chances import Probabilities
from generator.values.ranges import MoveRange
from generator.values.votes import Burst, LockedCrowd, RecordCrowd, Tally
from tests.support.builders import asset_observation, full_context
from tests.support.clock import NOON

NOON_MS: Final = int(NOON.timestamp() * 1000)


def still(part: Partition) -> Tick:
    """Return a tick on which Bitcoin cannot move."""
    full = full_context()
    reading = full.reading
    assert reading is not None
    bitcoin = replace(reading.assets["BTC"], ranges={"1h": MoveRange(0.0, 0.0, 0.0, 0.0)}, partition=part)
    return replace(full, reading=replace(reading, assets={**reading.assets, "BTC": bitcoin}))


def test_a_price_that_cannot_move_has_ranges_and_chances_of_zero() -> None:
    certain = Probabilities(up=0.0, neutral=1.0, down=0.0)
    ctx = still(Partition(0.0, certain, certain))
    assert ctx.reading is not None

    reach = ranges(ctx.reading.assets["BTC"])
    part = asset_partition(ctx, "BTC")

    assert reach is not None
    assert set(reach["1h"].ends) == {0.0}
    assert part is not None
    assert part.middle_third_percent == 0.0
    assert part.chances == part.base_rates
    assert part.chances.model_dump() == {"rise_percent": 0.0, "within_percent": 100.0, "fall_percent": 0.0}


def test_funding_of_zero_costs_nothing() -> None:
    seen = asset_observation("BTC", NOON_MS)
    assert seen.funding is not None
    reading = full_context().reading
    assert reading is not None
    pressure = reading.assets["BTC"].pressure
    assert isinstance(pressure, Pressure)

    made = funding(replace(seen, funding=replace(seen.funding, rate_8h=0.0)), pressure)

    assert made is not None
    assert (made.rate_8h_percent, made.annualised_percent, made.cost_per_1000_usd_day) == (0.0, 0.0, 0.0)


def test_a_choice_that_no_one_made_has_a_share_of_zero() -> None:
    for place, tally in enumerate((Tally(3, 0, 0), Tally(0, 3, 0), Tally(0, 0, 3), Tally(0, 0, 0))):
        made = human_consensus_block(tally)
        shares = [made.bullish_percent, made.bearish_percent, made.neutral_percent]
        assert shares == [100.0 if choice == place else 0.0 for choice in range(3)]


def test_a_crowd_of_one_mind_and_a_burst_of_known_voters_have_shares_of_zero() -> None:
    full = full_context()
    crowd = LockedCrowd(RecordCrowd(4, 1.0, 0.0, 0.0, Tally(4, 0, 0)), (Burst(NOON_MS, 20, 0, 0),))
    ctx = replace(full, arena=replace(full.arena, crowd=crowd))

    by_record = crowd_by_record(ctx)
    [burst] = vote_bursts(ctx)

    assert by_record is not None
    assert (by_record.bullish_percent, by_record.bearish_percent, by_record.neutral_percent) == (100.0, 0.0, 0.0)
    assert (burst.votes, burst.same_choice_percent, burst.new_voters_percent) == (20, 0.0, 0.0)
