"""What the chain says of a buyer's account before anything is signed: does it exist, does it hold USDC, how much."""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, NoReturn

from algosdk.encoding import is_valid_address

from gateway.errors import GatewayError
from gateway.upstream.chain import Chain
from gateway.upstream.http_client import JsonAnswer
from gateway.wire.algorand import MAX_ROUND, MIN_FEE
from gateway.wire.networks import Network

TIMEOUT_S: Final = 3.0
MAX_AMOUNT: Final = 1 << 64
# A node that asks for more than ten times the least fee is not believed.
MAX_FEE: Final = 10_000


class NodeUnusable(GatewayError):
    """The node does not answer, or says what cannot be."""


@dataclass(frozen=True, slots=True)
class Account:
    """A buyer's account.

    Args:
        exists: it holds any ALGO or the asset.
        opted_in: it can hold the asset.
        asset_atomic: atomic units of the asset that it holds, 0 when it is not opted in.
        frozen: the asset's issuer stopped this account from sending it.
        auth_address: whose key signs for it when it was rekeyed, else None.
    """

    exists: bool
    opted_in: bool
    asset_atomic: int
    frozen: bool
    auth_address: str | None

    def obstacle(self, price_atomic: int) -> str | None:
        """Say in one word why it cannot pay a price, None when it can."""
        if not self.exists:
            return "no_account"
        if not self.opted_in:
            return "not_opted_in"
        if self.frozen:
            return "asset_frozen"
        if self.asset_atomic < price_atomic:
            return "too_little_usdc"
        return None


@dataclass(frozen=True, slots=True)
class Params:
    """What a transaction that is made now needs: the node's last round and the least fee in micro-ALGO."""

    last_round: int
    min_fee: int


async def look_up(chain: Chain, address: str, network: Network) -> tuple[Account, Params]:
    """Ask the node about a valid address and the chain, all three questions at once.

    Raises:
        NodeUnusable: an answer is missing, of another network or makes no sense; the text is fit to be shown.
    """
    account, holding, params = await asyncio.gather(
        chain.algod(f"/v2/accounts/{address}?exclude=all", TIMEOUT_S),
        chain.algod(f"/v2/accounts/{address}/assets/{network.asset_id}", TIMEOUT_S),
        chain.algod("/v2/transactions/params", TIMEOUT_S),
    )
    return _account(account, holding, address, network.asset_id), _params(params, network)


async def look_up_fee(chain: Chain, network: Network) -> Params:
    """Ask the node what a transaction costs now; NodeUnusable when its answer is missing or makes no sense."""
    return _params(await chain.algod("/v2/transactions/params", TIMEOUT_S), network)


def _params(answer: JsonAnswer | None, network: Network) -> Params:
    content = _object(answer)
    if content.get("genesis-hash") != network.genesis_hash:
        _refuse("the node belongs to another network than this service")

    last_round = content.get("last-round")
    fee = content.get("min-fee", MIN_FEE)
    if type(last_round) is not int or not 0 < last_round < MAX_ROUND:
        _refuse("the node does not say which round it is")
    if type(fee) is not int or not 0 <= fee <= MAX_FEE:
        _refuse("the node asks for an invalid fee")
    return Params(last_round, max(fee, MIN_FEE))


def _account(account: JsonAnswer | None, holding: JsonAnswer | None, address: str, asset: int) -> Account:
    is_new = account is not None and account.status == HTTPStatus.NOT_FOUND
    content = {} if is_new else _object(account)
    if content and content.get("address") != address:
        _refuse("the node answered for another account")

    held = _holding(holding, asset)
    auth = content.get("auth-addr")
    if auth is not None and not (isinstance(auth, str) and is_valid_address(auth)):
        _refuse("the node names a signer that is not an address")
    micro_algos = _amount(content.get("amount", 0))

    if held is None:
        return Account(micro_algos > 0, opted_in=False, asset_atomic=0, frozen=False, auth_address=auth)
    return Account(
        exists=True,
        opted_in=True,
        asset_atomic=_amount(held.get("amount")),
        frozen=held.get("is-frozen") is True,
        auth_address=auth,
    )


def _holding(answer: JsonAnswer | None, asset: int) -> dict[str, Any] | None:
    """Return the account's holding; None when the node says that there is none."""
    if answer is not None and answer.status == HTTPStatus.NOT_FOUND:
        return None
    held = _object(answer).get("asset-holding")
    if not isinstance(held, dict) or held.get("asset-id") != asset:
        _refuse("the node answered for another asset")
    return held


def _object(answer: JsonAnswer | None) -> dict[str, Any]:
    if answer is None or answer.status != HTTPStatus.OK or not isinstance(answer.content, dict):
        _refuse("the node does not answer")
    found: dict[str, Any] = answer.content
    return found


def _amount(value: Any) -> int:
    if type(value) is not int or not 0 <= value < MAX_AMOUNT:
        _refuse("the node states an invalid amount")
    return value


def _refuse(text: str) -> NoReturn:
    raise NodeUnusable(text)
