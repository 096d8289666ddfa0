"""/now.json: the whole market in under 1,000 tokens, with the numbers of the answers."""

from dataclasses import replace
from typing import Any

import pytest

from generator.catalog.assets import ASSETS
from generator.compose.body import encode
from generator.compose.now import now_file
from tests.support.bodies import free
from tests.support.builders import CONTEXTS, full_context

BYTES_A_TOKEN = 4


def now(name: str) -> dict[str, Any]:
    return now_file(CONTEXTS[name]()).as_json()


@pytest.mark.parametrize("name", CONTEXTS)
def test_it_is_under_a_thousand_tokens_in_every_state(name: str) -> None:
    assert len(encode(now_file(CONTEXTS[name]()))) / BYTES_A_TOKEN <= 1_000
    assert len(encode(now_file(CONTEXTS[name](), ("BTC",)))) / BYTES_A_TOKEN <= 500


@pytest.mark.parametrize("name", CONTEXTS)
def test_its_numbers_are_those_of_the_answers(name: str) -> None:
    coins = free(name, "main-brain")["coins"]

    for asset, row in now(name)["assets"].items():
        coin = coins[asset]
        assert (row["price"], row["change_24h"]) == (coin["price"], coin["change_24h"])
        assert row["move_chance"] == (coin["move"] and coin["move"]["chance"])
        assert (row["ranges"] or {}).keys() == (coin["ranges"] or {}).keys()
        for horizon, ends in (row["ranges"] or {}).items():
            assert ends == [coin["ranges"][horizon][name] for name in ("low_90", "low_50", "high_50", "high_90")]


def test_the_ladder_of_bitcoin_is_free_and_only_where_bitcoin_is() -> None:
    ctx = full_context()
    assert ctx.reading is not None
    ladder = ctx.reading.assets["BTC"].ladder
    assert ladder is not None

    shown = now_file(ctx).btc_4h
    assert shown is not None
    assert shown.levels_percent == tuple(level.level for level in ladder["4h"])
    assert shown.touch_either == tuple(level.touch.either for level in ladder["4h"])
    assert now_file(ctx, ("ETH",)).btc_4h is None
    assert tuple(now_file(ctx, ("ETH",)).assets) == ("ETH",)


def test_without_a_reading_prices_stay_and_the_rest_is_null() -> None:
    bare = now_file(replace(full_context(), reading=None)).as_json()

    assert set(bare["assets"]) == set(ASSETS)
    assert bare["assets"]["BTC"]["price"] is not None
    assert bare["assets"]["BTC"]["ranges"] is bare["btc_4h"] is None
    assert {"success", "project", "disclaimer", "valid_until", "source_mode"} <= bare.keys()
    assert "freshness" not in bare
