"""Short programs that read each answer, as the docs show them; the tests run every one."""

from typing import Final

from generator.catalog.endpoints import Endpoint
from generator.catalog.products import Product

QUERY: Final[dict[str, str]] = {"reasoning": "?asset=ETH"}

_PYTHON: Final = """import json
from datetime import datetime, timezone
from urllib.request import urlopen

with urlopen("{url}", timeout=10) as answer:
    reading = json.load(answer)

until = datetime.fromisoformat(reading["freshness"]["valid_until"].replace("Z", "+00:00"))
if datetime.now(timezone.utc) > until:
    print("stale: do not use it as the state of now")
{lines}"""

_JAVASCRIPT: Final = """const answer = await fetch("{url}", {{ signal: AbortSignal.timeout(10000) }});
if (!answer.ok) throw new Error(`status ${{answer.status}}`);
const reading = await answer.json();

if (Date.now() > Date.parse(reading.freshness.valid_until)) {{
  console.log("stale: do not use it as the state of now");
}}
{lines}"""

_PAID_PYTHON: Final = """import base64, json
from urllib.error import HTTPError
from urllib.request import urlopen

try:
    urlopen("{url}", timeout=10)
except HTTPError as answer:
    assert answer.code == 402
    terms = json.loads(base64.b64decode(answer.headers["PAYMENT-REQUIRED"]))
    offer = terms["accepts"][0]
    print(offer["amount"], "atomic units of asset", offer["asset"], "to", offer["payTo"])"""

_PAID_JAVASCRIPT: Final = """const answer = await fetch("{url}", {{ signal: AbortSignal.timeout(10000) }});
if (answer.status !== 402) throw new Error(`status ${{answer.status}}`);
const terms = JSON.parse(atob(answer.headers.get("PAYMENT-REQUIRED")));
const offer = terms.accepts[0];
console.log(offer.amount, "atomic units of asset", offer.asset, "to", offer.payTo);"""


def url_of(base_url: str, endpoint: Endpoint) -> str:
    """Return the address that the examples of a free endpoint ask."""
    return base_url + endpoint.path + QUERY.get(endpoint.id, "")


def curl(base_url: str, endpoint: Endpoint) -> str:
    """Return the command line that reads a free endpoint."""
    url = url_of(base_url, endpoint)
    return f"curl '{url}'" if "?" in url else f"curl {url}"


def python(base_url: str, endpoint: Endpoint) -> str:
    """Return a program for Python 3.7 and later, with nothing but its own library."""
    lines = "\n".join(f"print({_python_path(path)})" for path in endpoint.first_read)
    return _PYTHON.format(url=url_of(base_url, endpoint), lines=lines)


def javascript(base_url: str, endpoint: Endpoint) -> str:
    """Return a module for browsers and Node.js 18 and later."""
    lines = "\n".join(f"console.log({_javascript_path(path)});" for path in endpoint.first_read)
    return _JAVASCRIPT.format(url=url_of(base_url, endpoint), lines=lines)


def paid_curl(base_url: str, product: Product) -> str:
    """Return the command line that asks a paid endpoint for its terms."""
    return f"curl -i {base_url}{product.path}"


def paid_python(base_url: str, product: Product) -> str:
    """Return a Python program that reads the terms of a paid endpoint; it pays nothing."""
    return _PAID_PYTHON.format(url=base_url + product.path)


def paid_javascript(base_url: str, product: Product) -> str:
    """Return a JavaScript module that reads the terms of a paid endpoint; it pays nothing."""
    return _PAID_JAVASCRIPT.format(url=base_url + product.path)


def _python_path(path: tuple[str, ...]) -> str:
    return "reading" + "".join(f'["{name}"]' for name in path)


def _javascript_path(path: tuple[str, ...]) -> str:
    return "reading" + "".join(f".{name}" for name in path)
