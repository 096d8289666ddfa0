"""Which assets have one venue alone: only where more than one must agree."""

from dataclasses import replace

from tests.support.builders import full_context


def test_one_venue_alone_is_named_where_more_must_agree() -> None:
    observed = full_context().observation
    lonely = {asset: replace(seen, venues=seen.venues[:1]) for asset, seen in list(observed.assets.items())[:2]}
    observation = replace(observed, assets={**observed.assets, **lonely}, venues_needed=2)

    assert observation.one_venue == frozenset(lonely)
    assert replace(observation, venues_needed=1).one_venue == frozenset()
