"""What is sold and given nowhere free; a free fact in other clothes does not count as one."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from generator.compose.challenge import WORTH
from generator.compose.envelope import PaidResponse
from tests.support.ten_moments import MOMENTS, ten_moments
from tests.worth import MARKET, NEW_FACTS, NEW_SENTENCES, Free, Worth, said, worth

PLANTED: dict[str, tuple[str, Callable[[dict[str, Any]], float]]] = {
    "renamed copy": ("BTC", lambda coin: coin["change_24h"]),
    "difference": ("BTC", lambda coin: round(coin["probabilities"]["up"] - coin["base_rates"]["up"], 4)),
    "ratio": ("BTC", lambda coin: round(coin["move"]["chance"] / coin["move"]["base_rate"], 3)),
    "product": ("BTC", lambda coin: round(coin["move"]["chance"] * coin["move"]["band_percent"], 5)),
    "mean of all": (MARKET, lambda coin: coin["change_24h"]),
}


@cache
def moments() -> tuple[Free, list[dict[str, Any]]]:
    """Return what is free at each of ten moments, and every coin then."""
    composed = [moment.composed for moment in ten_moments().values()]
    free = [said([body.as_json() for body in one.free.values()]) for one in composed]
    return Free(free), [one.free["/api/main-brain.php"].as_json() for one in composed]


@pytest.mark.parametrize("planted", PLANTED)
def test_a_free_fact_in_other_clothes_is_not_new(planted: str) -> None:
    free, brains = moments()
    subject, made = PLANTED[planted]

    paid = []
    for brain in brains:
        values = {asset: made(coin) for asset, coin in brain["coins"].items()}
        if subject == MARKET:
            paid.append(said([{"planted": round(sum(values.values()) / len(values), 2)}]))
        else:
            paid.append(said([{"assets": {asset: {"planted": value} for asset, value in values.items()}}]))

    found = worth(paid, free)

    assert found.facts
    assert found.new_facts == ()


def test_a_number_that_no_free_answer_gives_is_new() -> None:
    free, _ = moments()
    paid = [said([{"planted": 17.31 + 3.77 * number**1.5}]) for number in range(MOMENTS)]

    assert worth(paid, free).new_facts == (f"{MARKET} planted",)


def test_a_free_sentence_with_other_names_and_figures_is_not_new() -> None:
    free, brains = moments()
    own = "Each of these words is new here."
    paid = [said([{"copied": brain["summary"].replace("Bitcoin", "Ether"), "own": own}]) for brain in brains]

    assert worth(paid, free).new_sentences == (own,)


@cache
def sold() -> dict[str, Worth]:
    """Return how much of each paid body is new at ten moments."""
    free, _ = moments()
    composed = [moment.composed for moment in ten_moments().values()]
    return {
        product: worth([said([one.paid[product].as_json()]) for one in composed], free) for product in composed[0].paid
    }


@pytest.mark.parametrize("product", WORTH)
def test_enough_of_a_paid_answer_is_given_nowhere_free(product: str) -> None:
    found = sold()[product]

    assert found.fact_share >= NEW_FACTS
    assert found.sentence_share >= NEW_SENTENCES


@pytest.mark.parametrize("product", WORTH)
def test_what_the_402_names_is_new(product: str) -> None:
    found = sold()[product]
    facts = {fact.split()[1] for fact in found.new_facts}
    texts = {sentence for moment in ten_moments().values() for sentence in texts_of(moment.composed.paid[product])}

    for path in WORTH[product]:
        is_fact = any(fact.startswith(path) for fact in facts)
        assert is_fact or texts & set(found.new_sentences), path
    assert all(body.headline not in free_headlines() for body in bodies_of(product))


def texts_of(body: PaidResponse) -> set[str]:
    return said([body.as_json()]).sentences


def bodies_of(product: str) -> list[PaidResponse]:
    return [moment.composed.paid[product] for moment in ten_moments().values()]


def free_headlines() -> set[str]:
    return {moment.composed.free["/api/main-brain.php"].as_json()["headline"] for moment in ten_moments().values()}
