"""A throwaway wallet: its key file, and a payment made from a 402 as any x402 client would.

Keys lie in files that only their owner can read; they are never logged and never in an answer.
"""

import base64
import binascii
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from algosdk import account, encoding, transaction
from algosdk.error import WrongKeyLengthError
from x402.extensions.payment_identifier import append_payment_identifier_to_extensions

from gateway.devnet.errors import DevnetError, WalletError
from gateway.devnet.rules import MIN_FEE
from gateway.devnet.transactions import parse_item, signed
from gateway.wire.networks import Network

VALIDITY_ROUNDS: Final = 1_000
"""About 47 minutes on the devnet: a payment whose answer is lost stays payable while the buyer asks again."""


@dataclass(frozen=True, slots=True)
class Key:
    """One account's key.

    Args:
        address: 58 characters.
        secret: the private key as the Algorand SDK takes it; kept out of repr.
    """

    address: str
    secret: str = field(repr=False)


def new_key() -> Key:
    """Return a fresh key that no file holds."""
    secret, address = account.generate_account()
    return Key(address, secret)


def load_or_make(path: Path) -> Key:
    """Return the key in a file; make the file first when there is none.

    Args:
        path: the key file; made 0600; its folder and the one above, if they are made here, 0700.

    Raises:
        DevnetError: the file cannot be read or written, or holds no key.
    """
    try:
        for folder in (path.parent.parent, path.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _write_once(path, new_key().secret)
        path.chmod(0o600)
        secret = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise DevnetError(f"key file {path}: {problem}") from problem
    try:
        return Key(account.address_from_private_key(secret), secret)
    except (ValueError, WrongKeyLengthError) as problem:
        raise DevnetError(f"key file {path} holds no key; remove it to get a new throwaway one") from problem


def _write_once(path: Path, secret: str) -> None:
    """Put a new key file in place whole, or leave the one that another process just made."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secret)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            return
    finally:
        draft.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class PaymentOption:
    """One entry of `accepts`, read and found payable.

    Args:
        accepted: the entry as it stood, echoed in the payment.
        network: as the entry names it, either form.
        asset: asset id.
        amount_atomic: atomic units.
        pay_to: receiver.
        fee_payer: who pays the network fee, None when the buyer does.
    """

    accepted: Mapping[str, Any]
    network: str
    asset: int
    amount_atomic: int
    pay_to: str
    fee_payer: str | None


@dataclass(frozen=True, slots=True)
class SignedPayment:
    """A payment, ready to send; sending it twice pays once.

    Args:
        header: the value of PAYMENT-SIGNATURE.
        txid: the id of the payment itself, not of the group's first transaction.
        payer: the buyer's address.
        network: the network of the option that it pays.
        amount_atomic: atomic units.
        last_valid: the round after which it can no longer commit.
    """

    header: str
    txid: str
    payer: str
    network: str
    amount_atomic: int
    last_valid: int


def read_challenge(header: str) -> dict[str, Any]:
    """Return the challenge that a PAYMENT-REQUIRED header carries.

    Raises:
        WalletError: it is not base64 of a JSON object of x402 version 2.
    """
    try:
        challenge = json.loads(base64.b64decode(header, validate=True))
    except (binascii.Error, ValueError, RecursionError) as problem:
        raise WalletError("the 402 answer carries no readable PAYMENT-REQUIRED header") from problem
    if not isinstance(challenge, dict) or challenge.get("x402Version") != 2:
        raise WalletError("the 402 answer is not of x402 version 2")
    return challenge


def choose_option(challenge: Mapping[str, Any], identity: Network, max_amount_atomic: int) -> PaymentOption:
    """Return the first option on this network, if its price is within the limit.

    Args:
        challenge: as `read_challenge` returns it.
        identity: the only network that this wallet pays on.
        max_amount_atomic: the most that is paid, in atomic units.

    Raises:
        WalletError: no such option, another asset, a price above the limit.
    """
    entries = challenge.get("accepts")
    listed = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    known = {identity.full, identity.caip2}
    mine = [entry for entry in listed if entry.get("scheme") == "exact" and entry.get("network") in known]
    if not mine:
        networks = ", ".join(sorted({str(entry.get("network")) for entry in listed})) or "none"
        raise WalletError(f"the seller takes payment on {networks}; this throwaway wallet pays only on {identity.full}")
    option = _read_option(mine[0])
    if option.asset != identity.asset_id:
        raise WalletError(f"the seller asks for asset {option.asset}; this wallet pays only {identity.asset_id} (USDC)")
    if option.amount_atomic > max_amount_atomic:
        raise WalletError(f"the price is {option.amount_atomic} atomic units, above the limit of {max_amount_atomic}")
    return option


def sign_payment(
    challenge: Mapping[str, Any], option: PaymentOption, key: Key, identity: Network, last_round: int
) -> SignedPayment:
    """Sign an atomic group that pays an option: the fee payer's unsigned part first, when there is one.

    Args:
        challenge: its `resource` and `extensions` are echoed, with a payment identifier of 122 random bits where the
            seller takes one: what the payment bought is then repeated to its holder only.
        option: from `choose_option`.
        key: the buyer's.
        identity: the network's genesis.
        last_round: the node's last round; the payment is valid for 1,000 from there.
    """
    parts = _unsigned(option, key.address, identity, last_round)
    if len(parts) > 1:
        parts = transaction.assign_group_id(parts)
    items = [parse_item(base64.b64decode(encoding.msgpack_encode(part))) for part in parts]
    items[-1] = signed(items[-1], key.secret)
    # An unsigned part travels bare, as the official clients send it.
    wires = [base64.b64encode(item.wire if item.envelope else item.packed).decode() for item in items]
    inner = {"paymentGroup": wires, "paymentIndex": len(wires) - 1}
    payload: dict[str, Any] = {"x402Version": 2, "payload": inner, "accepted": dict(option.accepted)}
    payload |= {name: challenge[name] for name in ("resource", "extensions") if challenge.get(name)}
    if "extensions" in payload:
        payload["extensions"] = append_payment_identifier_to_extensions(dict(payload["extensions"]))
    header = base64.b64encode(json.dumps(payload, separators=(",", ":")).encode()).decode()
    last_valid = items[-1].fields["lv"]
    return SignedPayment(header, items[-1].txid, key.address, option.network, option.amount_atomic, last_valid)


def _read_option(entry: Mapping[str, Any]) -> PaymentOption:
    extra = entry.get("extra") if isinstance(entry.get("extra"), dict) else {}
    assert isinstance(extra, dict)
    asset, amount, fee_payer = entry.get("asset"), entry.get("amount"), extra.get("feePayer")
    numbers = [
        one for one in (asset, amount) if isinstance(one, str) and one.isascii() and one.isdigit() and len(one) < 20
    ]
    addresses = [entry.get("payTo"), *([fee_payer] if fee_payer is not None else [])]
    if len(numbers) != 2 or not all(encoding.is_valid_address(one) for one in addresses):
        raise WalletError("the seller's offer is malformed: asset, amount, payTo or feePayer cannot be read")
    return PaymentOption(entry, str(entry["network"]), int(numbers[0]), int(numbers[1]), str(entry["payTo"]), fee_payer)


def _unsigned(option: PaymentOption, buyer: str, identity: Network, last_round: int) -> list[Any]:
    def params(fee: int) -> transaction.SuggestedParams:
        return transaction.SuggestedParams(
            fee=fee,
            first=last_round,
            last=last_round + VALIDITY_ROUNDS,
            gh=identity.genesis_hash,
            gen=identity.genesis_id,
            flat_fee=True,
        )

    # The note makes two payments of one price in one round two transactions.
    note = f"emi-buy-{time.time_ns()}".encode()
    payment_fee = 0 if option.fee_payer else MIN_FEE
    payment = transaction.AssetTransferTxn(
        buyer, params(payment_fee), option.pay_to, option.amount_atomic, option.asset, note=note
    )
    if not option.fee_payer:
        return [payment]
    fee = transaction.PaymentTxn(option.fee_payer, params(2 * MIN_FEE), option.fee_payer, 0)
    return [fee, payment]
