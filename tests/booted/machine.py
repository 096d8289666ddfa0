"""A machine booted from a root: systemd is its process 1, its network has loopback alone, its files are thrown away."""

import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BOOT_S: Final = 60.0
UP: Final = frozenset({"running", "degraded"})
PATH: Final = "/usr/sbin:/usr/bin:/sbin:/bin"


class Failed(AssertionError):
    """A command of the machine failed, or something did not come about in time."""


@dataclass(frozen=True)
class Machine:
    """A running machine.

    Args:
        folder: its root, seen from outside.
        leader: its process 1, by the number that it has outside.
    """

    folder: Path
    leader: int

    def types(self, lines: str, *, timeout_s: float = 300) -> str:
        """Run lines as root at a shell of the machine, up to the first that fails; return what they printed."""
        enter = ["nsenter", f"--target={self.leader}", "--mount", "--uts", "--ipc", "--net", "--pid", "--root"]
        shell = ["env", "-i", f"PATH={PATH}", "HOME=/root", "LC_ALL=C.UTF-8", "bash", "-ec"]
        try:
            done = subprocess.run(
                [*enter, *shell, f"cd /root\n{lines}"], capture_output=True, text=True, timeout=timeout_s, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{lines}\nnot ended after {timeout_s:g} s") from error
        if done.returncode:
            raise Failed(f"{lines}\nended with code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def fails(self, lines: str) -> str:
        """Run lines that must fail; return what they printed."""
        try:
            printed = self.types(lines)
        except Failed as error:
            return str(error)
        raise Failed(f"{lines}\nshould have failed\n{printed}")

    def shows(self, unit: str, field: str) -> str:
        """Return what systemd shows of a unit."""
        return self.types(f"systemctl show --value -p {field} {unit}").strip()

    def waits(self, until: Callable[[], object], what: str, within_s: float) -> None:
        """Ask each second until something is so."""
        end = time.monotonic() + within_s
        why = ""
        while time.monotonic() < end:
            try:
                if until():
                    return
            except Failed as error:
                why = str(error)
            time.sleep(1)
        raise Failed(f"{what}: not within {within_s:g} s\n{why}")


@contextlib.contextmanager
def booted(root: Path, log: Path) -> Iterator[Machine]:
    """Boot a copy of a root for the length of the block.

    Args:
        root: stays as it is.
        log: file for what the machine's console shows.
    """
    scratch = Path(tempfile.mkdtemp(prefix="emi-booted-"))
    for name in ("upper", "work", "root"):
        (scratch / name).mkdir()
    folder = scratch / "root"
    layers = f"lowerdir={root},upperdir={scratch / 'upper'},workdir={scratch / 'work'}"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, str(folder)], check=True)
    try:
        with log.open("wb") as console:
            command = ["systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", "--private-network"]
            nspawn = subprocess.Popen(
                [*command, f"--directory={folder}", "--machine=emi-booted"],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                yield _up(nspawn.pid, folder)
            finally:
                nspawn.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    nspawn.wait(30)
                nspawn.kill()
                nspawn.wait()
    finally:
        subprocess.run(["umount", str(folder)], check=False)
        shutil.rmtree(scratch, ignore_errors=True)


def _up(nspawn: int, folder: Path) -> Machine:
    """Wait until the machine has come up."""
    children = Path(f"/proc/{nspawn}/task/{nspawn}/children")
    end = time.monotonic() + BOOT_S
    while time.monotonic() < end:
        time.sleep(0.5)
        leaders = children.read_text().split() if children.exists() else []
        if not leaders:
            continue
        machine = Machine(folder, int(leaders[0]))
        with contextlib.suppress(Failed):
            if machine.types("systemctl is-system-running --wait || true").strip() in UP:
                return machine
    raise Failed(f"the machine did not come up within {BOOT_S:g} s")
