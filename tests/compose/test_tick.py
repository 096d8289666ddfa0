"""Every published fact of a tick is made once, whoever reads it."""

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

import pytest

from generator.catalog.assets import ASSETS
from generator.compose import tick as module
from generator.compose.all import compose
from generator.compose.tick import Tick
from generator.site.pages.render import Pages
from tests.support.builders import CONTEXTS, full_context
from tests.support.page_view import view

OF_AN_ASSET: Final = {"asset_limitations", "quoted", "weighed"}
MAKERS: Final = {
    name: found.__code__
    for name, found in vars(module).items()
    if isinstance(found, FunctionType) and found.__module__.startswith("generator.compose.")
}


def calls(done: Callable[[Tick], Any], ctx: Tick) -> Counter[CodeType]:
    """Count the calls of every function while something is made of a tick."""
    counts: Counter[CodeType] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            counts[frame.f_code] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        done(ctx)
    finally:
        sys.setprofile(before)
    return counts


@pytest.mark.parametrize("name", CONTEXTS)
def test_all_bodies_of_a_tick_make_each_fact_once(name: str) -> None:
    counts = calls(compose, CONTEXTS[name]())

    made = {maker: counts[code] for maker, code in MAKERS.items()}
    assert set(OF_AN_ASSET) <= set(made)
    assert {maker: n for maker, n in made.items() if n > (len(ASSETS) if maker in OF_AN_ASSET else 1)} == {}
    assert (made["market_now"], made["regime"], made["quoted"]) == (1, 1, len(ASSETS))


def test_its_pages_make_none_again() -> None:
    of_tick = view()
    compose(of_tick.ctx)

    counts = calls(lambda _: Pages().render(of_tick), of_tick.ctx)

    made = {maker: counts[code] for maker, code in MAKERS.items() if maker not in OF_AN_ASSET and counts[code]}
    assert made == {}


def test_another_tick_has_facts_of_its_own() -> None:
    known = full_context()

    assert known.headline != replace(known, reading=None).headline
    assert known.limitations != replace(known, reading=None).limitations
    assert known.market_now is known.market_now
