"""What is sold and given nowhere free; a free fact in other clothes does not count as one."""

from collections.abc import Callable
from functools import cache
from typing import Any

from tests.support.ten_moments import ten_moments
from tests.worth import MARKET, Said, said, worth

PLANTED: dict[str, tuple[str, Callable[[dict[str, Any]], float]]] = {
    "renamed copy": ("BTC", lambda coin: coin["change_24h"]),
    "difference": ("BTC", lambda coin: round(coin["probabilities"]["up"] - coin["base_rates"]["up"], 4)),
    "ratio": ("BTC", lambda coin: round(coin["move"]["chance"] / coin["move"]["base_rate"], 3)),
    "product": ("BTC", lambda coin: round(coin["move"]["chance"] * coin["move"]["band_percent"], 5)),
    "mean of all": (MARKET, lambda coin: coin["change_24h"]),
}


@cache
def moments() -> tuple[list[Said], list[dict[str, Any]]]:
    """Return what is free at each of ten moments, and every coin then."""
    composed = [moment.composed for moment in ten_moments().values()]
    free = [said([body.as_json() for body in one.free.values()]) for one in composed]
    return free, [one.free["/api/main-brain.php"].as_json() for one in composed]


def planted_in(coins: dict[str, dict[str, Any]]) -> Said:
    """Return what a body says that has every planted fact."""
    of_market: dict[str, float] = {}
    of_assets: dict[str, dict[str, float]] = {asset: {} for asset in coins}
    for name, (subject, made) in PLANTED.items():
        values = {asset: made(coin) for asset, coin in coins.items()}
        if subject == MARKET:
            of_market[f"planted {name}"] = round(sum(values.values()) / len(values), 2)
        else:
            for asset, value in values.items():
                of_assets[asset][f"planted {name}"] = value
    return said([{**of_market, "assets": of_assets}])


def test_a_free_fact_in_other_clothes_is_not_new() -> None:
    free, brains = moments()

    found = worth([planted_in(brain["coins"]) for brain in brains], free)

    assert found.facts == 4 * len(brains[0]["coins"]) + 1
    assert found.new_facts == ()


def test_a_number_that_no_free_answer_gives_is_new() -> None:
    free, _ = moments()
    paid = [said([{"planted": 17.31 + 3.77 * number**1.5}]) for number in range(len(free))]

    assert worth(paid, free).new_facts == (f"{MARKET} planted",)


def test_a_free_sentence_with_other_names_and_figures_is_not_new() -> None:
    free, brains = moments()
    own = "Each of these words is new here."
    paid = [said([{"copied": brain["summary"].replace("Bitcoin", "Ether"), "own": own}]) for brain in brains]

    assert worth(paid, free).new_sentences == (own,)
