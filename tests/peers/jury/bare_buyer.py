"""Buy one resource with no x402 package at all: the 402, a node, and Algorand's own SDK.

Usage: bare_buyer.py URL ALGOD_URL PRIVATE_KEY; one JSON line comes out. In base64url, as some clients write it.
"""

import base64
import json
import sys

import httpx  # type: ignore[import-not-found, import-untyped, unused-ignore]
from algosdk import account, encoding, transaction
from algosdk.v2client.algod import AlgodClient


def url_safe(wire: str) -> str:
    """Return base64 in the alphabet of URLs, without padding."""
    return wire.translate(str.maketrans("+/", "-_")).rstrip("=")


def main(url: str, algod_url: str, secret: str) -> None:
    """Ask, sign what is asked for, send, and print what came back."""
    demand = json.loads(base64.b64decode(httpx.get(url).headers["PAYMENT-REQUIRED"]))
    offer = demand["accepts"][0]
    params = AlgodClient("", algod_url).suggested_params()
    params.flat_fee, params.fee = True, 2_000
    fee_payer = offer["extra"]["feePayer"]
    fee = transaction.PaymentTxn(fee_payer, params, fee_payer, 0)
    params.fee = 0
    payer = account.address_from_private_key(secret)
    payment = transaction.AssetTransferTxn(payer, params, offer["payTo"], int(offer["amount"]), int(offer["asset"]))
    transaction.assign_group_id([fee, payment])

    items = [encoding.msgpack_encode(fee), encoding.msgpack_encode(payment.sign(secret))]
    payload = {"paymentGroup": [url_safe(item) for item in items], "paymentIndex": 1}
    sent = {"x402Version": 2, "resource": demand["resource"], "accepted": offer, "payload": payload}
    header = url_safe(base64.b64encode(json.dumps(sent).encode()).decode())
    answer = httpx.get(url, headers={"PAYMENT-SIGNATURE": header}, timeout=30)
    receipt = answer.headers.get("PAYMENT-RESPONSE", "")
    print(json.dumps({"status": answer.status_code, "receipt": receipt, "body": answer.text}))


main(*sys.argv[1:4])
