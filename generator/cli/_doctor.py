"""The checks of `emi doctor`, over plain HTTP."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.products import PRODUCTS
from generator.publish.values import FIRST_GENERATION

TIMEOUT_S: Final = 10
LARGEST: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    what: str
    good: bool
    found: str


def examine(origin: str) -> list[Check]:
    """Look at freshness, the nine free paths, the discovery files and the four challenges of `origin`.

    Nothing more is asked of an origin that gives no answer at all.
    """
    status, body = _get(f"{origin}/status.json")
    if isinstance(status, str):
        return [Check(origin, False, f"{status}; is it running?")]
    checks = [_fresh(status, body)]
    for endpoint in ENDPOINTS:
        status, body = _get(origin + endpoint.path)
        good = status == 200 and isinstance(body, dict) and body.get("success") is True
        checks.append(Check(endpoint.path, good, f"{status}"))
    for path in ("/openapi.json", "/openapi.yaml", "/llms.txt", "/robots.txt", "/sitemap.xml"):
        status, _ = _get(origin + path)
        checks.append(Check(path, status == 200, f"{status}"))
    for product in PRODUCTS:
        status, body = _get(origin + product.path)
        amounts = [option.get("amount") for option in body.get("accepts", [])] if isinstance(body, dict) else []
        good = status == 402 and amounts == [str(product.price_atomic)] * 2
        asked = f", asks {' or '.join(map(str, amounts))} atomic units" if amounts else ""
        checks.append(Check(product.path, good, f"{status}, {product.price_display}" if good else f"{status}{asked}"))
    return checks


def _fresh(status: int, body: Any) -> Check:
    if status != 200 or not isinstance(body, dict):
        return Check("/status.json", False, f"{status}")
    try:
        until = datetime.fromisoformat(body["valid_until"])
    except (KeyError, ValueError, TypeError):
        return Check("/status.json", False, "no valid_until")
    if body.get("generation") == FIRST_GENERATION:
        return Check("freshness", False, "the bootstrap release: the generator has made no tick yet")
    late = (datetime.now(UTC) - until).total_seconds()
    said = f"{body.get('source_mode')}, {body.get('status')}, tick {body.get('tick_id')}"
    return Check("freshness", late <= 0, said if late <= 0 else f"STALE for {late:.0f} s; {said}")


def _get(url: str) -> tuple[int | str, Any]:
    """Return the status (or why there is none) and the JSON body if it is one."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310  the operator names the origin
            return answer.status, _json(answer.read(LARGEST))
    except urllib.error.HTTPError as error:
        with error:
            return error.code, _json(error.read(LARGEST))
    except (OSError, ValueError) as error:
        return f"no answer ({getattr(error, 'reason', error)})", None


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None
