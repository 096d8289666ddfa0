"""`emi doctor`: is the service alive and fresh?"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPException
from typing import Annotated, Any, Final

import typer

from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.products import PRODUCTS
from generator.cli._published import fetch, local_origin
from generator.release.values import FIRST_GENERATION

# Metric, the largest value that needs no alarm, what more of it means.
ALARMS: Final = (
    ("emi_facilitator_failing_seconds", 60, "seconds since the facilitator's verify or settle last worked"),
    ("emi_payments_unclosable", 0, "payments that no evidence can close any more; see emi payments list"),
    ("emi_chain_failing_seconds", 60, "seconds since algod or the indexer last answered"),
    ("emi_payments_unknown_oldest_seconds", 3600, "seconds without a known outcome for the oldest open payment"),
    ("emi_payments_delivered_unpaid_total", 0, "delivered on the facilitator's word and never on the chain"),
    ("emi_payments_refused_but_landed_total", 0, "refused, and found on the chain all the same"),
)
FAILURES: Final = ("emi_facilitator_failures_total", "emi_chain_failures_total", "emi_ledger_failures_total")
MARKS: Final = {True: "ok  ", False: "BAD ", None: "--  "}


def doctor(
    url: Annotated[str | None, typer.Option(help="Origin to check. Default: the configured one.")] = None,
) -> None:
    """Check an origin as a reader and a payer would; exit code 1 when anything is wrong.

    Of the configured origin, or one of this machine, the gateway is asked directly as well, and its metrics where
    EMI_METRICS_PORT is set.

    Example: emi doctor --url https://api.example.org
    """
    from urllib.parse import urlsplit

    from gateway.wire.loopback import is_loopback
    from generator.cli._settings import gateway_settings, generator_settings

    configured = generator_settings().origin
    gateway = gateway_settings()
    origin = (url or configured).rstrip("/")
    if origin == configured or is_loopback(urlsplit(origin).hostname or ""):
        metrics = f"http://127.0.0.1:{gateway.metrics_port}/metrics" if gateway.metrics_port else None
        checks = examine(origin, [local_origin(gateway.host, gateway.port)], metrics)
    else:
        checks = examine(origin)
    for check in checks:
        print(f"{MARKS[check.good]} {check.what}: {check.found}")
    raise typer.Exit(1 if any(check.good is False for check in checks) else 0)


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; `good` is None where it cannot be checked from here."""

    what: str
    good: bool | None
    found: str


def examine(origin: str, gateways: Sequence[str] = (), metrics: str | None = None) -> list[Check]:
    """Check freshness, the free paths, the discovery files, the challenges and whether a sale is possible.

    An origin that does not answer at all is not checked further.

    Args:
        origin: what readers and payers use.
        gateways: origins of gateways themselves, for an edge that does not route /readyz.
        metrics: URL of the gateway's metrics, if they are known here.
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
    return [*checks, *_ready([origin, *gateways]), *(_measured(metrics) if metrics else ())]


def _ready(origins: Sequence[str]) -> list[Check]:
    for origin in origins:
        status, body = _get(f"{origin}/readyz")
        body = body if isinstance(body, dict) else {}
        if status == 200 and body.get("status") == "ready":
            return [Check("/readyz", True, "a sale is possible")]
        reasons = body.get("reasons")
        if status == 503 and isinstance(reasons, list):
            return [Check("/readyz", False, str(reason)) for reason in reasons]
    return [Check("/readyz", None, "not reachable from here; run this where the gateway runs")]


def _measured(url: str) -> Iterator[Check]:
    """Yield an alarm for each metric that is past its limit, and what failed since the gateway's start."""
    try:
        rows = [line.rpartition(" ") for line in fetch(url)[1].decode().splitlines() if line[:1] != "#"]
        values = {name: float(value) for name, _, value in rows}
    except (OSError, ValueError, HTTPException) as error:
        yield Check("metrics", None, f"not readable: {getattr(error, 'reason', error)}")
        return
    for name, most, meaning in ALARMS:
        if values.get(name, 0) > most:
            yield Check(name, False, f"{values[name]:.0f} {meaning}")
    failed = [f"{name} {value:.0f}" for name, value in values.items() if name.startswith(FAILURES) and value]
    yield Check("metrics", True, f"failed since the start: {', '.join(failed) or 'nothing'}")


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
        status, data = fetch(url)
    except (OSError, ValueError, HTTPException) as error:
        return f"no answer ({getattr(error, 'reason', error)})", None
    try:
        return status, json.loads(data)
    except ValueError:
        return status, None
