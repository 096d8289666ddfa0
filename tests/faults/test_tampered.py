"""Every place of a real payment tampered with, on the wire, and against the SDK's own reading of it."""

import asyncio
import base64
import copy
from collections.abc import Iterator
from typing import Any

import msgpack
import pytest
from algosdk import account, encoding, transaction
from hypothesis import given, settings
from hypothesis import strategies as st
from nacl.signing import SigningKey

from gateway.errors import PaymentInvalid
from gateway.payments.parse import read_payment
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import DEVNET
from tests.faults.harness import PRODUCT, FaultHarness, harness
from tests.support.gateway_wallet import Buyer, Signed, decode_header, encode_header

BUYER = Buyer()
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(1e400)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ALL_FIELDS = (
    "type snd rcv amt close axfer xaid aamt arcv aclose asnd fee fv lv gh gen grp lx note rekey apid apan apar caid "
    "votekey selkey fadd faid afrz sp hb"
)
FIELD_NAMES = st.sampled_from(ALL_FIELDS.split())
FIELD_VALUES = (
    st.integers(-1, 2**64)
    | st.sampled_from([0, 1, 10_000, DEVNET.asset_id, 10_000.0, "axfer", "pay", True, False, b"", {}, []])
    | st.binary(min_size=32, max_size=32)
    | st.binary(max_size=40)
    | st.floats()
    | st.text(max_size=6)
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything below a value."""
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, below in items:
        yield (*path, name)
        yield from places(below, (*path, name))


def tampered(value: Any, path: tuple[Any, ...], to: Any, *, remove: bool) -> Any:
    """Return a copy with one place changed or taken out."""
    changed = copy.deepcopy(value)
    at = changed
    for name in path[:-1]:
        at = at[name]
    if remove:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return changed


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def on(loop: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultHarness]:
    opened = harness(tmp_path_factory.mktemp("tampered") / "harness")
    yield loop.run(opened.__aenter__())
    loop.run(opened.__aexit__(None, None, None))


def refusal_of(header: str) -> str | None:
    try:
        read_payment(header, DEVNET, DEMO_PAYEE)
    except PaymentInvalid as error:
        return error.code
    return None


async def send(on: FaultHarness, header: str) -> Any:
    return await on.client.get(PRODUCT, headers={"PAYMENT-SIGNATURE": header})


@settings(max_examples=50)
@given(st.data())
def test_any_place_tampered_with_is_402_with_its_reason_and_no_call(
    loop: asyncio.Runner, on: FaultHarness, data: st.DataObject
) -> None:
    value = decode_header(loop.run(on.sign()).header)
    path = data.draw(st.sampled_from(list(places(value))))
    header = encode_header(tampered(value, path, data.draw(JSON), remove=data.draw(st.booleans())))
    code, calls = refusal_of(header), on.proxy.calls.copy()

    answer = loop.run(send(on, header))

    assert answer.status_code in {200, 402, 431}
    if code is not None and answer.status_code != 431:
        assert answer.status_code == 402
        assert code in answer.json()["error"]
        assert decode_header(answer.headers["PAYMENT-REQUIRED"])["x402Version"] == 2
        assert (on.proxy.calls["verify"], on.proxy.calls["settle"]) == (calls["verify"], calls["settle"])


def assert_taken_on_our_terms_or_refused(changes: dict[str, Any]) -> None:
    """Sign a payment with these fields instead; if it is taken, the SDK must read our terms in it."""
    fields = {name: value for name, value in {**BUYER.fields(), **changes}.items() if value is not None}
    try:
        item = BUYER.sign(fields)
    except (OverflowError, UnicodeEncodeError):
        return  # not even msgpack
    header = Signed("", "", BUYER.envelope(item)).header
    if refusal_of(header) is not None:
        return

    taken = read_payment(header, DEVNET, DEMO_PAYEE)

    signed = encoding.msgpack_decode(base64.b64encode(item).decode())
    txn = signed.transaction
    assert isinstance(txn, transaction.AssetTransferTxn)
    assert (txn.index, txn.receiver, txn.genesis_hash) == (DEVNET.asset_id, DEMO_PAYEE, DEVNET.genesis_hash)
    assert (txn.amount, txn.sender, txn.last_valid_round) == (taken.amount_atomic, taken.payer, taken.last_valid)
    assert (txn.rekey_to, txn.close_assets_to, txn.revocation_target) == (None, None, None)
    assert signed.get_txid() == taken.txid


def test_a_payment_with_any_one_field_changed_is_taken_on_our_terms_or_refused() -> None:
    for name in ALL_FIELDS.split():
        for value in (None, 1, 2**63, b"\1" * 32, "axfer", "pay", True):
            assert_taken_on_our_terms_or_refused({name: value})


@given(st.dictionaries(FIELD_NAMES | st.text(max_size=4), st.none() | FIELD_VALUES, min_size=1, max_size=4))
def test_whatever_a_payer_signs_what_is_taken_pays_our_terms_as_the_sdk_reads_it(changes: dict[str, Any]) -> None:
    assert_taken_on_our_terms_or_refused(changes)


def test_a_rekeyed_payer_signs_with_the_key_that_it_names() -> None:
    secret, _ = account.generate_account()
    key = SigningKey(base64.b64decode(secret)[:32])
    fields = dict(sorted(BUYER.fields().items()))
    signature = key.sign(b"TX" + msgpack.packb(fields)).signature
    item = {"sgnr": bytes(key.verify_key), "sig": signature, "txn": fields}

    taken = read_payment(Signed("", "", BUYER.envelope(msgpack.packb(item))).header, DEVNET, DEMO_PAYEE)

    assert taken.payer == BUYER.address
