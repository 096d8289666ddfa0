"""A payment whose outcome is not known yet, as the ledger keeps it."""

from typing import Final

from gateway.ledger.record import KEEP_ROUNDS, Record
from tests.support.vaults import PRICES, START

INTENT: Final = Record(
    txid="A" * 52,
    state="intent",
    product="x402-atlas",
    path="/api/x402-atlas.php",
    cache_control="no-store",
    snapshot_id="000000000001",
    sha256="0" * 64,
    content=b"{}",
    price_atomic=PRICES["x402-atlas"],
    payer="P" * 58,
    network="algorand:x",
    identifier=None,
    last_valid=1_100,
    intent_round=1_000,
    watched_round=1_000,
    owner="me",
    created_at=START.timestamp(),
    keep_round=1_100 + KEEP_ROUNDS,
)
