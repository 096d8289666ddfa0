"""Buy one resource with the official Python client, unmodified; run by the interpreter that has it, never imported.

Usage: buyer.py URL ALGOD_URL [NETWORK], the private key on standard input; one JSON line comes out. NETWORK registers
the client for that one form; without it for `algorand:*`, as its README shows.
"""

import asyncio
import base64
import json
import sys

from algosdk import account, encoding
from x402 import x402Client
from x402.http.clients.httpx import wrapHttpxWithPayment
from x402.mechanisms.avm.exact import register_exact_avm_client  # type: ignore[import-not-found, unused-ignore]


class Signer:
    """What the client asks of a wallet."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self.address = account.address_from_private_key(secret)

    def sign_transactions(self, unsigned_txns: list[bytes], indexes_to_sign: list[int]) -> list[bytes | None]:
        """Sign the transactions at these places."""
        return [self._sign(raw) if place in indexes_to_sign else None for place, raw in enumerate(unsigned_txns)]

    def _sign(self, raw: bytes) -> bytes:
        part = encoding.msgpack_decode(base64.b64encode(raw).decode())
        return base64.b64decode(encoding.msgpack_encode(part.sign(self._secret)))


async def main(url: str, algod_url: str, network: str | None, secret: str) -> None:
    """Buy once and tell what came back."""
    client = x402Client()
    register_exact_avm_client(client, Signer(secret), networks=network, algod_url=algod_url)
    async with wrapHttpxWithPayment(client) as http:
        answer = await http.get(url)
        receipt = answer.headers.get("PAYMENT-RESPONSE", "")
        print(json.dumps({"status": answer.status_code, "receipt": receipt, "body": answer.text}))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None, sys.stdin.read().strip()))
