"""A Debian root with nginx and the program's libraries, made once; machines are copies that share its files."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.support.processes import REPOSITORY

SUITE: Final = "bookworm"
PYTHON: Final = "3.11"
MIRROR: Final = "http://deb.debian.org/debian"
PACKAGES: Final = (
    "systemd-sysv", "dbus", "libnss-systemd", "python3-venv", "nginx", "ca-certificates", "curl", "procps", "sudo",
)  # fmt: skip
LOCKS: Final = ("requirements.lock", "requirements-live.lock", "requirements-cloud.lock", "requirements-build.lock")
"""The third for the older build that a machine is upgraded from, whose first lock still has its package."""
CACHE: Final = REPOSITORY / ".ci-debian"


def why_not() -> str | None:
    """Return why no machine can be booted here, None where one can."""
    if missing := [name for name in ("mmdebstrap", "systemd-nspawn", "nsenter") if shutil.which(name) is None]:
        return f"not installed: {', '.join(missing)} (Debian packages mmdebstrap, systemd-container, util-linux)"
    if os.geteuid() != 0 or subprocess.run(["unshare", "-mnp", "--fork", "true"], check=False).returncode:
        return "to boot a machine: root, with the right to make namespaces"
    return None


def cached_root(cache: Path = CACHE) -> Path:
    """Return a root in which only the program itself is missing; made where packages or locks are new."""
    words = [SUITE, *PACKAGES, *((REPOSITORY / name).read_text() for name in LOCKS)]
    root = cache / hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]
    if root.is_dir():
        return root

    cache.mkdir(exist_ok=True)
    (cache / ".gitignore").write_text("*\n")
    for older in cache.iterdir():
        if older.is_dir():
            shutil.rmtree(older)
    half = cache / "half"
    _run("mmdebstrap", "--mode=root", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(half), MIRROR)
    _install_libraries(half, cache / "wheels")
    half.chmod(0o755)
    half.rename(root)
    return root


def _install_libraries(root: Path, wheels: Path) -> None:
    """Install what the locks name into /opt/emi, from files: the machine itself never reaches an index."""
    locks = [word for name in LOCKS for word in ("-r", str(REPOSITORY / name))]
    fitting = ("--only-binary=:all:", "--python-version", PYTHON, "--require-hashes", "-d", str(wheels))
    _run(sys.executable, "-m", "pip", "download", "-q", *fitting, *locks)

    inside = root / "root"
    shutil.move(wheels, inside / "wheels")
    for name in LOCKS:
        shutil.copy(REPOSITORY / name, inside)
    locks_there = [word for name in LOCKS for word in ("-r", f"/root/{name}")]
    _run("chroot", str(root), "/usr/bin/python3", "-m", "venv", "/opt/emi")
    pip = ("chroot", str(root), "/opt/emi/bin/pip", "--isolated", "install", "-q", "--no-index")
    _run(*pip, "--find-links", "/root/wheels", "--require-hashes", *locks_there)
    shutil.rmtree(inside / "wheels")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=900)
