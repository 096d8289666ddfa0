"""Two generators and two gateways over one PostgreSQL and one object store, and the leader dies, or is stopped.

PostgreSQL is Debian's; the S3 is moto's server. Everything is a process of its own, as on several machines.
"""

from __future__ import annotations

import json
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import TESTNET
from tests.outside.processes import devnet, emi, get_json
from tests.support.fleet import Buyer, Machine, Readers, Seen, at_work, make_key, shared
from tests.support.ports import free_port
from tests.support.servers import WHO, make_bucket, postgres, s3

pytestmark = [pytest.mark.outside, pytest.mark.timeout(400)]

MINUTE_S = 60.0


@dataclass
class World:
    """What all machines share, and who watches it."""

    folder: Path
    settings: dict[str, str]
    memory: str
    bucket: str  # its URL
    chain: str
    readers: Readers
    buyer: Buyer
    engine: sa.Engine
    machines: list[Machine] = field(default_factory=list)

    def start(self, name: str) -> Machine:
        machine = Machine(self.folder / name, self.settings, len(self.machines))
        self.machines.append(machine)
        return machine

    def standby(self, name: str) -> Machine:
        machine = self.start(name)
        machine.wait_text(" warm ")
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
        """Return whether objects of a generation are there."""
        url = f"{self.bucket}?list-type=2&max-keys=1&prefix=site/g/{generation:012d}/"
        with urllib.request.urlopen(urllib.request.Request(url, headers=WHO), timeout=10) as answer:
            return b"<Key>" in answer.read()

    def stop_within_an_upload(self, leader: Machine) -> float:
        """Stop the leader at a full minute, between its first object and its pointer; return when."""
        for _ in range(3):
            time.sleep(max(0.0, MINUTE_S - time.time() % MINUTE_S - 0.2))
            last = int(self.readers.pointers[-1].generation)
            began = time.monotonic()
            while not self.uploading(last + 1):
                assert time.monotonic() - began < 30, leader.text()
            at = leader.send(signal.SIGSTOP)
            time.sleep(0.2)
            if int(self.readers.pointers[-1].generation) == last:
                return at
            leader.send(signal.SIGCONT)
            time.sleep(1)
        raise AssertionError("the upload was always faster")


@pytest.fixture
def world(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    with ExitStack() as stack:
        database = stack.enter_context(postgres()).url
        environment = stack.enter_context(s3(tmp_path))
        make_bucket(environment, "emi")
        chain = stack.enter_context(devnet(tmp_path / "chain", "testnet"))
        key = tmp_path / "log.key"
        make_key(key)
        lease = database if request.param == "postgresql" else "s3://emi/lease"
        settings = shared(environment, "emi", database, lease, key)
        bucket = f"{environment['AWS_ENDPOINT_URL']}/emi"
        readers, buyer = Readers(f"{bucket}/site"), Buyer(chain, [])
        made = World(tmp_path, settings, database, bucket, chain, readers, buyer, sa.create_engine(database))
        try:
            first = made.start("one")
            first.wait_text("leading")
            first.wait_text("tick 000000000001")
            _make_database(database, "ledger")
            buyer.gateways = [stack.enter_context(gateway(made, f"gateway-{number}")) for number in range(2)]
            stack.enter_context(at_work(readers.follow, readers.read, buyer.buy, stop=(readers.stop, buyer.stop)))
            yield made
        finally:
            for machine in made.machines:
                machine.close()
            made.engine.dispose()


@contextmanager
def gateway(world: World, name: str) -> Iterator[str]:
    """Run `emi gateway` over the shared ledger and vault; give its origin."""
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    settings = {
        **{name: value for name, value in world.settings.items() if not name.startswith("EMI_")},
        "EMI_STATE_DIR": str(world.folder / name),
        "EMI_VAULT_URL": world.settings["EMI_VAULT_URL"],
        "EMI_LEDGER_URL": world.memory.replace("/postgres?", "/ledger?"),
        "EMI_NETWORK": "testnet",
        "EMI_PORT": str(port),
        "EMI_FACILITATOR_URL": f"{world.chain}/facilitator",
        "EMI_ALGOD_URL": f"{world.chain}/algod",
        "EMI_INDEXER_URL": f"{world.chain}/indexer",
    }
    with emi(["gateway"], settings, world.folder / name, f"{origin}/healthz"):
        yield origin


def _make_database(url: str, name: str) -> None:
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"create database {name}")
    engine.dispose()


def held_epoch(world: World) -> int:
    """Return the epoch that the lease says, wherever it is."""
    lease = world.settings["EMI_LEASE_URL"]
    if lease.startswith("s3://"):
        request = urllib.request.Request(f"{world.bucket}/lease/lease.json", headers=WHO)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return int(json.load(answer)["epoch"])
    with world.engine.connect() as connection:
        return int(connection.execute(sa.text("select epoch from emi_lease")).scalar() or 0)


def taken_over(world: World, died_s: float, last: Seen, what: str) -> None:
    """Wait for the next leader's epoch and its first release; print how long each took, which the machine decides."""
    epoch = last.epoch

    def released() -> bool:
        now = world.readers.pointers[-1]
        return now.epoch > epoch and now.generation > last.generation

    held_s = world.wait(lambda: held_epoch(world) > epoch, 60, "a new epoch") - died_s
    shown_s = world.wait(released, 90, "a release under it") - died_s
    print(f"{what}: new epoch held after {held_s:.2f} s, its first release seen after {shown_s:.2f} s")


@pytest.mark.parametrize("world", ["postgresql", "s3"], indirect=True)
def test_a_leader_that_dies_or_is_stopped_is_replaced_and_nobody_notices(world: World) -> None:
    one, two = world.machines[0], world.standby("two")

    last = world.readers.pointers[-1]
    taken_over(world, one.send(signal.SIGKILL), last, "kill -9")

    three = world.standby("three")
    stopped_s, last = world.stop_within_an_upload(two), world.readers.pointers[-1]
    taken_over(world, stopped_s, last, "SIGSTOP within an upload")
    release = world.readers.pointers[-1]
    two.send(signal.SIGCONT)
    two.wait_text("standing by", 30)
    time.sleep(3)

    assert world.readers.pointers[-1].epoch == release.epoch
    assert "tick failed" not in three.text()
    check_generations(world)
    check_payments(world)


def check_generations(world: World) -> None:
    """No number stands for two ticks, epochs and numbers only rise, and no reader saw a mixed set."""
    seen = world.readers.pointers
    print(
        f"{len(seen)} releases seen, {world.readers.reads} sets of files read, moto broke {world.readers.hiccups} times"
    )

    assert world.readers.faults == []
    assert world.readers.reads > 100
    ticks = {one.tick_id for one in seen}  # a new leader first signs the last release with its epoch
    assert len({(one.generation, one.tick_id) for one in seen}) == len({one.generation for one in seen}) == len(ticks)
    assert [one.generation for one in seen] == sorted(one.generation for one in seen)
    assert [one.epoch for one in seen] == sorted(one.epoch for one in seen)
    assert len({one.epoch for one in seen}) >= 3
    with world.engine.connect() as connection:
        rows = connection.execute(sa.text("select generation from ticks where ok")).scalars().all()
    assert len(rows) == len(set(rows))


def check_payments(world: World) -> None:
    """Every payment that was signed was settled once, and delivered by both gateways."""
    buyer = world.buyer
    buyer.stop.set()
    time.sleep(2)
    late = {txid: buyer.present(payment) for txid, payment in buyer.payments.items()}
    paid = get_json(f"{world.chain}/algod/v2/accounts/{DEMO_PAYEE}/assets/{TESTNET.asset_id}")
    print(f"{len(buyer.payments)} payments, each sent to two gateways")

    assert buyer.faults == []
    assert len(buyer.payments) > 20
    assert {status for statuses in late.values() for status in statuses} == {200}
    assert int(paid["asset-holding"]["amount"]) == 10_000 * len(buyer.payments)
