"""Paths, schemas and examples of OpenAPI, from the tables of endpoints and products and the contract models."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from pydantic.json_schema import models_json_schema

from gateway.wire.networks import USDC_DECIMALS, Network
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.discovery import ONCE_SECONDS, QUERY_NOTES, STATUSES
from generator.catalog.endpoints import CACHE_SECONDS, ENDPOINTS, Endpoint
from generator.catalog.links import DICTIONARY, DOCS, REASONING_ASSET, STATUS_JSON, reasoning_path
from generator.catalog.money import usdc_amount
from generator.catalog.products import PRODUCTS, X402_VERSION, Product
from generator.catalog.words import Word
from generator.compose.all import MODELS

_FREE_ERRORS = (404, 405, 413, 429, 431, 500, 503)
# A body is refused before anything else is looked at, on paid paths too.
_PAID_ERRORS = (405, 409, 410, 413, 429, 431, 500, 503)
_HEADER_OF_PROBLEM = {405: "Allow", 410: "PAYMENT-RESPONSE", 429: "Retry-After", 503: "Retry-After"}
_PROBLEMS = sorted({400, *_FREE_ERRORS, *_PAID_ERRORS})


def paths(network: Network, base_url: str) -> dict[str, Any]:
    """Return the path items: free, paid, one static path per asset, the status file, the dictionary."""
    items = {row.path: _endpoint(row, base_url) for row in ENDPOINTS}
    items |= {row.path: _paid(row, network, base_url) for row in PRODUCTS}
    documented = {row.path: row.id for row in ENDPOINTS} | {row.path: row.id for row in PRODUCTS}
    for path, name in documented.items():
        items[path]["externalDocs"] = {"url": f"{base_url}{DOCS}{name}/"}

    items[REASONING_ASSET] = _free(
        "getReasoningOfAsset",
        "Brain Reasoning of one asset, as a static file",
        "The same answer as the reasoning endpoint with the asset in the path.",
        "ReasoningResponse",
        base_url + reasoning_path(DEFAULT_ASSET),
    )
    items[REASONING_ASSET]["parameters"] = [_asset("path", "Asset symbol, upper case.")]
    items[STATUS_JSON] = _free(
        "getStatus",
        "State of the last tick",
        "Whether the service is up to date: one small file for monitors.",
        "StatusResponse",
        base_url + STATUS_JSON,
    )

    items[DICTIONARY] = _free(
        "getDictionary",
        "Dictionary of words and scales",
        "What every word and number of the answers means, and what not to conclude from it. "
        "It changes with the version.",
        "DictionaryResponse",
        base_url + DICTIONARY,
    )
    return {path: {"get": operation} for path, operation in items.items()}


def components() -> dict[str, Any]:
    """Return the shared responses and headers."""
    return {"responses": {f"Problem{status}": _problem(status) for status in _PROBLEMS}, "headers": _headers()}


def _operation_id(name: str) -> str:
    return "get" + "".join(part.capitalize() for part in name.split("-"))


def _content(model: str, example: str = "", summary: str = "", media_type: str = "application/json") -> dict[str, Any]:
    """Return the content of an answer.

    Args:
        example: where an answer like it can be read; empty for none.
        summary: what is read there.
    """
    media: dict[str, Any] = {"schema": {"$ref": REF.format(model=model)}}
    if example:
        media["examples"] = {"answer": {"summary": summary, "externalValue": example}}
    return {media_type: media}


def _endpoint(endpoint: Endpoint, base_url: str) -> dict[str, Any]:
    limits = "; ".join(endpoint.does_not_provide)
    about = f"{endpoint.purpose} {endpoint.when_to_use} {endpoint.when_not_to_use} Does not provide: {limits}."

    operation = _free(
        _operation_id(endpoint.id),
        endpoint.name,
        f"{about} {endpoint.truth_statement}",
        endpoint.model,
        base_url + endpoint.path,
    )

    if endpoint.id in QUERY_NOTES:
        operation["parameters"] = [_asset("query", QUERY_NOTES[endpoint.id], default=DEFAULT_ASSET)]
        operation["responses"] |= _errors((400,))
    return operation


def _free(name: str, summary: str, description: str, model: str, url: str) -> dict[str, Any]:
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
                "content": _content(model, url, "The answer of now"),
            },
            "304": {"description": "Nothing changed since the ETag or time that was sent."},
            **_errors(_FREE_ERRORS),
        },
    }


def file_operation(
    path: str, summary: str, model: str, media_type: str, *, example: str, is_once: bool
) -> dict[str, Any]:
    """Return the operation of a file next to the answers.

    Args:
        path: of the file; its name is made of it.
        example: URL of one; empty for none.
        is_once: whether it is written once and never changed.
    """
    words = re.findall(r"[A-Za-z0-9]+", path.removesuffix(".json"))

    return {
        "operationId": "getFile" + "".join(word[0].upper() + word[1:] for word in words),
        "tags": ["free"],
        "security": [],
        "summary": summary,
        "x-cache-seconds": ONCE_SECONDS if is_once else CACHE_SECONDS,
        "responses": {
            "200": {
                "description": "Written once and never changed." if is_once else "That of the newest release.",
                "headers": _headers_named("Cache-Control", "ETag", "Last-Modified"),
                "content": _content(model, example, "The file of now", media_type),
            },
            "304": {"description": "Nothing changed since the ETag or time that was sent."},
            "404": {"description": "There is no such file."},
        },
    }


def _asset(place: str, about: str, **more: str) -> dict[str, Any]:
    schema = {"type": "string", "enum": list(ASSETS), **more}
    return {"name": "asset", "in": place, "required": place == "path", "description": about, "schema": schema}


def _headers_named(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _errors(statuses: Iterable[int]) -> dict[str, Any]:
    return {str(status): {"$ref": f"#/components/responses/Problem{status}"} for status in statuses}


def _paid(product: Product, network: Network, base_url: str) -> dict[str, Any]:
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
                "content": _content(product.model, base_url + product.sample, "The last answer of an earlier day"),
            },
            "402": {
                "description": (
                    "No valid payment. The header carries the terms, the body repeats them: ask without a payment to "
                    "read one."
                ),
                "headers": _headers_named("PAYMENT-REQUIRED"),
                "content": _content("X402PaymentRequiredResponse"),
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
        "content": _content("Problem", media_type="application/problem+json"),
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
    schemas = described(top["$defs"])

    for kind in Word.__subclasses__():
        if kind.__name__ in schemas:
            schemas[kind.__name__]["description"] += "".join(f"\n- `{word}`: {word.meaning}" for word in kind)
    return schemas


def described(definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return schemas as they are published: open to new fields, each field with what it is."""
    schemas = {name: _opened(schema) for name, schema in sorted(definitions.items())}

    # Pydantic drops the description of a field where the type that it names says the same.
    for schema in schemas.values():
        for field in schema.get("properties", {}).values():
            if "$ref" in field:
                named = schemas.get(field["$ref"].rsplit("/", 1)[1], {})
                if "description" in named:
                    field.setdefault("description", named["description"])
    return schemas


def _opened(node: Any) -> Any:
    """Drop generated titles and the default of what may be null, and turn closed objects into open ones."""
    if isinstance(node, list):
        return [_opened(item) for item in node]
    if not isinstance(node, dict):
        return node

    # A title that holds a schema is a field of that name; only a text is what pydantic generated.
    kept = {key: value for key, value in node.items() if not (key == "title" and isinstance(value, str))}
    if kept.get("default", "") is None:
        del kept["default"]
    if kept.get("additionalProperties") is False:
        kept["additionalProperties"] = True
    return {key: _opened(value) for key, value in kept.items()}
