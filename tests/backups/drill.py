"""Lose a machine that sells, restore its backup on another one: `python -m tests.backups.drill [--seconds N]`.

`emi up` serves while buyers buy all four products and ticks are published; half-way `emi backup` copies it, then every
process is killed and the state is not used again. The backup is put back into an empty state; the chain, which no
machine's loss takes away, is carried over. The table says what became of every payment, sent once more as it was: those
that were answered before the cut, and those after it, before and after `emi adopt --since`. The exit code is 1
where a body of before the cut does not come back byte for byte, or the log does not continue.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from gateway.devnet.keys import new_key
from gateway.devnet.wallet import pay
from gateway.wire.networks import DEVNET
from generator.catalog.products import PRODUCTS
from generator.operate.keep.keys import make_identity
from tests.support.ports import free_port
from tests.support.processes import Running, emi, get, running

BUYERS: Final = 3
PAUSE_S: Final = 0.1
FUND_EACH: Final = 20
LIMIT_ATOMIC: Final = 1_000_000


@dataclass(frozen=True)
class Purchase:
    """A payment and what came for it."""

    url: str
    header: str
    answered_s: float
    body: bytes


@dataclass
class Buyers:
    """Threads that buy one product after the other until they are stopped."""

    origin: str
    devnet: str
    bought: list[Purchase] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    _stopped: threading.Event = field(default_factory=threading.Event)

    @contextlib.contextmanager
    def buying(self) -> Iterator[None]:
        """Buy for the length of the block."""
        threads = [threading.Thread(target=self._buy) for _ in range(BUYERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            for thread in threads:
                thread.join()

    def _buy(self) -> None:
        key = new_key()
        number = 0
        while not self._stopped.is_set():
            if number % FUND_EACH == 0:
                get(f"{self.devnet}/wallet/fund?address={key.address}")
            url = self.origin + PRODUCTS[number % len(PRODUCTS)].path
            number += 1
            with contextlib.suppress(OSError):
                challenge = get(url)[1]["payment-required"]
                last_round = int(json.loads(get(f"{self.devnet}/algod/v2/status")[2])["last-round"])
                header = pay(challenge, key, DEVNET, last_round, LIMIT_ATOMIC).header
                status, _, body = get(url, {"PAYMENT-SIGNATURE": header})
                if status == 200:
                    self.bought.append(Purchase(url, header, time.time(), body))
                else:
                    self.failed[str(status)] += 1
            time.sleep(PAUSE_S)


def outcomes(purchases: Sequence[Purchase]) -> Counter[str]:
    """Send each payment once more; count what came."""
    found: Counter[str] = Counter()
    for purchase in purchases:
        status, _, body = get(purchase.url, {"PAYMENT-SIGNATURE": purchase.header})
        same = "the same bytes" if body == purchase.body else "other bytes"
        found[f"200, {same}" if status == 200 else f"{status} {code_of(body)}"] += 1
    return found


def code_of(body: bytes) -> str:
    try:
        content = json.loads(body)
    except ValueError:
        return ""
    return str(content.get("code") or content.get("error") or content.get("type", ""))


@contextlib.contextmanager
def up(folder: Path, port: int) -> Iterator[Running]:
    """Run `emi up` in a folder; killed with all its children at the end, as a machine is that loses its power."""
    with running(folder, ["up", "--port", str(port)], f"http://127.0.0.1:{port}") as process:
        process.wait_text("is up:", within_s=600)
        yield process


def die(process: Running) -> None:
    """Kill every process of the service at once."""
    pid = process.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for number in (pid, *map(int, children)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    process.process.wait(30)


def entries_of(printed: str) -> int:
    """Return how many entries of the log `emi verify` read."""
    found = re.search(r"(\d+) entries", printed)
    return int(found[1]) if found else 0


def main() -> int:
    """Run and print the table."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=float, default=150)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="drill-") as name:
        return drill(Path(name), chosen.seconds)


def drill(folder: Path, seconds: float) -> int:
    """Lose one machine and make another of its backup; return the exit code."""
    lost, fresh, reader = folder / "lost", folder / "fresh", folder / "reader"
    for made in (fresh, reader):
        made.mkdir()
    port = free_port(and_next=1)
    recipient = make_identity(folder / "identity")
    backup = str(folder / "kept")

    with up(lost, port) as process:
        buyers = Buyers(process.origin, f"http://127.0.0.1:{port + 1}")
        with buyers.buying():
            time.sleep(seconds / 2)
            copied = emi("backup", backup, "--keys", recipient, cwd=lost)
            time.sleep(seconds / 2)
            seen = emi("verify", "--url", process.origin, cwd=reader)
        die(process)
    assert (copied.returncode, seen.returncode) == (0, 0), copied.stderr + seen.stderr

    cut = datetime.fromisoformat(re.findall(r"cut (\S+)", copied.stdout)[0]).timestamp()
    before = [purchase for purchase in buyers.bought if purchase.answered_s < cut]
    after = [purchase for purchase in buyers.bought if purchase.answered_s >= cut]

    signer = re.findall(r"signed by (\S+)", copied.stdout)[0]
    put_back = emi("restore", backup, "--identity", str(folder / "identity"), "--signer", signer, cwd=fresh)
    assert put_back.returncode == 0, put_back.stderr
    since = re.findall(r"--since (\d+)", put_back.stdout)[0]
    carry_the_chain(lost / "emi-state", fresh / "emi-state")
    with up(fresh, port) as process:
        first = outcomes(before)
        late = outcomes(after)
        indexer = f"http://127.0.0.1:{port + 1}/indexer"
        adopted = emi("adopt", "--since", since, "--all", cwd=fresh, EMI_INDEXER_URL=indexer)
        taken = outcomes(after)
        verified = emi("verify", "--url", process.origin, cwd=reader)

    rows = (
        ("answered before the cut", len(before), first),
        ("answered after it", len(after), late),
        ("the same, after `emi adopt --since`", len(after), taken),
    )
    print("| payments, sent once more as they were | n | answers |\n|---|---|---|")
    for what, count, found in rows:
        print(f"| {what} | {count} | {shown(found)} |")
    print(f"not bought meanwhile: {shown(buyers.failed)}")
    print(
        f"the log: {entries_of(seen.stdout)} entries on the lost machine, {entries_of(verified.stdout)} on the new one"
    )
    print("\n".join([*verified.stdout.splitlines()[:2], *adopted.stderr.splitlines(), verified.stderr]))
    continues = verified.returncode == 0 and "are those of the last visit" in verified.stdout
    good = before and first == Counter({"200, the same bytes": len(before)}) and continues
    return 0 if good else 1


def carry_the_chain(lost: Path, fresh: Path) -> None:
    """Copy what in truth is others': the chain and the facilitator's key."""
    for path in lost.glob("devnet.sqlite3*"):
        shutil.copy2(path, fresh / path.name)
    (fresh / "keys").mkdir(exist_ok=True)
    for name in ("facilitator.key", "page-wallet.key"):
        shutil.copy2(lost / "keys" / name, fresh / "keys" / name)


def shown(found: Counter[str]) -> str:
    return "; ".join(f"{count} x {what}" for what, count in found.most_common()) or "none"


if __name__ == "__main__":
    sys.exit(main())
