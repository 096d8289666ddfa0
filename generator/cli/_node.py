"""A node's few answers that a ballot on chain needs: parameters, the balance, taking it, its block."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from algosdk.transaction import SuggestedParams

from generator.errors import GeneratorError

TIMEOUT_S: Final = 10.0
LARGEST: Final = 1_000_000
TOKEN_HEADER: Final = "X-Algo-API-Token"  # noqa: S105  a header's name
VALID_ROUNDS: Final = 100  # about five minutes, after which a ballot that was not taken never is
FEE_FLOOR: Final = 1_000  # micro-ALGO
FEE_CEILING: Final = 20_000  # a node that asks for more is not believed
BALLOT_BYTES: Final = 400


class NodeError(GeneratorError):
    """The node did not answer, or not as expected; the text says what is known of the ballot."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a node says of its network now."""

    genesis_hash: str
    params: SuggestedParams


class Node:
    """One Algorand node.

    Args:
        url: as the setting ALGOD_URL.
        token: sent in the header that nodes expect; None sends none.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        self._url = url.rstrip("/")
        self._token = token
        if urlsplit(self._url).scheme not in {"http", "https"}:
            raise NodeError(f"EMI_ALGOD_URL {self._url!r} is no URL of a node; write e.g. https://node.example")

    def terms(self) -> Terms:
        """Return fee, rounds and genesis for a transaction now.

        Raises:
            NodeError: no answer, or one that cannot be.
        """
        told = self._ask("/v2/transactions/params")
        try:
            first, genesis_hash = int(told["last-round"]), str(told["genesis-hash"])
            fee = max(FEE_FLOOR, int(told["min-fee"]), int(told["fee"]) * BALLOT_BYTES)
            genesis_id = str(told["genesis-id"])
        except (KeyError, TypeError, ValueError):
            raise NodeError(f"{self._url} does not answer as an Algorand node; nothing was sent") from None
        if fee > FEE_CEILING:
            raise NodeError(f"the node asks {fee} micro-ALGO for a ballot, more than {FEE_CEILING}; nothing was sent")
        params = SuggestedParams(fee, first, first + VALID_ROUNDS, genesis_hash, genesis_id, flat_fee=True)
        return Terms(genesis_hash, params)

    def spendable(self, address: str) -> int:
        """Return the micro-ALGO of an account above what it has to keep.

        Raises:
            NodeError: no answer, or one that cannot be.
        """
        told = self._ask(f"/v2/accounts/{address}?exclude=all")
        try:
            return int(told["amount"]) - int(told["min-balance"])
        except (KeyError, TypeError, ValueError):
            raise NodeError(f"{self._url} does not answer as an Algorand node; nothing was sent") from None

    def send(self, signed: bytes, txid: str) -> None:
        """Hand in one signed transaction.

        Raises:
            NodeError: it was refused, or nobody knows.
        """
        try:
            self._ask("/v2/transactions", signed)
        except _RefusedError as refused:
            raise NodeError(f"the node refused the ballot: {refused}") from None
        except NodeError as error:
            raise NodeError(
                f"{error}. Ballot {txid} may have been taken or not; voting again is harmless: the last counts"
            ) from None

    def wait(self, txid: str, within_s: float) -> int | None:
        """Return the round that confirmed a transaction, None when none has by then."""
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            try:
                found = self._ask(f"/v2/transactions/pending/{txid}").get("confirmed-round")
            except NodeError:
                found = None
            if isinstance(found, int) and found > 0:
                return found
            time.sleep(0.5)
        return None

    def fund(self, origin: str, address: str) -> None:
        """Ask a devnet's faucet for play money.

        Raises:
            NodeError: there is none.
        """
        self._ask(f"/wallet/fund?address={address}", origin=origin)

    def _ask(self, path: str, body: bytes | None = None, origin: str | None = None) -> dict[str, Any]:
        headers = {"User-Agent": "emi"} | ({TOKEN_HEADER: self._token} if self._token and origin is None else {})
        headers |= {"Content-Type": "application/x-binary"} if body else {}
        url = (origin or self._url) + path
        request = urllib.request.Request(url, body, headers)  # noqa: S310  scheme checked
        try:
            with _OPENER.open(request, timeout=TIMEOUT_S) as answer:
                told = json.loads(answer.read(LARGEST))
        except urllib.error.HTTPError as error:
            with error:
                raise _RefusedError(_reason(error)) from None
        except (OSError, ValueError, RecursionError, http.client.HTTPException) as error:
            raise NodeError(f"{origin or self._url} does not answer ({type(error).__name__})") from None
        if not isinstance(told, dict):
            raise NodeError(f"{self._url} does not answer as an Algorand node")
        return told


class _StayHere(urllib.request.HTTPRedirectHandler):
    """A redirect would take the token elsewhere."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER: Final = urllib.request.build_opener(_StayHere)


class _RefusedError(NodeError):
    """The node answered with an error."""


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        told = json.loads(error.read(LARGEST))
        return " ".join(str(told["message"]).split())[:300]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, http.client.HTTPException):
        return f"answer {error.code}"
