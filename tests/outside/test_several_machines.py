"""Two generators and two gateways over one PostgreSQL and one object store, and the leader dies, or is stopped.

PostgreSQL is Debian's; the S3 is moto's server. Everything is a process of its own, as on several machines.
"""

import json
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import TESTNET
from tests.outside.processes import devnet, gateway, get_json
from tests.support.fleet import Buyer, Readers, Seen, at_work, shared
from tests.support.processes import Running, emi, running
from tests.support.servers import WHO, make_bucket, make_database, postgres, s3
from tests.support.vaults import PRICES

pytestmark = [pytest.mark.outside, pytest.mark.timeout(400)]

MINUTE_S = 60.0


@dataclass
class Fleet:
    """What all machines share, and who watches it."""

    folder: Path
    settings: dict[str, str]
    memory: str
    bucket: str  # its URL
    chain: str
    readers: Readers
    buyer: Buyer
    engine: sa.Engine
    stack: ExitStack
    machines: list[Running] = field(default_factory=list)

    def start(self, name: str) -> Running:
        folder = self.folder / name
        places = {"PYTHONUNBUFFERED": "1", "EMI_STATE_DIR": str(folder / "state")}
        self.machines.append(self.stack.enter_context(running(folder, ["schedule"], "", **places, **self.settings)))
        return self.machines[-1]

    def standby(self, name: str) -> Running:
        machine = self.start(name)
        machine.wait_text("standby ready", 120)
        return machine

    def wait(self, done: Callable[[], bool], within_s: float, what: str) -> float:
        """Wait for something; return when it was so."""
        until = time.monotonic() + within_s
        while not done():
            logs = "\n".join(f"--- {machine.log}\n{machine.text()}" for machine in self.machines)
            assert time.monotonic() < until, f"{what} within {within_s} s\n{self.readers.pointers}\n{logs}"
            time.sleep(0.01)
        return time.monotonic()

    def uploading(self, generation: int) -> bool:
        """Return whether a generation is for sale: its site is published right after that."""
        url = f"{self.bucket}/vault/manifest.json"
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=WHO), timeout=10) as answer:
                return int(json.load(answer)["generation"]) >= generation
        except urllib.error.HTTPError as error:  # moto's own race, while the manifest is being replaced
            error.close()
            return False

    def stop_within_an_upload(self, leader: Running) -> float:
        """Stop the leader at a full minute, between its vault and the pointer of its site; return when."""
        for _ in range(3):
            time.sleep(max(0.0, MINUTE_S - time.time() % MINUTE_S - 0.2))
            last = int(self.readers.pointers[-1].generation)
            began = time.monotonic()
            while not self.uploading(last + 1):
                assert time.monotonic() - began < 30, leader.text()
            at = send(leader, signal.SIGSTOP)
            time.sleep(0.2)
            if int(self.readers.pointers[-1].generation) == last:
                return at
            send(leader, signal.SIGCONT)
            time.sleep(1)
        raise AssertionError("the upload was always faster")


def send(machine: Running, number: signal.Signals) -> float:
    """Send a signal; return when, by the monotonic clock."""
    machine.process.send_signal(number)
    return time.monotonic()


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    with ExitStack() as stack:
        database = stack.enter_context(postgres()).url
        environment, _ = stack.enter_context(s3(tmp_path))
        make_bucket(environment, "emi")
        chain = stack.enter_context(devnet(tmp_path / "chain", "testnet"))
        key = tmp_path / "log.key"
        assert emi("key", "log", "--make", cwd=tmp_path, EMI_LOG_KEY_FILE=str(key)).returncode == 0
        settings = shared(environment, "emi", database, key)
        bucket = f"{environment['AWS_ENDPOINT_URL']}/emi"
        readers, buyer = Readers(f"{bucket}/site"), Buyer(chain, [])
        made = Fleet(tmp_path, settings, database, bucket, chain, readers, buyer, sa.create_engine(database), stack)
        try:
            first = made.start("one")
            first.wait_text("leading", 120)
            first.wait_text("tick 000000000001")
            own = {"EMI_VAULT_URL": settings["EMI_VAULT_URL"], "EMI_LEDGER_URL": make_database(database, "ledger")}
            buyer.gateways = [
                stack.enter_context(gateway(tmp_path / f"gateway-{number}", "testnet", chain, **environment, **own))
                for number in range(2)
            ]
            stack.enter_context(at_work(readers.follow, readers.read, buyer.buy, stop=(readers.stop, buyer.stop)))
            yield made
        finally:
            made.engine.dispose()


def held_epoch(fleet: Fleet) -> int:
    """Return the epoch of the lease."""
    with fleet.engine.connect() as connection:
        return int(connection.execute(sa.text("select epoch from emi_lease")).scalar() or 0)


def taken_over(fleet: Fleet, died_s: float, last: Seen, what: str) -> None:
    """Wait for the next leader's epoch and its first release; print how long each took, which the machine decides."""
    epoch = last.epoch

    def released() -> bool:
        now = fleet.readers.pointers[-1]
        return now.epoch > epoch and now.generation > last.generation

    held_s = fleet.wait(lambda: held_epoch(fleet) > epoch, 60, "a new epoch") - died_s
    shown_s = fleet.wait(released, 90, "a release under it") - died_s
    print(f"{what}: new epoch held after {held_s:.2f} s, its first release seen after {shown_s:.2f} s")


def test_a_leader_that_dies_or_is_suspended_is_replaced_unnoticed(fleet: Fleet) -> None:
    one, two = fleet.machines[0], fleet.standby("two")

    last = fleet.readers.pointers[-1]
    taken_over(fleet, send(one, signal.SIGKILL), last, "kill -9")

    three = fleet.standby("three")
    stopped_s, last = fleet.stop_within_an_upload(two), fleet.readers.pointers[-1]
    taken_over(fleet, stopped_s, last, "SIGSTOP within an upload")
    release = fleet.readers.pointers[-1]
    send(two, signal.SIGCONT)
    two.wait_text("standing by", 30)
    time.sleep(3)

    assert fleet.readers.pointers[-1].epoch == release.epoch
    assert "tick failed" not in three.text()
    check_generations(fleet)
    check_payments(fleet)


def check_generations(fleet: Fleet) -> None:
    """No number stands for two ticks, epochs and numbers only rise, and no reader saw a mixed set."""
    seen = fleet.readers.pointers
    print(
        f"{len(seen)} releases seen, {fleet.readers.reads} sets of files read, moto broke {fleet.readers.hiccups} times"
    )

    assert fleet.readers.faults == []
    assert fleet.readers.reads > 100
    ticks = {one.tick_id for one in seen}  # a new leader first signs the last release with its epoch
    assert len({(one.generation, one.tick_id) for one in seen}) == len({one.generation for one in seen}) == len(ticks)
    assert [one.generation for one in seen] == sorted(one.generation for one in seen)
    assert [one.epoch for one in seen] == sorted(one.epoch for one in seen)
    assert len({one.epoch for one in seen}) >= 3
    with fleet.engine.connect() as connection:
        rows = connection.execute(sa.text("select generation from ticks where ok")).scalars().all()
    assert len(rows) == len(set(rows))


def check_payments(fleet: Fleet) -> None:
    """Every payment that was signed was settled once, and delivered by both gateways."""
    buyer = fleet.buyer
    buyer.stop.set()
    time.sleep(2)
    late = {txid: buyer.present(payment) for txid, payment in buyer.payments.items()}
    paid = get_json(f"{fleet.chain}/algod/v2/accounts/{DEMO_PAYEE}/assets/{TESTNET.asset_id}")
    print(f"{len(buyer.payments)} payments, each sent to two gateways")

    assert buyer.faults == []
    assert len(buyer.payments) > 20
    assert {status for statuses in late.values() for status in statuses} == {200}
    assert int(paid["asset-holding"]["amount"]) == PRICES["x402-market-regime"] * len(buyer.payments)
