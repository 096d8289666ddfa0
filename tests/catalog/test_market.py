"""Every asset of the catalog has what the simulated market needs of it."""

from generator.catalog.assets import ASSETS


def test_every_asset_has_the_shape_of_its_simulated_market() -> None:
    from generator.market.simulated.params import ASSET_SHAPES

    assert tuple(ASSET_SHAPES) == tuple(ASSETS)
