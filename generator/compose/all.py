"""One tick to every body."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, get_type_hints

from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.links import STATUS_JSON, reasoning_path
from generator.catalog.products import PRODUCTS
from generator.compose.body import Body, DictionaryResponse, Problem
from generator.compose.challenge import NotForSale, X402PaymentRequiredResponse, bazaar, challenge, unavailable
from generator.compose.derivatives import derivatives
from generator.compose.envelope import PaidResponse, status
from generator.compose.liquidity_lite import liquidity_lite
from generator.compose.main_brain import main_brain, paid_main_brain, reasoning
from generator.compose.market_regime import market_regime, paid_market_regime
from generator.compose.paid_atlas import paid_atlas
from generator.compose.paid_human_report import paid_human_report
from generator.compose.rounds import human_consensus, shared_intelligence
from generator.compose.statistics import statistics
from generator.compose.teacher_lessons import teacher_lessons
from generator.compose.tick import Tick

# What composes each body, by endpoint and by product; the model of a body is what its composer returns.
FREE: Final[dict[str, Callable[[Tick], Body]]] = {
    "market-regime": market_regime,
    "main-brain": main_brain,
    "liquidity-lite": liquidity_lite,
    "derivatives": derivatives,
    "human-consensus": human_consensus,
    "teacher-lessons": teacher_lessons,
    "reasoning": reasoning,
    "statistics": statistics,
    "shared-intelligence": shared_intelligence,
}
PAID: Final[dict[str, Callable[[Tick], PaidResponse]]] = {
    "x402-market-regime": paid_market_regime,
    "x402-main-brain": paid_main_brain,
    "x402-atlas": paid_atlas,
    "x402-atlas-human-report": paid_human_report,
}


class Composed(NamedTuple):
    """Every body of one tick."""

    free: dict[str, Body]  # by request path: the free endpoints, reasoning of each asset, `/status.json`
    paid: dict[str, PaidResponse]
    paid_json: dict[str, dict[str, Any]]  # the same as JSON objects
    challenges: dict[str, dict[str, Any]]  # by product: the 402 body but for what the gateway adds and `quote.sha256`
    bazaar: dict[str, dict[str, Any]]  # by product: the bazaar extension's declaration
    unavailable: dict[str, NotForSale]  # by product: why it is not for sale now


def compose(ctx: Tick) -> Composed:
    """Compose every body of a tick. Pure: the same context gives the same bodies."""
    paid = compose_paid(ctx)
    paid_json = {product_id: body.as_json() for product_id, body in paid.items()}
    return Composed(
        free=compose_free(ctx),
        paid=paid,
        paid_json=paid_json,
        challenges={
            product.id: challenge(ctx, product, paid[product.id], paid_json[product.id]) for product in PRODUCTS
        },
        bazaar={product_id: bazaar(body, paid_json[product_id]) for product_id, body in paid.items()},
        unavailable=unavailable(ctx),
    )


def compose_free(ctx: Tick) -> dict[str, Body]:
    """Compose the free bodies by path."""
    by_asset = {asset: reasoning(ctx, asset) for asset in ASSETS}
    return {
        **{ENDPOINT_BY_ID[name].path: compose_body(ctx) for name, compose_body in FREE.items()},
        **{reasoning_path(asset): body for asset, body in by_asset.items()},
        STATUS_JSON: status(ctx),
    }


def compose_paid(ctx: Tick) -> dict[str, PaidResponse]:
    """Compose the paid bodies by product id, in catalogue order."""
    return {product.id: PAID[product.id](ctx) for product in PRODUCTS}


def _model(composer: Callable[..., Body]) -> type[Body]:
    model: type[Body] = get_type_hints(composer)["return"]
    return model


# Every published model by its name in OpenAPI.
_PUBLISHED: Final[tuple[type[Body], ...]] = (
    *map(_model, FREE.values()),
    _model(status),
    *map(_model, PAID.values()),
    X402PaymentRequiredResponse,
    DictionaryResponse,
    Problem,
)
MODELS: Final[dict[str, type[Body]]] = {model.__name__: model for model in _PUBLISHED}
