"""Paths, schemas and examples of OpenAPI, from the tables of endpoints and products and the contract models."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from pydantic.json_schema import models_json_schema

from gateway.wire.networks import Network
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.discovery import QUERY_NOTES, STATUSES
from generator.catalog.endpoints import CACHE_SECONDS, ENDPOINTS, Endpoint
from generator.catalog.links import DICTIONARY, DOCS, REASONING_ASSET, STATUS_JSON, reasoning_path
from generator.catalog.money import USDC_DECIMALS, usdc_amount
from generator.catalog.products import PRODUCTS, X402_VERSION, Product
from generator.catalog.text.answers import DEFAULT_PROJECT
from generator.catalog.words import Word
from generator.compose.all import MODELS
from generator.site.openapi.dictionary import dictionary

Examples = Mapping[str, Mapping[str, Any]]
_FREE_ERRORS = (404, 405, 413, 429, 431, 500, 503)
# A body is refused before anything else is looked at, on paid paths too.
_PAID_ERRORS = (405, 409, 410, 413, 429, 431, 500, 503)
_HEADER_OF_PROBLEM = {405: "Allow", 410: "PAYMENT-RESPONSE", 429: "Retry-After", 503: "Retry-After"}
_PROBLEMS = sorted({400, *_FREE_ERRORS, *_PAID_ERRORS})


def paths(network: Network, examples: Examples, base_url: str) -> dict[str, Any]:
    """Return the path items: free, paid, one static path per asset, the status file, the dictionary."""
    items = {row.path: _endpoint(row, examples) for row in ENDPOINTS}
    items |= {row.path: _paid(row, network, examples) for row in PRODUCTS}
    documented = {row.path: row.id for row in ENDPOINTS} | {row.path: row.id for row in PRODUCTS}
    for path, name in documented.items():
        items[path]["externalDocs"] = {"url": f"{base_url}{DOCS}{name}/"}

    items[REASONING_ASSET] = _free(
        "getReasoningOfAsset",
        "Brain Reasoning of one asset, as a static file",
        "The same answer as the reasoning endpoint with the asset in the path.",
        "ReasoningResponse",
        examples.get(reasoning_path(DEFAULT_ASSET)),
    )
    items[REASONING_ASSET]["parameters"] = [_asset("path", "Asset symbol, upper case.")]
    items[STATUS_JSON] = _free(
        "getStatus",
        "State of the last tick",
        "Whether the service is up to date: one small file for monitors.",
        "StatusResponse",
        examples.get(STATUS_JSON),
    )

    whole = dictionary(DEFAULT_PROJECT, component_schemas()).as_json()
    one_of_each = {"words": {"MarketState": whole["words"]["MarketState"]}, "scales": whole["scales"][:1]}
    items[DICTIONARY] = _free(
        "getDictionary",
        "Dictionary of words and scales",
        "What every word and number of the answers means, and what not to conclude from it. "
        "It changes with the version.",
        "DictionaryResponse",
        whole | one_of_each,
    )
    return {path: {"get": operation} for path, operation in items.items()}


def components() -> dict[str, Any]:
    """Return the shared responses and headers."""
    return {"responses": {f"Problem{status}": _problem(status) for status in _PROBLEMS}, "headers": _headers()}


def _operation_id(name: str) -> str:
    return "get" + "".join(part.capitalize() for part in name.split("-"))


def _content(model: str, example: Mapping[str, Any] | None, media_type: str = "application/json") -> dict[str, Any]:
    media: dict[str, Any] = {"schema": {"$ref": REF.format(model=model)}}
    if example is not None:
        media["examples"] = {"tick": {"summary": "The answer of a real tick", "value": dict(example)}}
    return {media_type: media}


def _endpoint(endpoint: Endpoint, examples: Examples) -> dict[str, Any]:
    limits = "; ".join(endpoint.does_not_provide)
    about = f"{endpoint.purpose} {endpoint.when_to_use} {endpoint.when_not_to_use} Does not provide: {limits}."

    operation = _free(
        _operation_id(endpoint.id),
        endpoint.name,
        f"{about} {endpoint.truth_statement}",
        endpoint.model,
        examples.get(endpoint.path),
    )

    if endpoint.id in QUERY_NOTES:
        operation["parameters"] = [_asset("query", QUERY_NOTES[endpoint.id], default=DEFAULT_ASSET)]
        operation["responses"] |= _errors((400,))
    return operation


def _free(name: str, summary: str, description: str, model: str, example: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "operationId": name,
        "tags": ["free"],
        "security": [],
        "summary": summary,
        "description": description,
        "x-stability": "stable",
        "x-cache-seconds": CACHE_SECONDS,
        "responses": {
            "200": {
                "description": "The answer of the newest tick.",
                "headers": _headers_named("Cache-Control", "ETag", "Last-Modified"),
                "content": _content(model, example),
            },
            "304": {"description": "Nothing changed since the ETag or time that was sent."},
            **_errors(_FREE_ERRORS),
        },
    }


def _asset(place: str, about: str, **more: str) -> dict[str, Any]:
    schema = {"type": "string", "enum": list(ASSETS), **more}
    return {"name": "asset", "in": place, "required": place == "path", "description": about, "schema": schema}


def _headers_named(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _errors(statuses: Iterable[int]) -> dict[str, Any]:
    return {str(status): {"$ref": f"#/components/responses/Problem{status}"} for status in statuses}


def _paid(product: Product, network: Network, examples: Examples) -> dict[str, Any]:
    return {
        "operationId": _operation_id(product.id),
        "tags": ["paid"],
        "security": [],
        "summary": product.title,
        "description": (
            f"{product.what_this_is} {product.price_atomic} atomic units of USDC ({product.price_display}) "
            "per request, by x402 version 2. The paid body is exactly the quoted bytes."
        ),
        "x-stability": product.stability,
        "x-cache-seconds": product.cache_seconds,
        "x-payment-info": _payment_info(product, network),
        "parameters": [
            {
                "name": "PAYMENT-SIGNATURE",
                "in": "header",
                "required": False,
                "description": "Standard base64 of the x402 version 2 payment payload. Without it the answer is 402.",
                "schema": {"type": "string"},
            }
        ],
        "responses": {
            "200": {
                "description": "Paid and settled: the quoted body.",
                "headers": _headers_named("Cache-Control", "PAYMENT-RESPONSE"),
                "content": _content(product.model, examples.get(product.id)),
            },
            "402": {
                "description": "No valid payment. The header carries the terms, the body repeats them.",
                "headers": _headers_named("PAYMENT-REQUIRED"),
                "content": _content("X402PaymentRequiredResponse", examples.get(f"{product.id}#402")),
            },
            **_errors(_PAID_ERRORS),
        },
    }


def _payment_info(product: Product, network: Network) -> dict[str, Any]:
    terms = {
        "version": X402_VERSION,
        "scheme": "exact",
        "networks": [network.full, network.caip2],
        "asset": str(network.asset_id),
        "amount": str(product.price_atomic),
        "decimals": USDC_DECIMALS,
    }
    price = {"mode": "fixed", "currency": "USD", "amount": usdc_amount(product.price_atomic)}
    return {"price": price, "protocols": [{"x402": terms}]}


def _problem(status: int) -> dict[str, Any]:
    row = next(row for row in STATUSES if row.status == status)
    answer: dict[str, Any] = {
        "description": f"{row.condition} {row.advice}",
        "content": _content("Problem", None, "application/problem+json"),
    }
    if status in _HEADER_OF_PROBLEM:
        answer["headers"] = _headers_named(_HEADER_OF_PROBLEM[status])
    return answer


def _headers() -> dict[str, Any]:
    about = {
        "Allow": "Methods that the path answers.",
        "Cache-Control": "How long the answer may be kept.",
        "ETag": "Strong validator of the bytes.",
        "Last-Modified": "When the bytes last changed.",
        "PAYMENT-REQUIRED": "Standard base64 of the x402 payment requirements.",
        "PAYMENT-RESPONSE": "Standard base64 of the settlement: success, transaction, network, payer.",
        "Retry-After": "Seconds to wait.",
    }
    return {name: {"description": text, "schema": {"type": "string"}} for name, text in about.items()}


REF = "#/components/schemas/{model}"


@cache
def component_schemas() -> Mapping[str, Any]:
    """Return every schema by name, not to be changed; published objects stay open to new fields."""
    models = [(model, "validation") for model in MODELS.values()]
    _, top = models_json_schema(models, ref_template=REF)  # type: ignore[arg-type]
    schemas = {name: _opened(schema) for name, schema in sorted(top["$defs"].items())}

    # Pydantic drops the description of a field where the type that it names says the same.
    for schema in schemas.values():
        for field in schema.get("properties", {}).values():
            if "$ref" in field:
                named = schemas[field["$ref"].rsplit("/", 1)[1]]
                field.setdefault("description", named["description"])

    for kind in Word.__subclasses__():
        if kind.__name__ in schemas:
            schemas[kind.__name__]["description"] += "".join(f"\n- `{word}`: {word.meaning}" for word in kind)
    return schemas


def _opened(node: Any) -> Any:
    """Drop generated titles, and turn closed objects into open ones."""
    if isinstance(node, list):
        return [_opened(item) for item in node]
    if not isinstance(node, dict):
        return node

    # A title that holds a schema is a field of that name; only a text is what pydantic generated.
    kept = {key: value for key, value in node.items() if not (key == "title" and isinstance(value, str))}
    if kept.get("additionalProperties") is False:
        kept["additionalProperties"] = True
    return {key: _opened(value) for key, value in kept.items()}


_CUT: Final = "<svg>\N{HORIZONTAL ELLIPSIS}</svg>"
CHANCES: Final = frozenset({"down", "neutral", "up"})


def as_example(body: Any) -> Any:
    """Return a body with its chances in whole percents and without the pictures in it.

    The tick that examples are taken from may be the one that seals a round's forecast, which is the same view: its
    exact numbers are secret before the votes are locked.
    """
    if isinstance(body, Mapping):
        if body.keys() == CHANCES and all(isinstance(value, float | int) for value in body.values()):
            return _whole_percents(body)
        return {key: _CUT if key == "svg" else as_example(value) for key, value in body.items()}
    if isinstance(body, list | tuple):
        return [as_example(value) for value in body]
    return body


def _whole_percents(chances: Mapping[str, float]) -> dict[str, float]:
    """Round to hundredths that add up to one: what is left over goes to the likeliest."""
    likeliest = max(chances, key=lambda word: chances[word])
    rounded = {word: round(value, 2) for word, value in chances.items()}
    others = sum(value for word, value in rounded.items() if word != likeliest)
    return rounded | {likeliest: round(1 - others, 2)}
