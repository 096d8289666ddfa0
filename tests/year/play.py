"""Play one year: the plan hour by hour, with faults or without, and a journal of what was missed and bought."""

import base64
import hashlib
import json
import random
import resource
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from gateway.devnet.keys import Key, new_key
from gateway.devnet.wallet import SignedPayment, pay
from gateway.ledger.tables import REVISION
from gateway.wire.networks import DEVNET
from generator.arena.timetable import Slot, asset_of, round_id_of
from generator.catalog.durations import HOUR_MS
from generator.catalog.products import PRODUCTS
from generator.operate.keep.backup import Meant, make_backup
from generator.operate.keep.databases import Database
from generator.operate.keep.keys import make_identity
from generator.operate.keep.manifest import Schemas
from generator.operate.keep.places import Places
from generator.operate.keep.restore import Restore, fetch, newest
from generator.operate.keep.targets import FolderTarget
from generator.record.memory.tables import SCHEMA_VERSION
from generator.settings import GeneratorSettings
from tests.inbox.many_ballots import ballot
from tests.journeys.test_upgrade import AFTER, VERSION, settings_of
from tests.support.states.packed import unpacked
from tests.year.befall import befall
from tests.year.clock import YearClock
from tests.year.gateway import Answer, Request, gateway
from tests.year.generator import Started, Tick, generator
from tests.year.journal import Bought, Gap, Journal
from tests.year.outside import FAULTS, outside_of
from tests.year.plan import RESTORED, UPGRADED, Plan, Purchase
from tests.year.process import Child, DiedError, RefusedError
from tests.year.published import digest_of_log, log_size

BEGIN: Final = AFTER  # a minute after the old state was left
HOUR: Final = timedelta(hours=1)
RESTART_S: Final = 15.0  # until a supervisor has started a process again
ASK_AGAIN_S: Final = 20.0
MOST_ASKED: Final = 12
MOST_QUOTES: Final = 5
FAULT_OVER: Final = 3  # requests after which the outside works again
ASKED_AGAIN_H: Final = 12  # a body is kept for a day
BACKUP_H: Final = 2  # before the machine is lost
NOTHING_SOLD: Final = (404, 410, 503)


@dataclass
class Machine:
    """The processes and folders of one year."""

    folder: Path
    settings: GeneratorSettings
    clock: YearClock
    seed: int
    killed: Counter[str]
    generator: Child | None = None
    gateway: Child | None = None

    @property
    def state(self) -> Path:
        return self.settings.state_dir

    @property
    def chain(self) -> Path:
        """Folder of the outside, apart from the machine."""
        return self.folder / "outside"

    @property
    def places(self) -> Places:
        return Places(
            memory=Database.at(self.state / "memory.sqlite3"),
            ledger=Database.at(self.state / "payments.sqlite3"),
            inbox=self.state / "inbox",
            site=self.state / "site",
            exports=self.state,
            keys={"log.key": self.state / "keys" / "log.key", "receipt.key": self.state / "keys" / "receipt.key"},
        )

    def open_outside(self) -> None:
        """Start the outside, on the chain that the old state knows."""
        self.chain.mkdir()
        shutil.copy(self.state / "devnet.sqlite3", self.chain)
        shutil.copytree(self.state / "keys", self.chain / "keys")
        self.outside = Child(outside_of(self.chain, self.clock))
        self.url: str = self.outside.answer()

    def start_generator(self, kill_s: float | None = None) -> Started:
        """Start it; it ticks at once. DiedError: it was killed meanwhile."""
        self.generator = Child(generator(self.settings, self.clock, self.seed, kill_s))
        started: Started = self.generator.answer()
        return started

    def start_gateway(self, kill_s: float | None = None) -> None:
        """Start it. DiedError: it was killed meanwhile."""
        self.gateway = Child(gateway(self.state, self.url, self.clock, kill_s))
        self.gateway.answer()

    def kill(self, *children: Child | None) -> None:
        """End them as a power cut would."""
        for child in children:
            if child is not None:
                self.killed["generator" if child is self.generator else "gateway"] += 1
                child.kill()

    def close(self) -> None:
        """End everything."""
        for child in (self.generator, self.gateway, self.outside):
            if child is not None:
                child.kill()


class Year:
    """One year on one machine.

    Args:
        folder: empty.
        plan: what happens.
        disturbed: whether its faults do.
    """

    def __init__(self, folder: Path, plan: Plan, *, disturbed: bool) -> None:
        self.plan = plan
        self.disturbed = disturbed
        self.journal = Journal(plan.seed, plan.hours)
        self.clock = YearClock(BEGIN)
        state = unpacked(VERSION, folder)
        self.journal.begun_size = log_size(state / "site")
        self.journal.begun_digest = digest_of_log(state / "site", self.journal.begun_size)
        settings = settings_of(state)
        self.machine = Machine(folder, settings, self.clock, plan.seed, self.journal.killed)
        self._payer: Key = new_key()
        self._bought_before: tuple[Bought, str] | None = None
        self._recipient = make_identity(folder / "identity")
        self._meanwhile: Mapping[int, Tick] = {}  # ticks of this hour that a fault meets, by minute
        self._after: dict[int, Callable[[], None]] = {}
        self.ticks: list[Started] = []
        self.on_hour: Callable[[int], object] = lambda _hour: None  # called before each, and after the last

    def play(self) -> Journal:
        """Play all hours and end every process."""
        began = _cpu_s()
        self.machine.open_outside()
        try:
            self._upgrade()
            self._ask_for_old_bodies()
            self.machine.outside.ask("fund", self._payer.address)
            for hour in range(self.plan.hours):
                self.on_hour(hour)
                self._hour(hour)
            self.on_hour(self.plan.hours)
            self._tick(Tick())
            self._end()
        finally:
            self.machine.close()
        self.journal.cpu_s = _cpu_s() - began
        return self.journal

    def _end(self) -> None:
        for child in (self.machine.generator, self.machine.gateway):
            assert child is not None
            child.stop()
        self.machine.generator = self.machine.gateway = None

    def _upgrade(self) -> None:
        """Start on the state of the old version; in the disturbed year it is killed on the way a few times."""
        if self.disturbed:
            chance = random.Random(f"upgrade {self.plan.seed}")
            self.journal.faults[UPGRADED] += 1
            for kill_s in sorted(chance.uniform(0.02, 2.5) for _ in range(3)):
                self._start_killed(kill_s)
        self.machine.start_generator()
        self.machine.start_gateway()

    def _ask_for_old_bodies(self) -> None:
        """Ask for what was bought of the earlier version."""
        for one in json.loads((self.machine.state / "bought.json").read_text(encoding="utf-8")):
            answer: Answer = self._gateway("get", Request(one["path"], {"PAYMENT-SIGNATURE": one["header"]}))
            self.journal.old_again.append(answer.body == base64.b64decode(one["body"]))

    def _start_killed(self, kill_s: float) -> None:
        for name, start in (
            ("generator", lambda: self.machine.start_generator(kill_s)),
            ("gateway", lambda: self.machine.start_gateway(kill_s / 20)),
        ):
            try:
                start()
            except DiedError:
                self.journal.killed[name] += 1
            else:
                self.machine.kill(getattr(self.machine, name))

    def _hour(self, hour: int) -> None:
        """Play the ticks of :15, :55 and :00, and what befalls them."""
        begin = BEGIN.replace(minute=0) + hour * HOUR
        fault = self.plan.faults.get(hour) if self.disturbed else None
        self._vote(hour, begin)
        self.clock.go_to(begin + timedelta(minutes=15))
        if self.machine.generator is None:
            self._come_back()
        else:
            self._tick(Tick(publishes=self.plan.publishes(hour)))

        if self.disturbed and self.plan.restored_at == hour + BACKUP_H:
            self._back_up()
        if purchase := self.plan.purchases.get(hour):
            self._buy(hour, purchase)
        if self.plan.publishes(hour):
            self._gateway("look")
        if fault:
            self.journal.faults[fault] += 1
            self._meanwhile = befall(self, fault, self.plan.chance(hour))

        for minute in (55, 60):
            self.clock.go_to(begin + timedelta(minutes=minute))
            if self.machine.generator is not None:
                self._tick(self._meanwhile.get(minute, Tick(publishes=False)))
            if after := self._after.pop(minute, None):
                after()
        self._meanwhile = {}

    def _vote(self, hour: int, begin: datetime) -> None:
        """Drop the ballots of the round that opened at the full hour into the inbox."""
        start_ms = int((begin + HOUR).timestamp() * 1000)
        asset = asset_of(Slot(start_ms, start_ms + HOUR_MS), self.machine.settings.arena.assets)
        for voter, word in self.plan.votes[hour]:
            file = ballot(voter, round_id_of(asset, start_ms), word, start_ms)
            inbox = self.machine.settings.inbox_path
            inbox.mkdir(exist_ok=True)
            (inbox / file.name).write_bytes(file.data)

    def _tick(self, what: Tick) -> None:
        """Tick; where that fails the next is a quarter of a minute later, by a new process if need be."""
        machine = self.machine
        assert machine.generator is not None
        try:
            self.ticks.append(machine.generator.ask("tick", what))
        except DiedError:
            self.journal.killed["generator"] += 1
            self.clock.step(RESTART_S)
            machine.start_generator()
        except RefusedError:
            if what.lasts:
                return
            self.clock.step(RESTART_S)
            machine.generator.ask("tick", Tick())

    def _come_back(self) -> None:
        self.machine.start_generator()
        self.journal.gaps[-1].end = self.clock.true()

    def _gateway(self, *command: Any) -> Any:
        """Ask the gateway; one that dies is started again, and DiedError says so."""
        assert self.machine.gateway is not None
        try:
            return self.machine.gateway.ask(*command)
        except DiedError:
            self.journal.killed["gateway"] += 1
            self.clock.step(RESTART_S)
            self.machine.start_gateway()
            raise

    def _buy(self, hour: int, purchase: Purchase) -> None:
        """Buy as a payer does who gives up only after a while, and ask now and then for what was bought before."""
        fault = purchase.fault if self.disturbed else None
        product = PRODUCTS[purchase.product]
        if self._bought_before is not None and purchase.asks_again:
            before, header = self._bought_before
            if hour - before.number <= ASKED_AGAIN_H:
                self._ask_again(before, header)
        if fault == "gateway restarted":
            assert self.machine.gateway is not None
            self.machine.gateway.stop()
            self.machine.start_gateway()

        quote = self._quote(product.path)
        if quote is None:
            self.journal.not_sold[hour] = self.clock.true()
            return
        header = quote.headers["payment-required"]
        price = product.price_atomic
        signed = pay(header, self._payer, DEVNET, self.machine.outside.ask("round"), price)
        bought = Bought(hour, product.id, price, signed.txid)
        self.journal.bought.append(bought)
        if fault:
            self.journal.faults[fault] += 1
        self._present(bought, product.path, signed, fault, purchase.dies_at)
        self._bought_before = (bought, signed.header)

    def _quote(self, path: str) -> Answer | None:
        """Ask for the price, a few times where nothing is for sale."""
        for _ in range(MOST_QUOTES):
            quote: Answer = self._gateway("get", Request(path))
            if quote.status not in NOTHING_SOLD:
                return quote
            self.clock.step(ASK_AGAIN_S)
        return None

    def _present(self, bought: Bought, path: str, signed: SignedPayment, fault: str | None, dies_at: str) -> None:
        """Present a payment until its body comes."""
        outside = self.machine.outside
        headers = {"PAYMENT-SIGNATURE": signed.header}
        first = Request(path, headers, dies_at=dies_at if fault == "gateway killed in a purchase" else None)
        if fault == "gateway's disk full":
            first = replace(first, limit=self.plan.chance(bought.number).randrange(60_000))
        outside.ask("fault", fault if fault in FAULTS else "none")

        for turn in range(MOST_ASKED):
            if turn == FAULT_OVER:
                outside.ask("fault", "none")
            try:
                answer: Answer = self._gateway("get", first if turn == 0 else Request(path, headers))
            except DiedError:
                continue
            bought.statuses.append(answer.status)
            if answer.status == 200:
                bought.sha256 = hashlib.sha256(answer.body).hexdigest()
                (self.machine.folder / f"body-{bought.number}.json").write_bytes(answer.body)
                break
            self.clock.step(ASK_AGAIN_S)
            self._gateway("look")
        outside.ask("fault", "none")

    def _ask_again(self, bought: Bought, header: str) -> None:
        path = next(product.path for product in PRODUCTS if product.id == bought.product)
        answer: Answer = self._gateway("get", Request(path, {"PAYMENT-SIGNATURE": header}))
        bought.again.append(hashlib.sha256(answer.body).hexdigest() == bought.sha256)

    def _back_up(self) -> None:
        """Make the backup that is restored two hours later, while both programs run."""
        target = FolderTarget(self.machine.folder / "backups")
        make_backup(self.machine.places, target, self.clock.now, "test", Meant(self._recipient))
        self.journal.gaps.append(Gap(RESTORED, self.clock.true(), self.clock.true()))

    def restore(self) -> None:
        """Lose the machine and put the backup back on another; the operator adopts what was paid since."""
        machine = self.machine
        machine.kill(machine.generator, machine.gateway)
        machine.state.rename(machine.folder / "lost")
        machine.state.mkdir()
        (machine.folder / "scratch").mkdir()

        target = FolderTarget(machine.folder / "backups")
        known = Schemas(SCHEMA_VERSION, REVISION)
        fetched = fetch(target, newest(target, None), machine.folder / "scratch", known)
        identity = machine.folder / "identity"
        Restore(fetched, machine.places, lambda _text: None, self.clock.now(), identity=identity).run()

        machine.start_generator()
        machine.start_gateway()
        cut = datetime.fromisoformat(fetched.manifest.cut).timestamp()
        for bought in self.journal.bought:
            if bought.sha256 and BEGIN.timestamp() + bought.number * HOUR.total_seconds() >= cut - HOUR.total_seconds():
                self._gateway("adopt", bought.txid, bought.product)
                bought.adopted = True
        self.journal.gaps[-1].end = self.clock.true()

    def gap(self, fault: str, begin_s: float, end_s: float) -> None:
        """Note a time whose rounds may be missing, relative to now."""
        now = self.clock.true()
        self.journal.gaps.append(Gap(fault, now + begin_s, now + end_s))

    def lose_generator(self) -> None:
        """Kill it; it comes back at :15 of the next hour."""
        self.machine.kill(self.machine.generator)
        self.machine.generator = None

    def be_wrong(self, seconds: float) -> None:
        """Set the wall clock, tick by it, and set it right again."""
        assert self.machine.generator is not None
        self.clock.set_wrong(seconds)
        self.machine.generator.ask("tick", Tick())
        self.clock.set_wrong(0)
        self.machine.generator.ask("tick", Tick())

    def after(self, minute: int, what: Callable[[], None]) -> None:
        """Do something after the tick of a minute of this hour."""
        self._after[minute] = what


def _cpu_s() -> float:
    """Return the processor time of this process and of those that it started and that ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)
