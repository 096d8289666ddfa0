"""Short programs that read each answer, as the docs show them; the tests run every one."""

from typing import Final

from generator.catalog.endpoints import Endpoint
from generator.catalog.money import usdc_amount
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

# The official clients, in versions that the tests run. x402-avm brings a package named x402, as the one that this
# service is made with: it needs an environment of its own.
INSTALL: Final = {
    "python": "python3 -m venv buyer && buyer/bin/pip install -q 'x402-avm[avm,requests]==2.0.2'",
    "javascript": "npm install --ignore-scripts @x402/fetch@2.26.0 @x402/avm@2.26.0",
}

START: Final = (
    "python3 -m venv .venv && .venv/bin/pip install -q -r requirements.lock -r requirements-build.lock && "
    ".venv/bin/pip install -q --no-deps --no-build-isolation -e . && .venv/bin/emi up --as testnet"
)
RUN: Final = {"python": "buyer/bin/python buy.py", "javascript": "node buy.mjs"}

_PAID_PYTHON: Final = """import base64, os
from algosdk import account, encoding
from algosdk.atomic_transaction_composer import AccountTransactionSigner
from x402 import max_amount, x402ClientSync
from x402.http.clients.requests import x402_requests
from x402.mechanisms.avm.exact import register_exact_avm_client


class Wallet:
    key = os.environ["AVM_PRIVATE_KEY"]
    address = account.address_from_private_key(key)

    def sign_transactions(self, group, mine):
        parts = [encoding.msgpack_decode(base64.b64encode(part)) for part in group]
        signed = AccountTransactionSigner(self.key).sign_transactions(parts, mine)
        ready = {{n: base64.b64decode(encoding.msgpack_encode(one)) for n, one in zip(mine, signed)}}
        return [ready.get(n) for n in range(len(group))]


client = x402ClientSync().register_policy({cap})  # never more than {price}
register_exact_avm_client(client, Wallet(), algod_url=os.environ.get("ALGOD_URL"))
answer = x402_requests(client).get("{url}")
print(answer.status_code, answer.json().get("headline") or answer.json()["error"])
print(base64.b64decode(answer.headers.get("PAYMENT-RESPONSE", "")).decode())"""

_PAID_JAVASCRIPT: Final = """import {{ wrapFetchWithPaymentFromConfig }} from "@x402/fetch";
import {{ toClientAvmSigner }} from "@x402/avm";
import {{ ExactAvmScheme }} from "@x402/avm/exact/client";

const wallet = toClientAvmSigner(process.env.AVM_PRIVATE_KEY);
const client = new ExactAvmScheme(wallet, {{ algodUrl: process.env.ALGOD_URL }});
const pay = wrapFetchWithPaymentFromConfig(fetch, {{
  schemes: [{{ network: "algorand:*", client }}],
  spendControls: {{ {cap} }}, // never more than {price}
}});
const answer = await pay("{url}");
const body = await answer.json();
console.log(answer.status, body.headline || body.error);
console.log(atob(answer.headers.get("PAYMENT-RESPONSE") || ""));"""


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
    lines = "\n".join(f"console.log({'.'.join(('reading', *path))});" for path in endpoint.first_read)
    return _JAVASCRIPT.format(url=url_of(base_url, endpoint), lines=lines)


def paid_curl(base_url: str, product: Product) -> str:
    """Return the command line that asks a paid endpoint for its terms."""
    return f"curl -i {base_url}{product.path}"


def paid_python(base_url: str, product: Product) -> str:
    """Return a Python program that buys a product with the official client."""
    cap = caps(product)["python"]
    return _PAID_PYTHON.format(url=base_url + product.path, cap=cap, price=product.price_display)


def paid_javascript(base_url: str, product: Product) -> str:
    """Return a module for Node.js that buys a product with the official client."""
    cap = caps(product)["javascript"]
    return _PAID_JAVASCRIPT.format(url=base_url + product.path, cap=cap, price=product.price_display)


def caps(product: Product) -> dict[str, str]:
    """Return what each program of a product says is the most that it pays."""
    return {
        "python": f"max_amount({product.price_atomic})",
        "javascript": f'maxAmountPerPayment: "${usdc_amount(product.price_atomic)}"',
    }


def _python_path(path: tuple[str, ...]) -> str:
    return "reading" + "".join(f'["{name}"]' for name in path)
