from pathlib import Path

import pytest
from x402.extensions.bazaar import validate_discovery_extension, validate_discovery_extension_spec
from x402.extensions.payment_identifier import (
    append_payment_identifier_to_extensions,
    is_payment_identifier_extension,
    is_payment_identifier_required,
    is_valid_payment_id,
    validate_payment_identifier,
)
from x402.http.utils import decode_payment_required_header
from x402.schemas import PaymentRequired

from tests.support.gateway_app import gateway_app, in_loop
from tests.support.vaults import PATHS


@pytest.mark.parametrize("path", PATHS.values())
@in_loop
async def test_the_packages_own_validators_accept_both_declarations(path: str, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        answer = await home.get(path)

    required = decode_payment_required_header(answer.headers["PAYMENT-REQUIRED"])
    assert isinstance(required, PaymentRequired)
    extensions = required.extensions
    assert extensions is not None
    assert validate_discovery_extension(extensions["bazaar"]).valid
    assert validate_discovery_extension_spec(extensions["bazaar"]).valid
    assert is_payment_identifier_extension(extensions["payment-identifier"])
    assert is_payment_identifier_required(extensions["payment-identifier"])


@in_loop
async def test_an_identifier_that_the_package_appends_is_kept_with_the_payment(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        declared = (await home.get()).json()["extensions"]
        append_payment_identifier_to_extensions(declared, "order_0123456789abcdef")
        payment = home.buyer.pay().changed(lambda value: value.update(extensions=declared))

        answer = await home.send(payment)

        record = home.state.ledger.ledger.find(payment.txid)
    assert answer.status_code == 200
    assert record is not None
    assert record.identifier == "order_0123456789abcdef"
    sent = home.upstream.asked("/settle")[0]["paymentPayload"]["extensions"]
    assert validate_payment_identifier(sent["payment-identifier"]).valid


@pytest.mark.parametrize("identifier", ["a" * 15, "a" * 16, "a" * 128, "a" * 129, "a" * 15 + "!", "é" * 20, ""])
@in_loop
async def test_an_identifier_is_taken_exactly_when_the_package_takes_it(identifier: str, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        answer = await home.send(home.buyer.pay().identified(identifier))

    assert answer.status_code == (200 if is_valid_payment_id(identifier) else 402)
