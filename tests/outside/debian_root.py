"""An empty Debian root with a network of its own, in which the installed program runs as on a machine of its own.

`python debian_root.py ROOT PACKAGES` is the process that holds its mounts and its network; they end with it.
"""

import contextlib
import fcntl
import os
import re
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

import pytest

from tests.support.processes import REPOSITORY, Running, started

MIRROR = "http://deb.debian.org/debian"
PACKAGES = "python3,nginx-light,systemd,passwd,libnginx-mod-http-brotli-static"
PROGRAM = "#!/opt/emi/bin/python3\nfrom generator.cli import main\n\nmain()\n"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
SIOCGIFFLAGS, SIOCSIFFLAGS, UP = 0x8913, 0x8914, 0x1
NEEDED = ("mmdebstrap", "unshare", "nsenter", "chroot", "mount")


@dataclass(frozen=True)
class Root:
    """The root folder and the process that holds its namespaces."""

    folder: Path
    holder: int

    def inside(self, *command: str, user: str = "root", groups: Sequence[str] = ()) -> list[str]:
        """Return a command that runs inside, as a user."""
        enter = ["nsenter", f"--target={self.holder}", "--mount", "--net", "chroot"]
        return [*enter, f"--userspec={user}", f"--groups={','.join(groups)}", str(self.folder), *command]

    def run(self, *command: str, user: str = "root", **environment: str) -> str:
        """Run a command inside to its end; return what it printed."""
        return ended(self.inside("/usr/bin/env", "-i", *assigned(environment), *command, user=user), 120)

    def run_unit(self, name: str, **extra: str) -> str:
        """Run what an installed unit starts to its end; return what it printed."""
        return ended(self.unit(name, **extra), 300)

    def unit(self, name: str, **extra: str) -> list[str]:
        """Return the ExecStart of an installed unit, as its users, with its settings, in its folder."""
        rows = re.findall(r"^(\w+)=(.*)$", (self.folder / "etc/systemd/system" / name).read_text(), re.MULTILINE)
        one = dict(rows)
        self.make_state_directory(one)
        values: dict[str, str] = {}
        for key, value in rows:
            if key == "Environment":
                values |= dict(word.split("=", 1) for word in shlex.split(value))
            elif key == "EnvironmentFile":
                values |= self.settings(value.removeprefix("-"))
        values |= extra
        command = shlex.split(Template(one["ExecStart"]).safe_substitute(values))
        default = "65534:65534" if one.get("DynamicUser") == "yes" else "root:root"
        user = f"{one['User']}:{one['Group']}" if "User" in one else default
        groups = one.get("SupplementaryGroups", "").split()
        words = ["/usr/bin/env", "-i", "-C", one["WorkingDirectory"], *assigned(values), *command]
        return self.inside(*words, user=user, groups=groups)

    def make_state_directory(self, unit: Mapping[str, str]) -> None:
        """Make the folder of a user that systemd makes up for a unit."""
        folder = self.folder / "var/lib" / unit.get("StateDirectory", "")
        if unit.get("DynamicUser") == "yes" and not folder.exists():
            folder.mkdir(mode=0o700)
            os.chown(folder, 65534, 65534)

    def settings(self, file: str) -> dict[str, str]:
        lines = (self.folder / file.lstrip("/")).read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))

    @contextlib.contextmanager
    def started(self, command: Sequence[str]) -> Iterator[Running]:
        """Run a command inside for the length of the block."""
        with started(command, self.folder.parent / "logs", dict(os.environ)) as running:
            yield running


def ended(command: Sequence[str], timeout_s: float) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def assigned(environment: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in {"PATH": PATH, **environment}.items()]


@contextlib.contextmanager
def debian_root(suite: str) -> Iterator[Root]:
    """Install a Debian of a few packages and the wheel of this checkout in it; skip where that is not possible."""
    with bare_root(suite) as folder:
        if not (folder / f"usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}").exists():
            pytest.skip(f"the Python of {suite} is not this one, so that the libraries of this one do not fit")
        install_program(folder, folder.parent)
        with held(folder) as pid:
            yield Root(folder, pid)


@contextlib.contextmanager
def bare_root(suite: str) -> Iterator[Path]:
    """Install a Debian of a few packages; skip where that is not possible."""
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        pytest.skip(f"not installed: {', '.join(missing)} (Debian packages mmdebstrap, util-linux, coreutils)")
    if os.geteuid() != 0 or subprocess.run(["unshare", "-mn", "true"], check=False).returncode:
        pytest.skip("to have a root and a network of its own: root, with the right to make namespaces")

    with tempfile.TemporaryDirectory(prefix="emi-debian-", ignore_cleanup_errors=True) as name:
        folder = Path(name) / "root"
        install_debian(suite, folder)
        yield folder


def install_debian(suite: str, folder: Path) -> None:
    command = ["mmdebstrap", "--mode=root", "--variant=minbase", f"--include={PACKAGES}", suite, str(folder), MIRROR]
    if kept := os.environ.get(f"DEBIAN_{suite.upper()}"):  # a root that was installed before, to save the minutes
        command = ["cp", "-a", kept, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        pytest.skip(f"no Debian: {done.stderr.strip().splitlines()[-1]}")
    folder.chmod(0o755)
    folder.parent.chmod(0o755)


def install_program(folder: Path, scratch: Path) -> None:
    """Put the wheel into /opt/emi, as pip does; the libraries are those of this environment, mounted by the holder."""
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(scratch)]
    subprocess.run([*build, str(REPOSITORY)], check=True, timeout=120)
    (wheel,) = scratch.glob("*.whl")
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    subprocess.run(
        ["chroot", str(folder), "/usr/bin/python3", "-m", "venv", "--without-pip", "/opt/emi"], check=True, timeout=60
    )
    packages = folder / "opt/emi/lib" / version / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (packages / "libraries.pth").write_text("/opt/libraries\n")
    program = folder / "opt/emi/bin/emi"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    (folder / "opt/libraries").mkdir()


@contextlib.contextmanager
def held(folder: Path) -> Iterator[int]:
    """Hold mounts and network for the length of the block; yield the process."""
    libraries = next(path for path in sys.path if path.endswith("site-packages"))
    command = ["unshare", "--mount", "--net", sys.executable, __file__, str(folder), libraries]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield process.pid
        finally:
            process.stdin.close()
            process.wait(20)


def hold(root: Path, libraries: str) -> None:
    mounts = (
        ("--make-rprivate", "/"),
        ("-t", "proc", "proc", str(root / "proc")),
        ("--rbind", "/dev", str(root / "dev")),
        ("-t", "tmpfs", "tmpfs", str(root / "run")),
        ("--bind", libraries, str(root / "opt/libraries")),
    )
    for mount in mounts:
        subprocess.run(["mount", *mount], check=True)

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        request = struct.pack("16sh22x", b"lo", 0)
        flags = struct.unpack("16sh22x", fcntl.ioctl(asked, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(asked, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | UP))
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    hold(Path(sys.argv[1]), sys.argv[2])
