"""Nothing internal leaves: every published key path is one of the contract's, and no weight occurs anywhere."""

import re
from typing import Any

import pytest

from generator.compose.body import encode
from generator.compose.challenge import X402PaymentRequiredResponse
from tests.support.bodies import bodies, published
from tests.support.builders import CONTEXTS
from tests.support.walk import allowed, leaves, model_paths

FORBIDDEN = re.compile(r"weight|coefficient|threshold|feature|logit|heuristic|normali[sz]ation|formula", re.IGNORECASE)


def stray(body: Any, model: Any) -> list[str]:
    known = model_paths(model)
    paths = {path for path, _ in leaves(body)}  # each once, however many rows a list has
    return sorted(".".join(path) for path in paths if not allowed(path, known))


@pytest.mark.parametrize("name", CONTEXTS)
def test_every_published_key_path_is_one_of_its_model(name: str) -> None:
    for key, body in bodies(name).items():
        assert stray(body.as_json(), type(body)) == [], key


@pytest.mark.parametrize("name", CONTEXTS)
def test_every_key_path_of_a_challenge_is_one_of_the_402_body(name: str) -> None:
    for key, value in published(name).items():
        if key.endswith("#402"):
            assert stray(value, X402PaymentRequiredResponse) == []


@pytest.mark.parametrize("name", CONTEXTS)
def test_no_published_key_names_an_internal(name: str) -> None:
    for key, value in published(name).items():
        assert [path for path, _ in leaves(value) if FORBIDDEN.search(path[-1])] == [], key


def test_the_walker_notices_a_stray_key() -> None:
    body = bodies("full")["/api/main-brain.php"]
    tree = body.as_json()

    tree["coins"]["BTC"]["weight"] = 0.1234

    assert stray(tree, type(body)) == ["coins.BTC.weight"]


@pytest.mark.parametrize("name", CONTEXTS)
def test_the_same_context_gives_the_same_bytes(name: str) -> None:
    from generator.compose.all import compose

    again = compose(CONTEXTS[name]())

    assert {key: encode(body) for key, body in {**again.free, **again.paid}.items()} == {
        key: encode(body) for key, body in bodies(name).items()
    }
