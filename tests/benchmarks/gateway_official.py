"""The official Python middleware round one route; run by the interpreter that has it, never imported.

Usage: gateway_official.py PORT FACILITATOR_URL NETWORK PAYEE ASSET AMOUNT BODY_FILE
"""

import sys
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response  # type: ignore[import-not-found, unused-ignore]
from x402 import x402ResourceServer
from x402.http import FacilitatorConfig, HTTPFacilitatorClient
from x402.http.middleware.fastapi import payment_middleware
from x402.mechanisms.avm.exact import register_exact_avm_server  # type: ignore[import-not-found, unused-ignore]

port, facilitator, network, payee, asset, amount, body_file = sys.argv[1:]
body = Path(body_file).read_bytes()
server = x402ResourceServer(HTTPFacilitatorClient(FacilitatorConfig(url=facilitator)))
register_exact_avm_server(server)
price = {"amount": amount, "asset": asset, "extra": {"name": "USDC", "decimals": 6}}
route = {"accepts": {"scheme": "exact", "payTo": payee, "price": price, "network": network}}
app = FastAPI()
guard = payment_middleware({"GET /api/x402-market-regime.php": route}, server)  # type: ignore[dict-item, unused-ignore]


@app.middleware("http")  # type: ignore[untyped-decorator, unused-ignore]
async def paid(request: Request, call_next: Any) -> Response:
    """Let the middleware take the payment."""
    return await guard(request, call_next)


@app.get("/api/x402-market-regime.php")  # type: ignore[untyped-decorator, unused-ignore]
async def regime() -> Response:
    """Return the same body as the gateway sells."""
    return Response(body, media_type="application/json")


@app.get("/healthz")  # type: ignore[untyped-decorator, unused-ignore]
async def healthz() -> Response:
    """Say that it runs."""
    return Response(b"{}", media_type="application/json")


uvicorn.run(app, host="127.0.0.1", port=int(port), access_log=False, log_level="warning")
