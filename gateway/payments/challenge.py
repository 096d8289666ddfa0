"""The 402 challenge: terms of one product and snapshot, encoded once per vault and fee payer."""

import copy
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import structlog
from x402.extensions.payment_identifier import declare_payment_identifier_extension
from x402.http.utils import encode_payment_required_header
from x402.schemas import PaymentRequired

from gateway.http.answers import MAX_HEADER_BYTES, Encoded, encoded, header_bytes
from gateway.settings import GatewaySettings
from gateway.vault.folder import LoadedVault, VaultProduct
from gateway.wire.networks import USDC_DECIMALS

PAYMENT_REQUIRED_TEXT: Final = "Payment required"
MAX_TIMEOUT_S: Final = 60
MAX_ERROR_CHARS: Final = 160
SERVICE_NAME: Final = re.compile(r"[\x20-\x7e]{1,32}")
TAGS: Final = ("crypto", "market-data", "volatility", "education")
ICON: Final = "/favicon.svg"
# What an extension can do without, in the order in which it goes.
CUTS: Final = (
    ("payment-identifier", "schema"),
    ("bazaar", "info", "output", "example"),
    ("bazaar",),
    ("payment-identifier",),
)
log = structlog.get_logger("gateway.challenge")


def requirement(
    settings: GatewaySettings, *, network: str, price_atomic: int, fee_payer: str, snapshot_id: str
) -> dict[str, Any]:
    """Make one entry of `accepts`, which is also what the facilitator gets.

    Args:
        settings: name asset and payee.
        network: in the facilitator's form, or in one of ours.
        price_atomic: atomic units.
        fee_payer: who pays the group's fee.
        snapshot_id: what is sold, echoed by clients.
    """
    # As x402's PaymentRequirements writes it: that model costs more than all of this, at each purchase.
    return {
        "scheme": "exact",
        "network": network,
        "asset": str(settings.chain_network.asset_id),
        "amount": str(price_atomic),
        "payTo": settings.payee,
        "maxTimeoutSeconds": MAX_TIMEOUT_S,
        "extra": {"decimals": USDC_DECIMALS, "name": "USDC", "feePayer": fee_payer, "snapshotId": snapshot_id},
    }


@dataclass(frozen=True, slots=True)
class Challenge:
    """One product's finished 402."""

    product: VaultProduct
    required: dict[str, Any]  # the header's object
    words: Mapping[str, Any]  # the body's other members
    answer: Encoded  # to a request without payment

    def failed(self, error: str, receipt: tuple[bytes, bytes] | None = None) -> Encoded:
        """Encode the same challenge with the reason why a payment was not taken, cut to 160 characters."""
        required = {**self.required, "error": error[:MAX_ERROR_CHARS]}
        return _encode(required, self.words, [receipt] if receipt else [])


def encode_challenges(vault: LoadedVault, fee_payer: str, settings: GatewaySettings) -> dict[str, Challenge]:
    """Encode the challenge of every product that is for sale, by path."""
    sold = {path: product for path, product in vault.products.items() if vault.unavailable(path) is None}
    return {path: _challenge(product, vault, fee_payer, settings) for path, product in sold.items()}


def _challenge(product: VaultProduct, vault: LoadedVault, fee_payer: str, settings: GatewaySettings) -> Challenge:
    accepts = [
        requirement(
            settings,
            network=form,
            price_atomic=product.price_atomic,
            fee_payer=fee_payer,
            snapshot_id=vault.generation,
        )
        for form in settings.chain_network.forms
    ]

    required = {
        "x402Version": 2,
        "error": PAYMENT_REQUIRED_TEXT,
        "resource": {
            "url": settings.origin + product.path,
            "description": product.description,
            "mimeType": "application/json",
            **service_metadata(settings),
        },
        "accepts": accepts,
        "extensions": {
            "bazaar": dict(product.bazaar),
            "payment-identifier": declare_payment_identifier_extension(required=True),
        },
    }
    return Challenge(product, required, product.challenge, _encode(required, product.challenge, []))


def service_metadata(settings: GatewaySettings) -> dict[str, Any]:
    """Return what catalogs show of the service; a name or an icon that they would refuse is left out.

    In the order of the protocol's model, so that header and body read alike to who compares them as text.
    """
    metadata: dict[str, Any] = {}
    if SERVICE_NAME.fullmatch(settings.project):
        metadata["serviceName"] = settings.project
    metadata["tags"] = list(TAGS)
    if not settings.base_is_loopback:
        metadata["iconUrl"] = settings.origin + ICON
    return metadata


def _encode(required: dict[str, Any], words: Mapping[str, Any], extra: list[tuple[bytes, bytes]]) -> Encoded:
    """Encode header and body; cut extensions, never terms, until all headers fit in 4,096 bytes."""
    answer = _encode_whole(required, words, extra)
    for path in CUTS:
        if header_bytes(answer.headers) < MAX_HEADER_BYTES:
            return answer
        # Cut in a copy: the same terms may be encoded again with a shorter error.
        required = copy.deepcopy(required)
        _cut(required["extensions"], path)
        answer = _encode_whole(required, words, extra)

    if header_bytes(answer.headers) >= MAX_HEADER_BYTES:
        log.error("a challenge is larger than 4,096 bytes even without extensions", url=required["resource"]["url"])
    return answer


def _encode_whole(required: dict[str, Any], words: Mapping[str, Any], extra: list[tuple[bytes, bytes]]) -> Encoded:
    header = encode_payment_required_header(PaymentRequired.model_validate(required)).encode()

    # The body repeats the header's members around the product's own words, the reason first.
    body = {"error": required["error"], **words, **required}
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return encoded(402, content, [(b"cache-control", b"no-store"), (b"payment-required", header), *extra])


def _cut(value: Any, path: tuple[str, ...]) -> None:
    *parents, last = path
    for name in parents:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, dict):
        value.pop(last, None)
