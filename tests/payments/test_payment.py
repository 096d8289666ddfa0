import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest
from algosdk import encoding, transaction
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import PaymentInvalid
from gateway.payments.parse import read_payment
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import DEVNET, TESTNET
from tests.support.fake_upstream import FEE_PAYER
from tests.support.gateway_app import gateway_app, in_loop
from tests.support.gateway_wallet import PRICE, Buyer, Signed, encode_header
from tests.support.vaults import GENERATION

BUYER = Buyer()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


def code_of(header: str) -> str:
    with pytest.raises(PaymentInvalid) as caught:
        read_payment(header, DEVNET, DEMO_PAYEE)
    return caught.value.code


def changed(change: Callable[[Any], Any]) -> str:
    return BUYER.pay().changed(change).header


def setting(*path: str, to: Any) -> str:
    def change(value: Any) -> None:
        for name in path[:-1]:
            value = value[name]
        value[path[-1]] = to

    return changed(change)


def without(*path: str) -> str:
    def change(value: Any) -> None:
        for name in path[:-1]:
            value = value[name]
        del value[path[-1]]

    return changed(change)


def item_header(item: bytes) -> str:
    BUYER.fields()
    return Signed("", "", BUYER.envelope(item)).header


def test_and_9_a_good_payment_reads_as_the_sdk_reads_it() -> None:
    payment = BUYER.pay()
    raw = payment.value["payload"]["paymentGroup"][1]

    read = read_payment(payment.header, DEVNET, DEMO_PAYEE)

    signed = encoding.msgpack_decode(raw)
    assert read.txid == signed.get_txid() == payment.txid
    assert (read.payer, read.amount_atomic) == (signed.transaction.sender, signed.transaction.amount)
    assert (read.first_valid, read.last_valid) == (5_000, 5_500)


def test_what_comes_with_a_payment_is_read_as_the_client_sent_it() -> None:
    resource = {"url": "https://api.example/a", "mimeType": None, "of": ["theirs"]}
    sent = BUYER.pay().identified("order-0123456789abcdef").changed(lambda value: value.update(resource=resource))

    read = read_payment(sent.header, DEVNET, DEMO_PAYEE)
    bare = read_payment(BUYER.pay(snapshot=None).header, DEVNET, DEMO_PAYEE)

    assert (read.resource, read.extensions) == (resource, sent.value["extensions"])
    assert (list(read.group), read.index) == (sent.value["payload"]["paymentGroup"], 1)
    assert (read.identifier, read.fee_payer) == ("order-0123456789abcdef", FEE_PAYER)
    assert (read.network, read.snapshot_id) == (DEVNET.full, GENERATION)
    assert (bare.resource, bare.extensions, bare.identifier, bare.snapshot_id) == (None, None, None, None)


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("not base64!", "payment_not_base64"),
        ("abcde", "payment_not_base64"),
        ("YQ=a", "payment_not_base64"),
        (base64.b64encode(b"\xff\xfe\xfd").decode(), "payment_not_utf8"),
        ("", "payment_not_json"),
        (base64.b64encode(b"{").decode(), "payment_not_json"),
        (base64.b64encode(b'{"x402Version": NaN}').decode(), "payment_not_json"),
        (base64.b64encode(b'{"x402Version": Infinity}').decode(), "payment_not_json"),
        (base64.b64encode(b'{"extensions": {"a": [-Infinity]}}').decode(), "payment_not_json"),
        (base64.b64encode(b'{"resource": {"a": 1e999}}').decode(), "payment_not_json"),
        (base64.b64encode(rb'{"resource": {"a": "\ud800"}}').decode(), "payment_not_utf8"),
        (base64.b64encode(b'{"extensions": ' + b"[" * 70 + b"]" * 70 + b"}").decode(), "payment_nested_too_deep"),
        (base64.b64encode(b'{"a":' * 70 + b"1" + b"}" * 70).decode(), "payment_nested_too_deep"),
        (base64.b64encode(b"[" * 5_000 + b"]" * 5_000).decode(), "payment_nested_too_deep"),
        (base64.b64encode(b'{"x402Version":' + b"9" * 5_000 + b"}").decode(), "payment_not_json"),
        (encode_header([]), "payment_malformed"),
        (encode_header("text"), "payment_malformed"),
        (encode_header(None), "payment_malformed"),
    ],
)
def test_a_header_that_is_not_a_payment_names_its_reason(header: str, code: str) -> None:
    assert code_of(header) == code


def url_safe(text: str) -> str:
    """Return base64 as base64url has it, without padding."""
    return text.translate(str.maketrans("+/", "-_")).rstrip("=")


def test_both_alphabets_of_base64_are_taken_and_forwarded_in_the_standard_one() -> None:
    sent = next(paid for paid in iter(lambda: BUYER.pay(snapshot=None), None) if "+" in str(paid.value) + paid.header)
    group = sent.value["payload"]["paymentGroup"]
    payload = {**sent.value["payload"], "paymentGroup": [url_safe(item) for item in group]}

    inner = read_payment(encode_header({**sent.value, "payload": payload}), DEVNET, DEMO_PAYEE)
    outer = read_payment(url_safe(encode_header({**sent.value, "payload": payload})), DEVNET, DEMO_PAYEE)

    assert list(inner.group) == list(outer.group) == group
    assert inner.txid == outer.txid == read_payment(sent.header, DEVNET, DEMO_PAYEE).txid


def test_64_levels_below_the_outermost_are_read_and_no_more() -> None:
    def nested(lists: int) -> str:
        inner: Any = 1
        for _ in range(lists):
            inner = [inner]
        return setting("extensions", to={"a": inner})

    assert read_payment(nested(63), DEVNET, DEMO_PAYEE).payer == BUYER.address
    assert code_of(nested(64)) == "payment_nested_too_deep"


@pytest.mark.parametrize("version", [1, 3, "2", 2.0, True, None, [2]])
def test_the_version_is_the_integer_2(version: Any) -> None:
    assert code_of(setting("x402Version", to=version)) == "unsupported_x402_version"


@pytest.mark.parametrize("index", [True, False, "1", 1.0, 1.5, None, -1, 2, 16, [1], 10**30])
def test_the_payment_index_is_a_real_integer_in_range(index: Any) -> None:
    assert code_of(setting("payload", "paymentIndex", to=index)) == "invalid_payment_index"


@pytest.mark.parametrize(
    ("group", "code"),
    [
        ([], "invalid_group_size"),
        (["AAAA"] * 17, "invalid_group_size"),
        ("AAAA", "payment_malformed"),
        (None, "payment_malformed"),
        ([1, 2], "payment_malformed"),
        (["AAAA", None], "payment_malformed"),
        (["!!!", "AAAA"], "transaction_not_base64"),
        (["\ud800", "AAAA"], "payment_not_utf8"),
        (["\u00e9", "AAAA"], "transaction_not_base64"),
        (["wQ==", "AAAA"], "transaction_not_msgpack"),
        (["", ""], "transaction_not_msgpack"),
        (["AQ==", "AQ=="], "transaction_not_msgpack"),
        ([base64.b64encode(b"\x91" * 5_000).decode()] * 2, "transaction_not_msgpack"),
    ],
)
def test_a_group_that_is_none_names_its_reason(group: Any, code: str) -> None:
    assert code_of(setting("payload", "paymentGroup", to=group)) == code


@pytest.mark.parametrize(
    "header",
    [
        without("payload"),
        without("accepted"),
        without("accepted", "scheme"),
        without("accepted", "network"),
        without("accepted", "asset"),
        without("accepted", "amount"),
        without("accepted", "payTo"),
        without("accepted", "maxTimeoutSeconds"),
        setting("accepted", "asset", to=31566704),
        setting("accepted", "amount", to=10_000),
        setting("accepted", "maxTimeoutSeconds", to="60"),
        setting("accepted", "maxTimeoutSeconds", to=True),
        setting("accepted", "extra", to=[]),
        setting("accepted", "extra", "snapshotId", to=7),
        setting("accepted", "extra", "feePayer", to={}),
        setting("resource", to="text"),
        setting("resource", to={}),
        setting("resource", to={"url": 5}),
        setting("resource", to={"url": "x", "description": 1}),
        setting("resource", to={"url": "x", "tags": [1]}),
        setting("extensions", to=[]),
        setting("payload", to=None),
    ],
)
def test_missing_or_wrongly_typed_fields_are_malformed(header: str) -> None:
    assert code_of(header) == "payment_malformed"


def test_another_scheme_or_network_is_refused() -> None:
    assert code_of(setting("accepted", "scheme", to="upto")) == "unsupported_scheme"
    assert code_of(setting("accepted", "network", to=TESTNET.full)) == "invalid_network"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"type": "pay"}, "not_an_asset_transfer"),
        ({"type": None}, "not_an_asset_transfer"),
        ({"xaid": 31_566_705}, "asset_mismatch"),
        ({"xaid": None}, "asset_mismatch"),
        ({"xaid": 31_566_704.0}, "transaction_not_canonical"),
        ({"aamt": 10_000.0}, "transaction_not_canonical"),
        ({"aamt": True}, "transaction_malformed"),
        ({"aamt": "10000"}, "transaction_malformed"),
        ({"aamt": -10_000}, "transaction_malformed"),
        ({"aamt": None}, "amount_mismatch"),
        ({"aamt": 0}, "transaction_not_canonical"),
        ({"arcv": bytes(31) + b"\x01"}, "receiver_mismatch"),
        ({"arcv": None}, "receiver_mismatch"),
        ({"gh": TESTNET.genesis_hash_bytes}, "genesis_hash_mismatch"),
        ({"gh": None}, "genesis_hash_mismatch"),
        ({"rekey": b"\x01" * 32}, "rekey_refused"),
        ({"aclose": b"\x01" * 32}, "close_to_refused"),
        ({"asnd": b"\x01" * 32}, "clawback_refused"),
        ({"snd": None}, "amount_mismatch"),
        ({"snd": b"\x01" * 31}, "transaction_malformed"),
        ({"lv": None}, "validity_window_invalid"),
        ({"lv": 4_999}, "validity_window_invalid"),
        ({"lv": 6_001}, "validity_window_invalid"),
        ({"fv": 2**62 - 1, "lv": 2**62}, "validity_window_invalid"),
        ({"fv": 2**64 - 2, "lv": 2**64 - 1}, "validity_window_invalid"),
        ({"note": "text"}, "transaction_malformed"),
        ({"note": b"n" * 1_025}, "transaction_malformed"),
        ({"zzz": 1}, "transaction_malformed"),
        ({"apid": 1}, "transaction_malformed"),
        ({"grp": {}}, "transaction_malformed"),
    ],
)
def test_a_transaction_that_pays_something_else_names_its_reason(changes: dict[str, Any], code: str) -> None:
    fields = {**BUYER.fields(), **changes}
    fields = {name: value for name, value in fields.items() if value is not None}

    assert code_of(item_header(BUYER.sign(fields))) == code


def test_what_accepted_claims_changes_nothing() -> None:
    cheap = BUYER.pay(1).changed(lambda value: value["accepted"].update(amount="10000"))

    assert read_payment(cheap.header, DEVNET, DEMO_PAYEE).amount_atomic == 1


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda item: item.pop("sig"), "transaction_not_signed"),
        (lambda item: item.update(sig=b"\x00" * 63), "signature_invalid"),
        (lambda item: item.update(sig=b"\x01" * 64), "signature_invalid"),
        (lambda item: item.update(sig="text"), "signature_invalid"),
        (lambda item: item.update(sgnr=b"\x01" * 32), "signature_invalid"),
        (lambda item: item.update(lsig={"l": b"\x01"}), "transaction_not_signed"),
        (lambda item: item.update(extra=1), "transaction_malformed"),
        (lambda item: item.pop("txn"), "transaction_malformed"),
        (lambda item: item.update(txn=[1]), "transaction_malformed"),
    ],
)
def test_a_signature_that_does_not_hold_is_refused(change: Callable[[Any], Any], code: str) -> None:
    item = msgpack.unpackb(BUYER.sign(BUYER.fields()))
    change(item)

    assert code_of(item_header(msgpack.packb(dict(sorted(item.items()))))) == code


def test_multisig_and_logic_signatures_are_left_to_the_facilitator() -> None:
    fields = BUYER.fields()
    multisig = {"msig": {"subsig": [{"pk": b"\x01" * 32}], "thr": 1, "v": 1}, "txn": dict(sorted(fields.items()))}
    logic = {"lsig": {"l": b"\x06\x81\x01"}, "txn": dict(sorted(fields.items()))}

    read = [read_payment(item_header(msgpack.packb(item)), DEVNET, DEMO_PAYEE) for item in (multisig, logic)]

    assert read[0].txid == read[1].txid


@pytest.mark.parametrize(
    "encode",
    [
        lambda item: msgpack.packb(dict(reversed(item.items()))),
        lambda item: msgpack.packb({**item, "sig": item["sig"], "zero": 0}),
        lambda item: msgpack.packb(item).replace(
            b"aamt" + msgpack.packb(PRICE), b"aamt\xcf" + PRICE.to_bytes(8, "big")
        ),
        lambda item: msgpack.packb(item, use_bin_type=False),
    ],
)
def test_an_item_that_does_not_reencode_to_its_bytes_is_refused(encode: Callable[[Any], bytes]) -> None:
    item = msgpack.unpackb(BUYER.sign(BUYER.fields()))

    assert code_of(item_header(encode(item))) in {"transaction_not_canonical", "transaction_not_msgpack"}


@pytest.mark.parametrize("identifier", ["short", "x" * 129, "white space 0123456", "0123456789abcdef\n", 7, {}])
def test_an_identifier_out_of_form_is_refused(identifier: Any) -> None:
    header = setting("extensions", to={"payment-identifier": {"info": {"id": identifier}}})

    assert code_of(header) == "invalid_payment_identifier"


def _never_an_accident(header: str) -> None:
    assert code_of(header).replace("_", "").isalnum()


@given(JSON)
def test_any_json_is_refused_with_a_reason(value: Any) -> None:
    _never_an_accident(encode_header(value))


@given(st.binary(max_size=300))
def test_any_bytes_as_the_transaction_are_refused_with_a_reason(raw: bytes) -> None:
    _never_an_accident(item_header(raw))


@given(st.data())
def test_one_flipped_bit_is_another_payment_or_none(data: st.DataObject) -> None:
    payment = BUYER.pay()
    raw = bytearray(base64.b64decode(payment.value["payload"]["paymentGroup"][1]))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))

    _never_an_accident(item_header(bytes(raw)))


@in_loop
async def test_a_wrong_amount_is_402_without_a_facilitator_call(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        answers = [await home.send(home.buyer.pay(amount)) for amount in (PRICE - 1, PRICE + 1, 2 * PRICE)]

    assert {answer.status_code for answer in answers} == {402}
    assert home.upstream.asked("/verify") == []


def test_an_sdk_signed_transaction_is_read_the_same() -> None:
    params = transaction.SuggestedParams(1_000, 1, 900, DEVNET.genesis_hash, DEVNET.genesis_id, flat_fee=True)
    txn = transaction.AssetTransferTxn(BUYER.address, params, DEMO_PAYEE, 20_000, DEVNET.asset_id, lease=b"\x07" * 32)
    signed = transaction.SignedTransaction(txn, base64.b64encode(BUYER.key.sign(txn.bytes_to_sign()).signature))

    read = read_payment(item_header(base64.b64decode(encoding.msgpack_encode(signed))), DEVNET, DEMO_PAYEE)

    assert (read.txid, read.amount_atomic) == (txn.get_txid(), 20_000)
    assert json.dumps(read.group)
