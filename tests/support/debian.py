"""A Debian root of a few files in a test's folder, and the commands of setup acted on it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from generator.errors import SetupError
from generator.operate.setup.machine import Machine, Rights, half_of

FOLDERS = (
    "etc/systemd/system", "etc/sysusers.d", "etc/nginx/snippets", "etc/nginx/sites-available",
    "etc/nginx/sites-enabled", "opt/emi/bin", "srv", "usr/bin", "usr/sbin", "usr/share/doc", "var/lib", "tls",
)  # fmt: skip
EMPTY = ("opt/emi/bin/emi", "usr/sbin/nginx", "usr/bin/systemd-sysusers", "tls/chain.pem", "tls/key.pem")


def debian(root: Path, version: str = "12") -> Path:
    """Make the root; every account in it has this process's own numbers, so that no test needs root."""
    for name in FOLDERS:
        (root / name).mkdir(parents=True)
    for name in EMPTY:
        (root / name).touch()
    accounts = "".join(f"{name}:x:{os.getuid()}:{os.getgid()}::/:\n" for name in ("root", "www-data"))
    groups = "".join(f"{name}:x:{os.getgid()}:\n" for name in ("root", "www-data"))
    (root / "etc/passwd").write_text(accounts)
    (root / "etc/group").write_text(groups)
    (root / "etc/os-release").write_text(f'PRETTY_NAME="Debian {version}"\nID=debian\nVERSION_ID="{version}"\n')
    return root


@dataclass
class Commands:
    """What setup ran, acted as far as setup looks at the result; those that begin as `fail` says fail."""

    root: Path
    fail: str = "-"
    ran: list[str] = field(default_factory=list)

    def __call__(self, command: Sequence[str]) -> None:
        plain = " ".join(word for word in command if word not in {"--root", "--prefix", str(self.root)})
        self.ran.append(plain)
        if plain.startswith(self.fail):
            raise SetupError(f"{plain} ended with code 1: as the test wants it")
        match plain.split():
            case ["systemd-sysusers", _]:
                self._add(
                    "passwd",
                    f"emi-generator:x:{os.getuid()}:",
                    f"emi-gateway:x:{os.getuid()}:",
                    f"emi-watch:x:{os.getuid()}:",
                )
                self._add("group", f"emi:x:{os.getgid()}:")
            case ["userdel", name]:
                self._drop("passwd", name)
            case ["groupdel", name]:
                self._drop("group", name)
            case ["systemctl", "enable", name]:
                wanted = self._wanted(name)
                wanted.parent.mkdir(exist_ok=True)
                wanted.unlink(missing_ok=True)
                wanted.symlink_to(f"../{name}")
            case ["systemctl", "disable", name]:
                self._wanted(name).unlink(missing_ok=True)
                if not any(self._wanted(name).parent.iterdir()):
                    self._wanted(name).parent.rmdir()

    def _wanted(self, name: str) -> Path:
        return self.root / "etc/systemd/system/multi-user.target.wants" / name

    def _add(self, file: str, *rows: str) -> None:
        path = self.root / "etc" / file
        there = path.read_text()
        missing = [row for row in rows if row.split(":")[0] + ":" not in there]
        path.write_text(there + "".join(f"{row}\n" for row in missing))

    def _drop(self, file: str, name: str) -> None:
        path = self.root / "etc" / file
        kept = [row for row in path.read_text().splitlines() if not row.startswith(f"{name}:")]
        path.write_text("".join(f"{row}\n" for row in kept))


class PowerCut(BaseException):
    """The power goes: nothing after it happens."""


@dataclass(frozen=True, slots=True)
class Dying(Machine):
    """A machine whose power goes at its n-th change, before the change or after it.

    Args:
        left: changes until then, counted down in place.
    """

    left: list[int] = field(default_factory=lambda: [0])
    after: bool = False

    def _count(self) -> bool:
        self.left[0] -= 1
        if self.left[0] == 0 and not self.after:
            raise PowerCut
        return self.left[0] == 0

    def write(self, path: str, data: bytes, rights: Rights) -> None:
        if self.left[0] == 1 and not self.after:
            half_of(self.at(path)).write_bytes(data[: len(data) // 2])
        is_last = self._count()
        Machine.write(self, path, data, rights)
        self._end(is_last)

    def make_folder(self, path: str) -> None:
        is_last = self._count()
        Machine.make_folder(self, path)
        self._end(is_last)

    def give(self, path: str, rights: Rights) -> None:
        is_last = self._count()
        Machine.give(self, path, rights)
        self._end(is_last)

    def link(self, path: str, target: str) -> None:
        is_last = self._count()
        Machine.link(self, path, target)
        self._end(is_last)

    def remove(self, path: str) -> None:
        is_last = self._count()
        Machine.remove(self, path)
        self._end(is_last)

    def remove_folder(self, path: str, *, with_content: bool = False) -> None:
        is_last = self._count()
        Machine.remove_folder(self, path, with_content=with_content)
        self._end(is_last)

    def _end(self, is_last: bool) -> None:
        if is_last:
            raise PowerCut


def everything_in(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return mode and content of all that lies below a folder, of a link where it leads."""
    found = {}
    for path in sorted(root.rglob("*")):
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        if path.is_symlink():
            content = str(path.readlink()).encode()
        found[str(path.relative_to(root))] = (path.lstat().st_mode, content)
    return found
