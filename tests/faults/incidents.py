"""What happens to the machine of a gateway, and what payers and the operator see of it."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from prometheus_client import generate_latest

from gateway.devnet.wallet import SignedPayment
from gateway.ledger.store import Ledger
from gateway.ledger.thread import WAIT_S
from gateway.payments.adoption import adopt
from generator.cli.doctor import examine
from tests.cli.test_doctor import answering
from tests.faults.behaviours import SERVER_ERROR, after, reset
from tests.faults.harness import PRODUCT, FaultHarness, harness
from tests.ledger.test_damaged_ledger import REFUSE, corrupt_from_now, on_disk
from tests.ledger.test_ledger_hangs import Hang
from tests.support.gateway_app import until
from tests.support.gateway_wallet import decode_header, encode_header

DAY_S, HOUR_S = 86_400, 3_600
LOOKS, LOOK_S = 7, 10
AT_ONCE = 4
FILES = ("payments.sqlite3", "payments.sqlite3-wal", "payments.sqlite3-shm")
DEAD = dict.fromkeys(("supported", "verify", "settle"), reset)


@dataclass
class Scene:
    """A gateway, a payment that was settled before the incident, and one that was signed before it."""

    on: FaultHarness
    paid: SignedPayment
    new: SignedPayment
    meant: int = 2  # transfers that someone wanted to make


Change = Callable[[Scene], Awaitable[None]]
Lasting = Callable[[Scene], contextlib.AbstractAsyncContextManager[None]]


@dataclass(frozen=True)
class Incident:
    """One thing that goes wrong.

    Args:
        name: as the table shows it.
        lasts: a context: entered, it begins; left, it is over.
        paid: statuses that the payer of before sees: at once and after a minute | when it is over.
        new: the same of the payment that was signed before and is first presented now.
        names: what /readyz and the doctor say after a minute, a part of a sentence; empty where sales continue as ever.
    """

    name: str
    lasts: Lasting
    paid: str = "200 200 | 200"
    new: str = "503 503 | 200"
    names: str = ""


@dataclass
class Report:
    """What one incident did; the counts must be 0."""

    incident: Incident
    transfers: int = 0
    paid: str = ""
    new: str = ""
    names: list[str] = field(default_factory=list)
    doubles: int = 0
    unpaid: int = 0
    undelivered: int = 0
    challenges: int = 0
    unnamed: int = 0

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """Double transfers, unpaid deliveries, paid and not delivered, challenges after money moved, unnamed faults."""
        return self.doubles, self.unpaid, self.undelivered, self.challenges, self.unnamed

    @property
    def as_foreseen(self) -> bool:
        """Whether both payers saw what they should, and nothing happened that must not."""
        seen = (self.paid, self.new, self.counts)
        return seen == (self.incident.paid, self.incident.new, (0,) * 5)


async def a_minute(on: FaultHarness) -> None:
    """Let a bit more than a minute pass, with everything that the gateway does by itself meanwhile."""
    for look in range(LOOKS + 1):
        on.clock.step(LOOK_S if look else 0)
        await on.state.refresh()
        await on.state.ledger.run_maintenance()
        with contextlib.suppress(Exception):  # the loop of the gateway logs it and continues
            await on.state.reconciler.step()
    on.state.readiness.measure()


async def alarms(on: FaultHarness) -> list[str]:
    """Return what the doctor says of the gateway, which reads /readyz and the metrics."""
    ready = await on.client.get("/readyz")
    metrics = generate_latest(on.state.metrics.registry).decode()
    assert on.state.metrics.registry.get_sample_value("emi_ready") == (ready.status_code == 200)
    with answering(readyz=(ready.status_code, ready.text), metrics=(200, metrics)) as origin:
        checks = await asyncio.to_thread(examine, origin, (), f"{origin}/metrics")
    return [check.found for check in checks if check.good is False and check.what.startswith(("/readyz", "emi_"))]


async def play(incident: Incident, folder: Path) -> Report:
    """Play one incident and count."""
    async with harness(folder) as on:
        scene = Scene(on, await on.sign(), await on.sign())
        answers: dict[str, list[httpx2.Response]] = {"paid": [await on.present(scene.paid)], "new": []}
        report = Report(incident)
        async with incident.lasts(scene):
            await _present(scene, answers)
            await a_minute(on)
            report.names = await alarms(on)
            await _present(scene, answers)
        await on.pass_time(LOOK_S)
        await _present(scene, answers)
        _count(scene, answers, report)
        return report


async def _present(scene: Scene, answers: dict[str, list[httpx2.Response]]) -> None:
    for name, payment in (("paid", scene.paid), ("new", scene.new)):
        answers[name].append(await scene.on.present(payment))


def _count(scene: Scene, answers: dict[str, list[httpx2.Response]], report: Report) -> None:
    report.transfers = scene.on.transfers()
    report.paid, report.new = (_shown(answers[name][-3:]) for name in ("paid", "new"))
    report.doubles = max(report.transfers - scene.meant, 0)
    report.unnamed = int(bool(report.incident.names) and not any(report.incident.names in one for one in report.names))
    for payment, seen in ((scene.paid, answers["paid"]), (scene.new, answers["new"])):
        landed, delivered = scene.on.landed(payment), [answer for answer in seen if answer.status_code == 200]
        report.unpaid += bool(delivered) and not landed
        report.undelivered += landed and seen[-1].status_code != 200
        report.challenges += landed and any("PAYMENT-REQUIRED" in answer.headers for answer in seen)
        assert len({answer.content for answer in delivered}) <= 1


def _shown(seen: Sequence[httpx2.Response]) -> str:
    first, second, last = (answer.status_code for answer in seen)
    return f"{first} {second} | {last}"


@asynccontextmanager
async def facilitator_dead(scene: Scene) -> AsyncIterator[None]:
    scene.on.proxy.fault(DEAD)
    yield
    scene.on.proxy.fault({})


@asynccontextmanager
async def verify_dead(scene: Scene) -> AsyncIterator[None]:
    scene.on.proxy.fault({"verify": SERVER_ERROR})
    yield
    scene.on.proxy.fault({})


@asynccontextmanager
async def ledger_full(scene: Scene) -> AsyncIterator[None]:
    connection = scene.on.state.ledger.ledger._writer
    connection.exec_driver_sql("PRAGMA query_only = 1")
    connection.rollback()
    yield
    connection.exec_driver_sql("PRAGMA query_only = 0")
    connection.rollback()
    await scene.on.state.ledger.run_maintenance()


@asynccontextmanager
async def payments_take_no_row(scene: Scene) -> AsyncIterator[None]:
    """Let only the table of payments refuse, though every other takes what it is given."""
    on_disk(scene.on.folder, REFUSE)
    yield
    on_disk(scene.on.folder, "drop trigger refuse")
    await scene.on.state.ledger.run_maintenance()


@asynccontextmanager
async def ledger_damaged(scene: Scene) -> AsyncIterator[None]:
    """Meet one corrupt page; the operator restarts once the disk is well."""
    with corrupt_from_now(scene.on.state.ledger.ledger, "INSERT INTO payments"):
        await scene.on.present(scene.new)
    yield
    await scene.on.restart()


@asynccontextmanager
async def ledger_hangs(scene: Scene) -> AsyncIterator[None]:
    ledger = scene.on.state.ledger
    ledger.set_timeout(0.05)
    hang = Hang(ledger.ledger)
    yield
    hang.end()
    ledger.set_timeout(WAIT_S)
    await until(lambda: not ledger._writes._stalled and not ledger._reads._stalled)


@asynccontextmanager
async def ledger_lost(scene: Scene) -> AsyncIterator[None]:
    """Lose every file; afterwards the operator adopts what was paid."""
    for name in FILES:
        (scene.on.folder / name).unlink()
    await scene.on.state.ledger.run_maintenance()
    yield
    await scene.on.restart()
    await _adopt(scene, scene.paid.txid)


@asynccontextmanager
async def started_without_the_ledger(scene: Scene) -> AsyncIterator[None]:
    """Lose every file and start again, as after a restore that forgot them; the payer writes, the operator adopts."""
    await scene.on.running.stop()
    for name in FILES:
        (scene.on.folder / name).unlink(missing_ok=True)
    await scene.on.running.start()
    yield
    await _adopt(scene, scene.paid.txid)


@asynccontextmanager
async def ledger_of_yesterday(scene: Scene) -> AsyncIterator[None]:
    """Restore a copy that was made before the payment; the payer writes, the operator adopts."""
    await scene.on.running.stop()
    for name in FILES:
        (scene.on.folder / name).unlink(missing_ok=True)
    await asyncio.to_thread(Ledger(scene.on.folder / FILES[0]).close)
    await scene.on.running.start()
    yield
    await _adopt(scene, scene.paid.txid)


async def _adopt(scene: Scene, txid: str) -> None:
    http = scene.on.state.facilitator._http
    await adopt(scene.on.state.settings, http, txid, "x402-market-regime", scene.on.clock)


@asynccontextmanager
async def ledger_replaced(scene: Scene) -> AsyncIterator[None]:
    """Move an older backup over the open file; afterwards the newer one is put back."""
    folder = scene.on.folder
    await asyncio.to_thread(Ledger(folder / "backup").close)
    shutil.copy(folder / FILES[0], folder / "newest")
    shutil.copy(folder / FILES[1], folder / "newest-wal")
    (folder / "backup").replace(folder / FILES[0])
    await scene.on.state.ledger.run_maintenance()
    yield
    await scene.on.running.stop()
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    (folder / "newest").replace(folder / FILES[0])
    (folder / "newest-wal").replace(folder / FILES[1])
    await scene.on.running.start()


@asynccontextmanager
async def started_days_ahead(scene: Scene) -> AsyncIterator[None]:
    """Start the gateway while the clock of its machine is three days ahead, then set it right and start again."""
    scene.on.clock.set_wall(3 * DAY_S)
    await scene.on.restart()
    yield
    scene.on.clock.set_wall(-3 * DAY_S)
    await scene.on.restart()


@asynccontextmanager
async def set_back_with_an_unknown_payment(scene: Scene) -> AsyncIterator[None]:
    """Lose an answer while the clock is six hours ahead; the node hangs until long after it was set right."""
    on = scene.on
    on.clock.set_wall(6 * HOUR_S)
    await on.publish()
    on.proxy.fault({"settle": after(SERVER_ERROR), "algod": SERVER_ERROR, "indexer": SERVER_ERROR})
    await on.present(scene.new)
    on.clock.set_wall(-6 * HOUR_S)
    await on.publish()
    yield
    on.proxy.fault({})
    await a_minute(on)
    record = on.state.ledger.ledger.find(scene.new.txid)
    assert record is not None
    assert record.state == "settled"


@asynccontextmanager
async def vault_from_the_future(scene: Scene) -> AsyncIterator[None]:
    """Publish with a clock six hours ahead; afterwards the generator publishes with the right one."""
    scene.on.clock.set_wall(6 * HOUR_S)
    await scene.on.publish()
    scene.on.clock.set_wall(-6 * HOUR_S)
    yield


@asynccontextmanager
async def generator_dead(scene: Scene) -> AsyncIterator[None]:
    scene.on.clock.step(1_000)
    await scene.on.state.refresh()
    yield


@asynccontextmanager
async def stranger(scene: Scene) -> AsyncIterator[None]:
    """Somebody rebuilds the settled payment from the chain, which shows everything but its identifier."""
    value = decode_header(scene.paid.header)
    value.pop("extensions")
    answer = await scene.on.client.get(PRODUCT, headers={"PAYMENT-SIGNATURE": encode_header(value)})
    assert (answer.status_code, "PAYMENT-REQUIRED" in answer.headers) == (409, False)
    yield


@asynccontextmanager
async def header_doubled(scene: Scene) -> AsyncIterator[None]:
    """Send a header twice, and then a new one together with that of a payment that was made before."""
    for headers, status in (([scene.paid, scene.paid], 200), ([scene.new, scene.paid], 409)):
        both = [("PAYMENT-SIGNATURE", payment.header) for payment in headers]
        answer = await scene.on.client.get(PRODUCT, headers=both)
        assert (answer.status_code, "PAYMENT-REQUIRED" in answer.headers) == (status, False)
    yield


@asynccontextmanager
async def group_that_pays_twice(scene: Scene) -> AsyncIterator[None]:
    """Present both payments of one atomic group: refused before verify; once someone sent it all the same, 409."""
    on, asked = scene.on, scene.on.proxy.calls["verify"]
    pair, group = on.sign_pair()
    refused = [await on.client.get(PRODUCT, headers={"PAYMENT-SIGNATURE": header}) for header in pair.values()]
    assert ([answer.status_code for answer in refused], on.proxy.calls["verify"]) == ([402, 402], asked)
    await on.proxy.send(group)
    scene.meant += len(pair)
    landed = [await on.client.get(PRODUCT, headers={"PAYMENT-SIGNATURE": header}) for header in pair.values()]
    assert [(answer.status_code, "PAYMENT-REQUIRED" in answer.headers) for answer in landed] == [(409, False)] * 2
    yield
    for txid, header in pair.items():
        await _adopt(scene, txid)
        answer = await on.client.get(PRODUCT, headers={"PAYMENT-SIGNATURE": header})
        assert answer.status_code == 200


INCIDENTS = (
    Incident("the facilitator is dead", facilitator_dead, names="no good answer to /supported for over 60 s"),
    Incident("the facilitator's verify is dead", verify_dead, names="verify or settle last worked"),
    Incident("the ledger takes no row (disk full)", ledger_full, names="has taken no write for over 60 s"),
    Incident("the ledger's table of payments takes no row", payments_take_no_row, names="could not be written into"),
    Incident("a page of the ledger is corrupt; mended and restarted", ledger_damaged, names="ledger is damaged"),
    Incident("the ledger hangs (database hung)", ledger_hangs, names="has taken no write for over 60 s"),
    Incident("the ledger is removed; adopted afterwards", ledger_lost, names="was removed or replaced"),
    Incident("the ledger is replaced; put back afterwards", ledger_replaced, names="was removed or replaced"),
    Incident(
        "started without the ledger; adopted afterwards", started_without_the_ledger, "409 409 | 200", "200 200 | 200"
    ),
    Incident("restored from yesterday; adopted afterwards", ledger_of_yesterday, "409 409 | 200", "200 200 | 200"),
    Incident("started once with the clock three days ahead", started_days_ahead, names="too old"),
    Incident(
        "clock set back six hours, a payment unknown, node down",
        set_back_with_an_unknown_payment,
        names="algod or the indexer last answered",
    ),
    Incident("the vault is from the future", vault_from_the_future, new="200 200 | 200", names="from the future"),
    Incident("the generator is dead", generator_dead, names="too old"),
    Incident("a stranger presents the payment of another", stranger, new="200 200 | 200"),
    Incident("a proxy doubles the payment header", header_doubled, new="200 200 | 200"),
    Incident("a group pays twice, and lands; adopted afterwards", group_that_pays_twice, new="200 200 | 200"),
)


async def play_incidents(folder: Path) -> list[Report]:
    """Play every incident, some at once, each on a ledger of its own."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(number: int, incident: Incident) -> Report:
        async with slots:
            return await play(incident, folder / str(number))

    return list(await asyncio.gather(*(one(number, incident) for number, incident in enumerate(INCIDENTS))))


def show_incidents(reports: Sequence[Report]) -> str:
    """Return the table."""
    width = max(len(report.incident.name) for report in reports)
    lines = [
        f"{'incident':<{width}}  {'paid before':<13}  {'signed before':<13}  named within a minute by /readyz or doctor"
    ]
    lines += [
        f"{report.incident.name:<{width}}  {report.paid:<13}  {report.new:<13}  {'; '.join(report.names) or '-'}"
        for report in reports
    ]
    return "\n".join(lines)


def summary_of(reports: Sequence[Report]) -> str:
    """Return what must never be, counted over all incidents."""
    totals = [sum(report.counts[place] for report in reports) for place in range(5)]
    words = (
        "double transfers",
        "unpaid deliveries",
        "paid and not delivered",
        "challenges after money moved",
        "unnamed",
    )
    return ", ".join(f"{total} {word}" for total, word in zip(totals, words, strict=True))
