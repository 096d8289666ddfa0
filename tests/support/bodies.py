"""Every body of every context, composed once."""

from functools import cache
from typing import Any

from generator.compose.all import Composed, compose
from generator.compose.body import Body
from tests.support.builders import CONTEXTS


@cache
def composed(name: str) -> Composed:
    return compose(CONTEXTS[name]())


def bodies(name: str) -> dict[str, Body]:
    """Free bodies by path and paid ones by product id."""
    done = composed(name)
    return {**done.free, **done.paid}


def published(name: str) -> dict[str, Any]:
    """Every JSON object that leaves: bodies, challenges, declarations."""
    done = composed(name)
    return {
        **{key: body.as_json() for key, body in bodies(name).items()},
        **{f"{key}#402": value for key, value in done.challenges.items()},
        **{f"{key}#bazaar": value for key, value in done.bazaar.items()},
    }


def free(name: str, endpoint: str) -> dict[str, Any]:
    """The body of one free endpoint (reasoning: of BTC)."""
    return next(data for body in composed(name).free.values() if (data := body.as_json()).get("endpoint") == endpoint)


def paid(name: str, product: str) -> dict[str, Any]:
    return composed(name).paid[product].as_json()
