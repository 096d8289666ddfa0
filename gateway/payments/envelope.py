"""Read the PAYMENT-SIGNATURE header into an envelope: types and shapes only, no judgement of its transactions."""

from __future__ import annotations

import binascii
import json
import math
import re
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from gateway.errors import PaymentInvalid

MAX_GROUP: Final = 16
MAX_NESTING: Final = 64
RESOURCE_TEXTS: Final = ("description", "mimeType", "serviceName", "iconUrl")
IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_-]{16,128}")


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a client sent, well-formed.

    Args:
        group: base64 items of the atomic group.
        index: position of the payment in it.
        network: as the client sent it.
        fee_payer: echoed from the challenge, if at all.
        snapshot_id: echoed from the challenge, if at all.
        resource: forwarded as sent.
        extensions: forwarded as sent.
        identifier: the payment-identifier extension's id, if any.
    """

    group: tuple[str, ...]
    index: int
    network: str
    fee_payer: str | None
    snapshot_id: str | None
    resource: dict[str, Any] | None
    extensions: dict[str, Any] | None
    identifier: str | None


def read_envelope(header: str, networks: tuple[str, str]) -> Envelope:
    """Decode a payment header.

    Args:
        header: the header's value.
        networks: the two forms that name our network.

    Raises:
        PaymentInvalid: anything about it is malformed; the code names what.

    Returns:
        The envelope.
    """
    sent = _object(_parse(header), "payment")
    version = sent.get("x402Version")
    if type(version) is not int or version != 2:
        _refuse("unsupported_x402_version", "x402Version must be the integer 2")
    payload = _object(sent.get("payload"), "payload")
    accepted = _object(sent.get("accepted"), "accepted")
    extra = _object(accepted.get("extra", {}), "accepted.extra")
    extensions = _optional_object(sent.get("extensions"), "extensions")
    group = _group(payload.get("paymentGroup"))
    return Envelope(
        group=group,
        index=_index(payload.get("paymentIndex"), len(group)),
        network=_accepted_network(accepted, networks),
        fee_payer=_optional_text(extra, "feePayer"),
        snapshot_id=_optional_text(extra, "snapshotId"),
        resource=_resource(sent.get("resource")),
        extensions=extensions,
        identifier=_identifier(extensions or {}),
    )


def _parse(header: str) -> Any:
    try:
        raw = binascii.a2b_base64(header.encode("latin-1"), strict_mode=True)
    except ValueError:
        _refuse("payment_not_base64", "the PAYMENT-SIGNATURE header is not standard padded base64")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        _refuse("payment_not_utf8", "the decoded header is not UTF-8")
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        _refuse("payment_nested_too_deep", "the JSON is nested too deep")
    except ValueError:
        _refuse("payment_not_json", "the decoded header is not JSON")
    _check_forwardable(text, value)
    return value


def _check_forwardable(text: str, value: Any) -> None:
    """Refuse what our parser takes and the facilitator's may choke on: parts of it are passed on as sent."""
    # Counting comes first, since a payment rarely needs the walk.
    if text.count("{") + text.count("[") > MAX_NESTING:
        level = [value]
        for _ in range(MAX_NESTING + 1):
            lists = [item.values() if isinstance(item, dict) else item for item in level]
            level = [part for parts in lists for part in parts if isinstance(part, dict | list)]
        if level:
            _refuse("payment_nested_too_deep", f"the JSON is nested more than {MAX_NESTING} deep")
    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            _refuse("payment_not_utf8", "a text in the JSON holds half a character")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        message = f"{digits} is no number that JSON can hold"
        raise ValueError(message)
    return number


def _no_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)


_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)


def _refuse(code: str, text: str) -> NoReturn:
    raise PaymentInvalid(code, text)


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse("payment_malformed", f"{name} must be an object")
    return value


def _optional_object(value: Any, name: str) -> dict[str, Any] | None:
    return None if value is None else _object(value, name)


def _resource(value: Any) -> dict[str, Any] | None:
    resource = _optional_object(value, "resource")
    if resource is None:
        return None
    if not isinstance(resource.get("url"), str):
        _refuse("payment_malformed", "resource.url must be a string")
    for name in RESOURCE_TEXTS:
        if not isinstance(resource.get(name), str | None):
            _refuse("payment_malformed", f"resource.{name} must be a string")
    tags = resource.get("tags")
    if tags is not None and not (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)):
        _refuse("payment_malformed", "resource.tags must be an array of strings")
    return resource


def _optional_text(extra: dict[str, Any], name: str) -> str | None:
    value = extra.get(name)
    if value is not None and not isinstance(value, str):
        _refuse("payment_malformed", f"accepted.extra.{name} must be a string")
    return value


def _accepted_network(accepted: dict[str, Any], networks: tuple[str, str]) -> str:
    # The values are read, not trusted: only the network's form matters, and it is not signed either.
    for name in ("scheme", "network", "asset", "amount", "payTo"):
        if not isinstance(accepted.get(name), str):
            _refuse("payment_malformed", f"accepted.{name} must be a string")
    if type(accepted.get("maxTimeoutSeconds")) is not int:
        _refuse("payment_malformed", "accepted.maxTimeoutSeconds must be an integer")
    if accepted["scheme"] != "exact":
        _refuse("unsupported_scheme", "the scheme must be exact")
    network: str = accepted["network"]
    if network not in networks:
        _refuse("invalid_network", "the payment names another network than the offer")
    return network


def _group(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        _refuse("payment_malformed", "payload.paymentGroup must be an array of strings")
    if not 1 <= len(value) <= MAX_GROUP:
        _refuse("invalid_group_size", f"payload.paymentGroup must hold 1 to {MAX_GROUP} transactions")
    return tuple(value)


def _index(value: Any, size: int) -> int:
    if type(value) is not int or not 0 <= value < size:
        _refuse("invalid_payment_index", "payload.paymentIndex must be an integer that points into the group")
    return value


def _identifier(extensions: dict[str, Any]) -> str | None:
    declared = extensions.get("payment-identifier")
    info = declared.get("info") if isinstance(declared, dict) else None
    value = info.get("id") if isinstance(info, dict) else None
    if value is not None and (not isinstance(value, str) or not IDENTIFIER.fullmatch(value)):
        _refuse("invalid_payment_identifier", "the payment identifier must be 16 to 128 of A-Z a-z 0-9 _ -")
    return value
