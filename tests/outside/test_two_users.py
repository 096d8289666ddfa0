"""Both programs as two real users, in folders as the units and tmpfiles make them: what each of them can do."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from gateway.wire.inbox import OPEN_ROUND, AnnouncedRound
from gateway.wire.notes import RoundVote
from generator.catalog.words import Prediction
from generator.client.ballot import vote_over_http
from tests.support.arena_inputs import voter
from tests.support.ports import free_port
from tests.support.processes import REPOSITORY, Running, clean_environment, emi, get, running, started

GENERATOR, GATEWAY, NGINX = 61001, 61002, 61003
EMI, WWW = 61000, 61003
SETPRIV: Final = shutil.which("setpriv")
PACKAGES: Final = [str(REPOSITORY), *(path for path in sys.path if "site-packages" in path)]
pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(SETPRIV is None or os.geteuid() != 0, reason="to become other users: root, and setpriv"),
]
# Says for each path whether it could be read, and for each after "--" whether it could be written.
TRY = """
import os, sys
reads, writes = " ".join(sys.argv[1:]).split("--")
for path, flags in [(p, os.O_RDONLY) for p in reads.split()] + [(p, os.O_WRONLY) for p in writes.split()]:
    try:
        os.close(os.open(path, flags))
        print("yes")
    except PermissionError:
        print("no")
"""


@dataclass(frozen=True)
class Machine:
    """Where everything lies, and the gateway that sells."""

    folder: Path
    python: str
    gateway: str
    devnet: str

    def tick(self) -> subprocess.CompletedProcess[str]:
        command = become(GENERATOR, EMI, self.python, "-m", "generator.cli", "tick")
        return subprocess.run(
            command,
            cwd=self.folder,
            env=places(self.folder, "generator"),
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )

    def tries(self, uid: int, gid: int, *, read: tuple[str, ...] = (), write: tuple[str, ...] = ()) -> list[str]:
        """Return yes or no for each file."""
        paths = [*(str(self.folder / path) for path in read), "--", *(str(self.folder / path) for path in write)]
        done = subprocess.run(
            become(uid, gid, self.python, "-c", TRY, *paths), capture_output=True, text=True, timeout=20, check=True
        )
        return done.stdout.split()


def become(uid: int, gid: int, *command: str) -> list[str]:
    return [SETPRIV or "", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--no-new-privs", *command]


def python_for_all() -> str:
    """Return a Python of this version that other users may run: ours may lie in root's home."""
    for candidate in (sys.executable, "/usr/bin/python3"):
        wanted = f"import sys; assert sys.version_info[:2] == {sys.version_info[:2]}"
        with contextlib.suppress(OSError):
            tried = subprocess.run(become(NGINX, WWW, candidate, "-c", wanted), capture_output=True, check=False)
            if tried.returncode == 0:
                return candidate
    pytest.skip("no Python of this version that other users may run")


def made(folder: Path, mode: int, uid: int, gid: int) -> Path:
    folder.mkdir(parents=True)
    os.chown(folder, uid, gid)
    folder.chmod(mode)
    return folder


def places(folder: Path, program: str, **extra: str) -> dict[str, str]:
    return clean_environment(
        PYTHONPATH=os.pathsep.join(PACKAGES),
        PYTHONDONTWRITEBYTECODE="1",
        EMI_STATE_DIR=str(folder / program),
        EMI_VAULT_URL=f"file://{folder}/vault",
        EMI_SITE_DIR=str(folder / "site"),
        EMI_ARENA__INBOX_URL=str(folder / "inbox"),
        **extra,
    )


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    python = python_for_all()
    # Not pytest's folder, which no one else may enter.
    with tempfile.TemporaryDirectory(prefix="emi-users-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)
        for program, uid in (("generator", GENERATOR), ("gateway", GATEWAY)):
            made(folder / program, 0o700, uid, EMI)
        made(folder / "vault", 0o750, GENERATOR, EMI)
        made(folder / "inbox", 0o3730, GENERATOR, EMI)
        made(folder / "site", 0o2750, GENERATOR, WWW)
        done = Machine(folder, python, "", "").tick()
        assert done.returncode == 0, done.stderr

        ports = free_port(), free_port()
        devnet, gateway = (f"http://127.0.0.1:{port}" for port in ports)
        buyer = made(folder / "buyer", 0o700, 0, 0)
        stack.enter_context(running(buyer, ["devnet", "--port", str(ports[0])], devnet))
        chain = {
            "EMI_FACILITATOR_URL": f"{devnet}/facilitator",
            "EMI_ALGOD_URL": f"{devnet}/algod",
            "EMI_INDEXER_URL": f"{devnet}/indexer",
        }
        command = become(GATEWAY, EMI, python, "-m", "generator.cli", "gateway", "--port", str(ports[1]))
        process = stack.enter_context(started(command, folder, places(folder, "gateway", **chain)))
        wait_for_a_quote(gateway, process)
        yield Machine(folder, python, gateway, devnet)


def wait_for_a_quote(gateway: str, process: Running) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        assert process.process.poll() is None, process.text()
        with contextlib.suppress(OSError):
            if get(f"{gateway}/api/x402-market-regime.php")[0] == 402:
                return
        time.sleep(0.1)
    raise AssertionError("no quote")


def test_the_gateway_sells_what_another_user_put_into_the_vault(machine: Machine) -> None:
    bought = emi(
        *("buy", "market-regime", "--json", "--url", machine.gateway, "--devnet-url", machine.devnet),
        cwd=machine.folder / "buyer",
    )

    assert bought.returncode == 0, bought.stderr
    assert json.loads(bought.stdout)["payment_status"] == "settled"


def test_a_free_ballot_is_added_by_the_gateway_and_counted_by_the_generator(machine: Machine) -> None:
    inbox = machine.folder / "inbox"
    taking = AnnouncedRound.of((inbox / OPEN_ROUND).read_bytes())
    vote_over_http(
        f"{machine.gateway}/x402-buyer/ballot", voter(0), RoundVote.of(taking.round_id, Prediction.NEUTRAL), 0
    )
    (ballot,) = inbox.glob("*.ballot")
    name = f"inbox/{ballot.name}"

    assert machine.tries(GENERATOR, EMI, read=(name, "inbox")) == ["yes", "yes"]
    assert machine.tries(GATEWAY, EMI, read=("inbox",), write=(f"inbox/{OPEN_ROUND}",)) == ["no", "no"]
    done = machine.tick()
    assert (done.returncode, list(inbox.glob("*.ballot"))) == (0, [])
    assert "refused" not in done.stdout + done.stderr


def test_the_gateway_cannot_read_key_or_record_nor_change_what_it_sells(machine: Machine) -> None:
    private = ("generator/keys/log.key", "generator/memory.sqlite3", "generator")
    assert all((machine.folder / path).exists() for path in private)

    answers = machine.tries(GATEWAY, EMI, read=(*private, "vault/manifest.json"), write=("vault/manifest.json",))

    assert answers == ["no", "no", "no", "yes", "no"]


def test_the_generator_does_not_read_who_paid(machine: Machine) -> None:
    assert (machine.folder / "gateway/payments.sqlite3").exists()

    assert machine.tries(GENERATOR, EMI, read=("gateway/payments.sqlite3",)) == ["no"]


def test_nginx_reads_the_site_and_nothing_else(machine: Machine) -> None:
    page, others = "site/current/index.html", ("vault/manifest.json", "generator", "gateway")

    assert machine.tries(NGINX, WWW, read=(page, *others), write=(page,)) == ["yes", "no", "no", "no", "no"]
