"""Several machines in miniature: generators and gateways over one PostgreSQL and one object store, readers, buyers."""

import contextlib
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateway.devnet.keys import Key, new_key
from gateway.devnet.wallet import SignedPayment, pay
from gateway.wire.networks import TESTNET
from tests.outside.processes import get_json
from tests.support.processes import get
from tests.support.servers import WHO
from tests.support.vaults import PRICES

MIXED_FROM = ("/status.json", "/api/main-brain.php", "/api/statistics.php", "/arena/get_shared_intelligence.php")
PRODUCT = "/api/x402-market-regime.php"


@dataclass(frozen=True)
class Seen:
    """A pointer as a reader saw it for the first time."""

    at_s: float
    generation: str
    epoch: int
    tick_id: str


@dataclass
class Readers:
    """Who follows the pointer all the time, and checks that one generation's files are of one tick."""

    site: str
    pointers: list[Seen] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    reads: int = 0
    hiccups: int = 0
    stop: threading.Event = field(default_factory=threading.Event)

    def follow(self) -> None:
        """Look at the pointer every 20 ms and note every change of it."""
        while not self.stop.wait(0.02):
            pointer = self.pointer()
            if pointer is None:
                continue
            last = self.pointers[-1] if self.pointers else None
            mark = (str(pointer["generation"]), int(pointer["epoch"]), str(pointer["tick_id"]))
            if last is None or mark != (last.generation, last.epoch, last.tick_id):
                self.pointers.append(Seen(time.monotonic(), *mark))

    def read(self) -> None:
        """Read a set of files through the pointer, and again."""
        while not self.stop.wait(0.05):
            pointer = self.pointer()
            if pointer is None:
                continue
            number = str(pointer["generation"])
            manifest = self._json(f"/o/{pointer['manifest']}") or {"files": {}}
            for path in MIXED_FROM:
                digest = manifest["files"].get(path, {"forms": {"identity": "missing"}})["forms"]["identity"]
                body = self._json(f"/o/{digest}")
                stated = body and (body.get("freshness") or body)
                if not stated or (stated["generation"], stated["tick_id"]) != (number, pointer["tick_id"]):
                    self.faults.append(f"{number}{path}: {stated and (stated['generation'], stated['tick_id'])}")
            self.reads += 1

    def pointer(self) -> dict[str, Any] | None:
        """Return the pointer, None before the first release."""
        found = self._json("/current.json")
        return found if found and found["generation"] != "000000000000" else None

    def _json(self, path: str) -> dict[str, Any] | None:
        """Get one object; moto's own race (a 500 for what is just being replaced) is counted and asked again."""
        request = urllib.request.Request(self.site + path, headers=WHO)
        for _ in range(3):
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return dict(json.load(answer))
            except urllib.error.HTTPError as error:
                error.close()
                if error.code == 500:
                    self.hiccups += 1
                    continue
                if error.code != 404 or path != "/current.json":
                    self.faults.append(f"{path}: {error.code}")
                return None
        self.faults.append(f"{path}: 500 three times")
        return None


@dataclass
class Buyer:
    """Who signs a payment a second, and sends each to every gateway at the same moment."""

    chain: str
    gateways: Sequence[str]
    answers: dict[str, list[int]] = field(default_factory=dict)
    payments: dict[str, SignedPayment] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    key: Key = field(default_factory=new_key)
    stop: threading.Event = field(default_factory=threading.Event)

    def buy(self) -> None:
        """Buy until stopped."""
        get_json(f"{self.chain}/wallet/fund?address={self.key.address}")
        while not self.stop.wait(1):
            try:
                payment = self._sign(self.gateways[len(self.payments) % len(self.gateways)])
            except (OSError, AssertionError) as error:
                self.faults.append(f"no quote: {error}")
                continue
            self.payments[payment.txid] = payment
            self.answers[payment.txid] = self.present(payment)

    def present(self, payment: SignedPayment) -> list[int]:
        """Send one payment to all gateways at once; return their statuses."""
        with ThreadPoolExecutor(len(self.gateways)) as pool:
            header = {"PAYMENT-SIGNATURE": payment.header}
            return list(pool.map(lambda origin: get(origin + PRODUCT, header)[0], self.gateways))

    def _sign(self, origin: str) -> SignedPayment:
        status, headers, _ = get(origin + PRODUCT)
        assert status == 402, status
        last = get_json(f"{self.chain}/algod/v2/status")["last-round"]
        most = PRICES["x402-market-regime"]
        return pay(headers["payment-required"], self.key, TESTNET, int(last), max_amount_atomic=most)


@contextlib.contextmanager
def at_work(*work: Callable[[], None], stop: Sequence[threading.Event]) -> Iterator[None]:
    """Run threads for the length of the block."""
    threads = [threading.Thread(target=one, daemon=True) for one in work]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for event in stop:
            event.set()
        for thread in threads:
            thread.join(60)


def shared(environment: dict[str, str], bucket: str, database: str, key: Path) -> dict[str, str]:
    """Return the settings that every generator has in common."""
    return {
        **environment,
        "EMI_SOURCE": "simulated",
        "EMI_NETWORK": "testnet",
        "EMI_SITE_URL": f"s3://{bucket}/site",
        "EMI_VAULT_URL": f"s3://{bucket}/vault",
        "EMI_MEMORY_URL": database,
        "EMI_LEASE_URL": database,
        "EMI_LOG_KEY_FILE": str(key),
    }
