"""What changed since the last tick is said once, and only then."""

from dataclasses import replace

import pytest

from generator.catalog.thresholds import FLAT_PERCENT
from generator.catalog.words import RegimeLabel
from generator.compose.regime import changes, tracked_facts
from tests.support.builders import CONTEXTS, full_context


def test_the_first_tick_after_a_start_knows_of_no_change() -> None:
    assert changes(None, tracked_facts(full_context())) is None


@pytest.mark.parametrize("name", CONTEXTS)
def test_equal_facts_are_no_change(name: str) -> None:
    assert changes(tracked_facts(CONTEXTS[name]()), tracked_facts(CONTEXTS[name]())) == ()


def test_a_regime_that_moves_is_named_with_what_it_was() -> None:
    ctx = full_context()
    assert ctx.reading is not None
    moved = replace(ctx, reading=replace(ctx.reading, regime=replace(ctx.reading.regime, label=RegimeLabel.RANGE)))

    found = changes(tracked_facts(ctx), tracked_facts(moved))

    assert found is not None
    assert (found[0].what, found[0].before, found[0].now) == ("regime", "risk_on", "range")
    assert found[0].text == "The regime changed from risk_on to range."


def test_what_becomes_unknown_is_said_to_be() -> None:
    ctx = full_context()

    found = changes(tracked_facts(ctx), tracked_facts(replace(ctx, reading=None)))

    assert found is not None
    assert "The regime is no longer known; it was risk_on." in [row.text for row in found]
    assert all(row.now is None for row in found)


def test_a_move_within_a_tenth_of_a_percent_changes_no_count() -> None:
    ctx = full_context()
    seen = ctx.observation.assets["BTC"]

    def facts(moved: float) -> dict[str, str | None]:
        assets = {**ctx.observation.assets, "BTC": replace(seen, change_24h_percent=moved)}
        return tracked_facts(replace(ctx, observation=replace(ctx.observation, assets=assets)))

    assert changes(facts(FLAT_PERCENT), facts(-FLAT_PERCENT)) == ()
    assert [row.what for row in changes(facts(FLAT_PERCENT), facts(0.2)) or ()] == ["breadth"]
