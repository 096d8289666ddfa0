"""The buyer's side of x402 over HTTP: request, sign once, send until the outcome is known.

A signed payment is a file before it is sent, so no payment is signed twice.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import aiohttp

from gateway.devnet.errors import WalletError
from gateway.devnet.settings import IDENTITIES
from gateway.devnet.wallet import pay
from generator.errors import GeneratorError

if TYPE_CHECKING:
    from gateway.devnet.keys import Key
    from gateway.wire.networks import Network

ANSWER_TIMEOUT_S: Final = 30.0
PATIENCE_S: Final = 60.0
DEFAULT_WAIT_S: Final = 2.0
LONGEST_WAIT_S: Final = 10.0
MAX_BODY: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Order:
    """What to buy and how far to go.

    Args:
        url: the paid resource.
        devnet_url: origin of the devnet, from which play money comes.
        key: the throwaway wallet's.
        max_amount_atomic: the most that is paid, atomic units.
        patience_s: seconds to keep asking while the outcome is not known.
    """

    url: str
    devnet_url: str
    key: Key
    max_amount_atomic: int
    patience_s: float = PATIENCE_S


@dataclass(frozen=True, slots=True)
class Purchase:
    """One signed payment and what became of it.

    Args:
        txid: id of the payment on the chain.
        url: what it buys.
        header: the value of PAYMENT-SIGNATURE.
        network: as the offer names it.
        payer: the throwaway wallet's address.
        amount_atomic: atomic units.
        status: `signed` until an answer is known.
        receipt: the decoded PAYMENT-RESPONSE, when there was one.
        body: the product, when it was delivered.
    """

    txid: str
    url: str
    header: str
    network: str
    payer: str
    amount_atomic: int
    status: Literal["signed", "settled", "refused"] = "signed"
    receipt: dict[str, Any] | None = None
    body: Any = None


class Purchases:
    """The folder of purchases.

    Args:
        folder: STATE_DIR/purchases; made 0700 with the first one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, txid: str) -> Path:
        """Return the file of a purchase."""
        return self._folder / f"{txid}.json"

    def keep(self, purchase: Purchase) -> Purchase:
        """Write a purchase down, whole or not at all, and return it.

        Raises:
            GeneratorError: the folder cannot be written; then the payment must not be sent.
        """
        path = self.path(purchase.txid)
        draft = path.with_suffix(".part")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                json.dump(asdict(purchase), file, ensure_ascii=False, indent=1)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except OSError as problem:
            raise GeneratorError(f"the purchase cannot be kept in {path}: {problem.strerror}") from problem
        return purchase

    def unanswered(self, url: str) -> Purchase | None:
        """Return the oldest payment for this URL that was signed and whose end is not known."""
        files = sorted(self._folder.glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name))
        return next((one for one in map(_read, files) if one.url == url and one.status == "signed"), None)


def _read(path: Path) -> Purchase:
    """Return the purchase of a file; one that cannot be read is an error, since it may have been paid."""
    try:
        return Purchase(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as problem:
        raise GeneratorError(f"{path} is not a readable purchase; move it away if you know it is settled") from problem


async def purchase(order: Order, purchases: Purchases) -> Purchase:
    """Buy once; a payment of an earlier run whose end is unknown is sent again instead of signing another.

    Raises:
        GeneratorError: nothing was bought, or the outcome is not known yet.
    """
    timeout = aiohttp.ClientTimeout(total=ANSWER_TIMEOUT_S, connect=5)
    async with aiohttp.ClientSession(timeout=timeout, max_field_size=65_536) as http:
        signed = purchases.unanswered(order.url)
        if signed is None:
            signed = purchases.keep(await _sign(http, order))
        else:
            _say(f"payment {signed.txid} of an earlier run has no answer yet: sending the same one again")
        return await _send(http, order, purchases, signed)


async def _sign(http: aiohttp.ClientSession, order: Order) -> Purchase:
    header = await _ask_price(http, order.url)
    network, last_round = await _ask_node(http, order.devnet_url)
    try:
        made = pay(header, order.key, network, last_round, order.max_amount_atomic)
    except WalletError as refusal:
        raise GeneratorError(f"nothing was paid: {refusal}") from refusal
    await _get_json(http, f"{order.devnet_url}/wallet/fund?address={made.payer}", "the devnet's faucet")
    return Purchase(made.txid, order.url, made.header, made.network, made.payer, made.amount_atomic)


async def _ask_price(http: aiohttp.ClientSession, url: str) -> str:
    try:
        async with http.get(url) as answer:
            if answer.status != 402:
                raise GeneratorError(f"{url} answered {answer.status} instead of a price: {await _reason(answer)}")
            return answer.headers.get("PAYMENT-REQUIRED", "")
    except (aiohttp.ClientError, TimeoutError) as problem:
        raise GeneratorError(f"{url} cannot be reached ({_words(problem)}); is `emi up` running?") from problem


async def _ask_node(http: aiohttp.ClientSession, devnet_url: str) -> tuple[Network, int]:
    params = await _get_json(http, f"{devnet_url}/algod/v2/transactions/params", "the devnet")
    for network in IDENTITIES.values():
        if params.get("genesis-hash") == network.genesis_hash:
            return network, int(params["last-round"])
    raise GeneratorError(f"{devnet_url} is not a devnet of this service: genesis {params.get('genesis-id')}")


async def _get_json(http: aiohttp.ClientSession, url: str, what: str) -> dict[str, Any]:
    try:
        async with http.get(url) as answer:
            if answer.status != 200:
                hint = "; tell it with --devnet-url" if answer.status == 404 else ""
                raise GeneratorError(
                    f"nothing was paid: {what} answered {answer.status}: {await _reason(answer)}{hint}"
                )
            body: dict[str, Any] = await answer.json()
            return body
    except (aiohttp.ClientError, TimeoutError, ValueError) as problem:
        line = f"nothing was paid: {what} at {url} does not answer ({_words(problem)}); tell it with --devnet-url"
        raise GeneratorError(line) from problem


async def _send(http: aiohttp.ClientSession, order: Order, purchases: Purchases, signed: Purchase) -> Purchase:
    """Present one signed payment until it is settled or refused, or patience ends."""
    until = time.monotonic() + order.patience_s
    while True:
        wait_s = DEFAULT_WAIT_S
        try:
            async with http.get(order.url, headers={"PAYMENT-SIGNATURE": signed.header}) as answer:
                if answer.status in {200, 402, 410}:
                    return await _close(purchases, signed, answer)
                retry_s = answer.headers.get("Retry-After", "")
                wait_s = min(max(float(retry_s), 0.1), LONGEST_WAIT_S) if retry_s.isdigit() else DEFAULT_WAIT_S
                why = f"the answer was {answer.status}: {await _reason(answer)}"
        except (aiohttp.ClientError, TimeoutError) as problem:
            why = f"no answer ({_words(problem)})"
        if time.monotonic() + wait_s > until:
            kept = purchases.path(signed.txid)
            raise GeneratorError(
                f"the outcome of payment {signed.txid} is not known yet: {why}. It is kept in {kept}; "
                "run the same command again and the same payment is sent, none is signed again"
            )
        _say(f"{why}; the same payment again in {wait_s:g} s")
        await asyncio.sleep(wait_s)


async def _close(purchases: Purchases, signed: Purchase, answer: aiohttp.ClientResponse) -> Purchase:
    """Write down how a purchase ended and return it when it was delivered; GeneratorError says why it was not."""
    receipt = _receipt(answer)
    if answer.status == 200:
        try:
            body = json.loads(await answer.read())
        except ValueError as problem:
            raise GeneratorError(f"payment {signed.txid} was answered 200 with a body that is not JSON") from problem
        return purchases.keep(replace(signed, status="settled", receipt=receipt, body=body))
    why = await _reason(answer)
    if answer.status == 410:
        purchases.keep(replace(signed, status="settled", receipt=receipt))
        raise GeneratorError(f"payment {signed.txid}: {why}")
    purchases.keep(replace(signed, status="refused", receipt=receipt))
    reason = (receipt or {}).get("errorReason") or why
    raise GeneratorError(f"payment {signed.txid} was refused and nothing was paid: {reason}")


def _receipt(answer: aiohttp.ClientResponse) -> dict[str, Any] | None:
    try:
        receipt = json.loads(base64.b64decode(answer.headers["PAYMENT-RESPONSE"], validate=True))
    except (KeyError, ValueError):
        return None
    return receipt if isinstance(receipt, dict) else None


async def _reason(answer: aiohttp.ClientResponse) -> str:
    """Return the one line that an error body has for people."""
    raw = await answer.content.read(MAX_BODY)
    try:
        body = json.loads(raw)
        line = str(body.get("detail") or body.get("error") or body.get("message") or answer.reason)
    except (ValueError, AttributeError):
        line = str(answer.reason)
    return " ".join(line.split())[:300]


def _words(problem: BaseException) -> str:
    return "timeout" if isinstance(problem, TimeoutError) else str(problem) or type(problem).__name__


def _say(line: str) -> None:
    print(f"emi: {line}", file=sys.stderr, flush=True)
