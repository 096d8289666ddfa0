"""One fact, one word: what two bodies say of the same thing cannot differ."""

from dataclasses import replace
from typing import Any

import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.text.labels import UNSTEADY
from generator.catalog.words import DerivativesState, DerivativesVote, PriceAndInterest
from generator.compose.derivatives import derivatives, derivatives_asset, how_rare
from generator.compose.liquidity_lite import notes
from generator.compose.tick import Tick
from tests.support.builders import full_context


def context(**regime: Any) -> Tick:
    ctx = full_context()
    assert ctx.reading is not None
    return replace(ctx, reading=replace(ctx.reading, regime=replace(ctx.reading.regime, **regime)))


def seen(ctx: Tick, asset: str, **changed: Any) -> Tick:
    assets = ctx.observation.assets
    return replace(
        ctx,
        observation=replace(ctx.observation, assets={**assets, asset: replace(assets[asset], **changed)}),
    )


@pytest.mark.parametrize(("lean", "said"), [(1, "more bids"), (0, "about even"), (-1, "more asks"), (None, None)])
def test_the_order_book_has_the_word_that_the_evidence_has(lean: int | None, said: str | None) -> None:
    ctx = full_context()
    assert ctx.reading is not None
    read = replace(ctx.reading.assets["BTC"], book_lean=lean)
    ctx = replace(ctx, reading=replace(ctx.reading, assets={**ctx.reading.assets, "BTC": read}))

    found = [note for note in notes(ctx, "BTC") if "bids" in note or "asks" in note]

    assert len(found) == (said is not None)
    assert said is None or said in found[0]


@pytest.mark.parametrize(
    ("rate", "rank", "said"),
    [
        (
            0.000_31,
            0.912,
            "Longs pay shorts 0.0310% every 8 hours, 3.1 times the usual 0.01%.",
        ),
        (0.0001, 0.5, "Longs pay shorts 0.0100% every 8 hours, about the usual 0.01%."),
        (0.000_03, 0.5, "Longs pay shorts 0.0030% every 8 hours, less than the usual 0.01%."),
        (2e-7, 0.5, "Neither side pays the other: 0.0000% every 8 hours, less than the usual 0.01%."),
        (-0.000_01, 0.5, "Shorts pay longs 0.0010% every 8 hours: almost nothing."),
        (-0.000_119, 0.05, "Shorts pay longs 0.0119% every 8 hours."),
        (-0.000_119, None, "Shorts pay longs 0.0119% every 8 hours."),
        # What is usual for the asset's own month shows no demand: 2026-02-25, and a simulated market.
        (-0.000_033, 0.556, "Shorts pay longs 0.0033% every 8 hours."),
        (0.000_126, 0.472, "Longs pay shorts 0.0126% every 8 hours, 1.3 times the usual 0.01%."),
    ],
)
def test_funding_is_worded_by_who_pays_and_how_much(rate: float, rank: float | None, said: str) -> None:
    ctx = full_context()
    assert ctx.reading is not None
    read = ctx.reading.assets["BTC"]
    ranked = replace(read, pressure=replace(read.pressure, rank=rank))
    ctx = replace(ctx, reading=replace(ctx.reading, assets={**ctx.reading.assets, "BTC": ranked}))
    funding = ctx.observation.assets["BTC"].funding
    assert funding is not None
    ctx = seen(ctx, "BTC", funding=replace(funding, rate_8h=rate))

    asset = derivatives_asset(ctx, "BTC")

    assert asset.evidence is not None
    assert asset.evidence[0] == said
    assert asset.funding is not None
    assert how_rare(asset.funding) == (
        "" if rank is None else f"The rate was lower {100 * rank:g}% of the time in the last 30 days."
    )


def test_an_unsteady_state_is_null_and_the_overall_confidence_is_a_share_of_assets() -> None:
    ctx = full_context()
    assert ctx.reading is not None
    read = ctx.reading.assets["BTC"]
    young = replace(read, pressure=replace(read.pressure, steadiness=0.49))

    body = derivatives(replace(ctx, reading=replace(ctx.reading, assets={**ctx.reading.assets, "BTC": young})))

    row = body.assets["BTC"]
    assert (row.state, row.vote, row.confidence) == (None, DerivativesVote.NO_VOTE, None)
    assert UNSTEADY in (row.limitations or ())
    states = [one.state for one in body.assets.values()]
    assert (states.count(DerivativesState.CROWDED_LONGS), states.count(DerivativesState.BALANCED)) == (
        3,
        len(ASSETS) - 4,
    )
    assert (body.overall_state, body.confidence) == ("mixed", None)
    assert (derivatives(ctx).overall_state, derivatives(ctx).confidence) == ("crowded_longs", 57.1)


@pytest.mark.parametrize(
    ("price", "contracts", "word"),
    [
        (2.0, 3.89, PriceAndInterest.RISING_PRICE_RISING_INTEREST),
        (2.0, -2.1, PriceAndInterest.RISING_PRICE_FALLING_INTEREST),
        (-2.0, 2.1, PriceAndInterest.FALLING_PRICE_RISING_INTEREST),
        (-2.0, -2.1, PriceAndInterest.FALLING_PRICE_FALLING_INTEREST),
        (2.0, 1.9, PriceAndInterest.LITTLE_CHANGE),
        (2.0, -0.6, PriceAndInterest.LITTLE_CHANGE),
        (0.05, 3.0, PriceAndInterest.LITTLE_CHANGE),
        (None, 3.0, None),
        (2.0, None, None),
    ],
)
def test_price_and_contracts_make_a_quadrant_whatever_the_dollar_value_did(
    price: float | None, contracts: float | None, word: PriceAndInterest | None
) -> None:
    ctx = full_context()
    held = ctx.observation.assets["BTC"].open_interest
    assert held is not None
    held = replace(held, contracts_change_24h_percent=contracts, change_24h_percent=9.6)

    asset = derivatives_asset(seen(ctx, "BTC", open_interest=held, change_24h_percent=price), "BTC")

    assert asset.price_and_interest is word
    if price is not None and contracts is not None:
        moves = [f"{'up' if move > 0 else 'down'} {abs(move):.2f}%" for move in (price, contracts)]
        assert (asset.evidence or ())[-1] == f"In a day: price {moves[0]}, contracts {moves[1]}."
