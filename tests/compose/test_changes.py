"""What changed since the last tick is said once, and only then."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from generator.catalog.thresholds import FLAT_PERCENT
from generator.catalog.words import RegimeLabel
from generator.compose.regime import changes
from tests.support.builders import CONTEXTS, full_context


def test_the_first_tick_after_a_start_knows_of_no_change() -> None:
    assert full_context().changed is None


@pytest.mark.parametrize("name", CONTEXTS)
def test_equal_facts_are_no_change(name: str) -> None:
    assert changes(CONTEXTS[name]().tracked, CONTEXTS[name]().tracked) == ()


def test_a_regime_that_moves_is_named_with_what_it_was() -> None:
    ctx = full_context()
    assert ctx.reading is not None
    moved = replace(ctx, reading=replace(ctx.reading, regime=replace(ctx.reading.regime, label=RegimeLabel.RANGE)))

    found = changes(ctx.tracked, moved.tracked)

    assert found is not None
    assert (found[0].what, found[0].before, found[0].now) == ("regime", "risk_on", "range")
    assert found[0].text == "The regime changed from risk_on to range."


def test_what_becomes_unknown_is_said_to_be() -> None:
    ctx = full_context()

    found = changes(ctx.tracked, replace(ctx, reading=None).tracked)

    assert found is not None
    assert "The regime is no longer known; it was risk_on." in [row.text for row in found]
    assert all(row.now is None for row in found)


def test_a_move_within_a_tenth_of_a_percent_changes_no_count() -> None:
    ctx = full_context()
    seen = ctx.observation.assets["BTC"]

    def facts(moved: float) -> Mapping[str, str | None]:
        assets = {**ctx.observation.assets, "BTC": replace(seen, change_24h_percent=moved)}
        return replace(ctx, observation=replace(ctx.observation, assets=assets)).tracked

    assert changes(facts(FLAT_PERCENT), facts(-FLAT_PERCENT)) == ()
    assert [row.what for row in changes(facts(FLAT_PERCENT), facts(0.2)) or ()] == ["breadth"]
