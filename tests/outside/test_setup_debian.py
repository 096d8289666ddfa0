"""`emi setup` in an empty Debian root: users made, units started as them, nginx in front, the doctor green.

systemd does not run in it: what its units start is started here, as their users, with their settings. DEBIAN_BOOKWORM
and DEBIAN_TRIXIE name roots that mmdebstrap made before, to save two minutes each.
"""

import contextlib
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.operate.setup.plan import UNITS
from tests.outside.debian_root import Root, bare_root, debian_root
from tests.support.certificates import self_signed
from tests.support.processes import Running, emi

NAME = "api.setup.test"
ORIGIN = f"https://{NAME}"
EMI = "/opt/emi/bin/emi"
APPLY = (EMI, "setup", NAME, "--cert", "/usr/local/share/emi.pem", "--key", "/usr/local/share/emi.key", "--play")
TRUST = {"SSL_CERT_FILE": "/usr/local/share/emi.pem"}
# What the buyer page asks first, by TLS.
WALLET = f"""
import json, urllib.request
asked = urllib.request.Request("{ORIGIN}/x402-buyer/devnet-sign", headers={{"X-Devnet-Wallet": "account"}})
print(json.load(urllib.request.urlopen(asked))["address"])
"""
# What programs of the system write whenever they run: locks, backups of the account files, their own logs.
NOT_OURS = (
    "proc/", "dev/", "run/", "tmp/", "var/log/", "var/lib/nginx/", "etc/.pwd.lock", "etc/passwd-", "etc/group-",
    "etc/shadow-", "etc/gshadow-", "etc/subuid-", "etc/subgid-", "var/backups/", "opt/", "root/", "var/tmp/",
    "var/lib/emi-devnet", "var/lib/emi-purchase",  # throwaway wallets, which an undo leaves
)  # fmt: skip
pytestmark = [pytest.mark.outside, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    with debian_root("bookworm") as made:
        certificate, key = self_signed(tmp_path_factory.mktemp("tls"), [NAME])
        shutil.copy(certificate, made.folder / "usr/local/share/emi.pem")
        shutil.copy(key, made.folder / "usr/local/share/emi.key")
        (made.folder / "etc/hosts").write_text(f"127.0.0.1 localhost {NAME}\n")
        yield made


def files_of(root: Root) -> dict[str, tuple[int, int, int, bytes]]:
    """Return mode, owner and content of all that is not some program's own."""
    found = {}
    for path in sorted(root.folder.rglob("*")):
        name = str(path.relative_to(root.folder))
        if name.startswith(NOT_OURS) or not (path.is_file() or path.is_dir() or path.is_symlink()):
            continue
        content = (
            path.read_bytes() if path.is_file() and not path.is_symlink() and path.stat().st_size < 20_000 else b""
        )
        status = path.lstat()
        found[name] = (status.st_mode, status.st_uid, status.st_gid, content)
    return found


@contextlib.contextmanager
def service(root: Root) -> Iterator[dict[str, Running]]:
    """Run what the units start, and nginx."""
    with contextlib.ExitStack() as stack:
        commands = {
            "devnet": root.unit("emi-devnet.service"),
            "schedule": root.unit("emi-schedule.service"),
            "gateway": root.unit("emi-gateway.service"),
            "nginx": root.inside("nginx", "-g", "daemon off;"),
        }
        yield {name: stack.enter_context(root.started(command)) for name, command in commands.items()}


def wait_for_a_sale(root: Root, running: dict[str, Running], within_s: float = 240) -> None:
    until = time.monotonic() + within_s
    asked = ("/usr/bin/python3", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8402/readyz')")
    while time.monotonic() < until:
        for name, process in running.items():
            assert process.process.poll() is None, f"{name}: {process.text()}"
        with contextlib.suppress(AssertionError):
            root.run(*asked)
            return
        time.sleep(2)
    raise AssertionError(running["gateway"].text() + running["schedule"].text())


def test_a_machine_is_set_up_serves_sells_and_is_taken_down_again(root: Root) -> None:
    before = files_of(root)
    assert "  + user    emi-gateway" in root.run(*APPLY, "--dry-run")
    assert files_of(root) == before

    made = root.run(*APPLY, "--apply")
    assert "user    emi-gateway" in made
    assert root.run(*APPLY, "--apply").startswith("Nothing changed")
    assert root.run(EMI, "setup", "--apply").startswith("Nothing changed")

    with service(root) as running:
        wait_for_a_sale(root, running)
        root.run_unit("emi-backup.service")
        report = root.run(EMI, "doctor", **root.settings("/etc/emi/emi.env"), **TRUST)
        bought = root.run_unit("emi-purchase.service", **TRUST)
        wallets = [root.run("/usr/bin/python3", "-c", WALLET, **TRUST) for _ in range(2)]

    assert "All well" in report, report
    assert json.loads(bought)["payment_status"] == "settled"
    assert wallets[0] == wallets[1] != ""
    assert "holds data" in root.run(EMI, "setup", "--undo")
    assert "Everything is undone." in root.run(EMI, "setup", "--undo", "--delete-data")
    after = files_of(root)
    assert {
        name: (before.get(name), after.get(name)) for name in before | after if before.get(name) != after.get(name)
    } == {}


def test_debian_13_takes_accounts_units_and_site_of_an_image(tmp_path: Path) -> None:
    with bare_root("trixie") as folder:
        for made in self_signed(tmp_path, [NAME]):
            shutil.copy(made, folder / "usr/local/share" / made.name)
        program = folder / EMI.lstrip("/")
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        pair = ("--cert", "/usr/local/share/certificate.pem", "--key", "/usr/local/share/key.pem")

        made_of_it = emi("setup", NAME, *pair, "--root", str(folder), "--play", "--apply", cwd=tmp_path)
        inside = (
            "mount -t proc proc /proc && nginx -t && id emi-gateway && systemctl is-enabled emi-gateway emi-devnet "
            f"&& systemd-analyze verify --man=no {UNITS}/emi-*.service {UNITS}/emi-*.timer"
        )
        command = ["unshare", "--mount", "chroot", str(folder), "sh", "-c", inside]
        looked_at = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        undone = emi("setup", "--undo", "--root", str(folder), cwd=tmp_path)

    assert made_of_it.returncode == 0, made_of_it.stderr
    assert looked_at.returncode == 0, looked_at.stderr
    assert "Everything is undone." in undone.stdout
