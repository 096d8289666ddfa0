"""Read a 402 as terms that may be signed, or say what is wrong with it. Pure: nothing here asks anyone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from gateway.wire.foreign import ForeignBytesError
from gateway.wire.loopback import is_loopback
from gateway.wire.required import PAYMENT_REQUIRED, read_required
from generator.errors import GeneratorError

if TYPE_CHECKING:
    from gateway.wire.networks import Network
    from generator.client.buying.web import WebAnswer

REPEATED: Final = ("x402Version", "resource", "accepts")
"""What the body of a 402 repeats of its header."""
SHA256: Final = re.compile(r"[0-9a-f]{64}")
PORTS: Final = {"http": 80, "https": 443}
MOST_SHOWN: Final = 120


class OfferRefused(GeneratorError):
    """The offer is not one that this buyer signs; nothing was paid."""

    def __init__(self, why: str) -> None:
        super().__init__(f"nothing was paid: {why}")


@dataclass(frozen=True, slots=True)
class Terms:
    """What one purchase is agreed to be.

    Args:
        header: the value of PAYMENT-REQUIRED.
        payee: who gets the money.
        snapshot_id: of the document that is sold.
        sha256: of its bytes, hexadecimal.
    """

    header: str
    payee: str
    snapshot_id: str
    sha256: str


def origin_key(url: str) -> str:
    """Return what stands for the origin of a URL: scheme, host and port, every name of this machine being the same."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    if is_loopback(host):
        host = "127.0.0.1"
    return f"{parts.scheme}://{host}:{parts.port or PORTS.get(parts.scheme, 0)}"


def read_terms(answer: WebAnswer, url: str, network: Network) -> Terms:
    """Return the terms of a 402 to a GET of a URL.

    Amount, asset and addresses are judged by the wallet, which signs the first offer of its network.

    Raises:
        OfferRefused: the header is missing, repeated or of another version, the body says something else than the
            header, the offers differ, or what is sold is not what was asked for or has no digest.
    """
    headers = answer.values(PAYMENT_REQUIRED)
    if len(headers) != 1:
        raise OfferRefused(f"the answer has {len(headers)} PAYMENT-REQUIRED headers instead of one")
    try:
        required = read_required(headers[0])
    except ForeignBytesError as problem:
        raise OfferRefused("the 402 answer carries no readable PAYMENT-REQUIRED header") from problem
    body = answer.json()
    if not isinstance(body, dict):
        raise OfferRefused("the body of the 402 answer is not a JSON object")

    version = required.get("x402Version")
    if type(version) is not int or version != 2:
        raise OfferRefused(f"the offer is of x402 version {_shown(version)}; this buyer speaks version 2")
    for name in REPEATED:
        if body.get(name) != required.get(name):
            raise OfferRefused(f"header and body of the 402 answer differ in {name}")
    _check_resource(required.get("resource"), url)

    offer = _offer(required.get("accepts"), network)
    snapshot_id, sha256 = _quote(body.get("quote"), offer)
    return Terms(headers[0], str(offer.get("payTo")), snapshot_id, sha256)


def _check_resource(resource: Any, url: str) -> None:
    """Refuse an offer for another document or of another origin than the one that was asked."""
    named = resource.get("url") if isinstance(resource, dict) else None
    if not isinstance(named, str):
        raise OfferRefused("the offer does not name what it sells")

    try:
        ours = urlsplit(url)
        theirs = urlsplit(named)
        same_origin = origin_key(named) == origin_key(url) and theirs.username is None
    except ValueError:
        raise OfferRefused(f"the offer names {_shown(named)}, which is not a URL") from None

    if not same_origin:
        raise OfferRefused(
            f"the offer is of {_shown(named)}, but {url} was asked; "
            "if that is the service's own name, use it with --url"
        )
    if theirs.path != ours.path:
        raise OfferRefused(f"the offer sells {_shown(theirs.path)}, but {ours.path} was asked for")


def _offer(accepts: Any, network: Network) -> dict[str, Any]:
    """Return the first offer on a network; every other one there must say the same."""
    if not isinstance(accepts, list) or not all(isinstance(option, dict) for option in accepts):
        raise OfferRefused("the offer has no list of ways to pay")

    mine = [option for option in accepts if option.get("scheme") == "exact" and option.get("network") in network.forms]
    if not mine:
        raise OfferRefused(f"the seller takes no payment on {network.full}, the only network of this wallet")

    first: dict[str, Any] = mine[0]
    for other in mine[1:]:
        if other | {"network": ""} != first | {"network": ""}:
            raise OfferRefused("the answer offers two different payments on one network")
    return first


def _quote(quote: Any, offer: dict[str, Any]) -> tuple[str, str]:
    """Return the snapshot and the SHA-256 that an offer quotes."""
    if not isinstance(quote, dict):
        quote = {}
    extra = offer.get("extra")
    snapshot_id = quote.get("snapshotId")
    sha256 = quote.get("sha256")

    if not isinstance(sha256, str) or not SHA256.fullmatch(sha256):
        raise OfferRefused("the offer does not state the SHA-256 of what it sells")
    if not isinstance(snapshot_id, str) or not isinstance(extra, dict) or extra.get("snapshotId") != snapshot_id:
        raise OfferRefused("quote and offer name different snapshots")
    return snapshot_id, sha256


def _shown(value: Any) -> str:
    """Return what a seller wrote so that a terminal shows it and nothing more."""
    return ascii(value)[:MOST_SHOWN]
