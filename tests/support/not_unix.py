"""`python -m tests.support.not_unix COMMAND ...`: run `emi` commands, each a text, without what only Unix has.

Our code and its libraries find neither the modules nor the functions that Windows lacks, and get its answer where it
differs: a folder cannot be opened. The standard library keeps them, for here it is Unix's own. Locks are those of
`msvcrt`. Each command's exit code is printed on standard error.
"""

import builtins
import fcntl
import importlib.util
import os
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any, Final

MODULES: Final = frozenset(
    {"crypt", "fcntl", "grp", "nis", "posix", "pty", "pwd", "resource", "spwd", "syslog", "termios", "tty"}
)
NOT_IN_OS: Final = (
    *("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC", "chown", "fchmod", "fchown", "fork", "forkpty"),
    *("getegid", "geteuid", "getgid", "getgroups", "getpgid", "getuid", "killpg", "lchown", "mkfifo", "nice", "pread"),
    *("preadv", "pwrite", "pwritev", "setsid", "setuid", "statvfs", "sync", "sysconf", "posix_fallocate"),
)
LIBRARY: Final = sysconfig.get_path("stdlib")
REGIONS: Final[dict[int, set[tuple[int, int]]]] = {}  # that are locked: position and bytes, by descriptor
GUARDED: Final = ("mcp/server/stdio.py",)  # imports them where `sys.platform` says so
import_as_ever = builtins.__import__
open_as_ever = os.open
close_as_ever = os.close
find_as_ever = importlib.util.find_spec


def import_module(name: str, *args: Any, **named: Any) -> ModuleType:
    """Import as ever, but for what Windows has not, unless Python itself asks."""
    file = sys._getframe(1).f_code.co_filename
    if (not file.startswith(LIBRARY) or "site-packages" in file) and not file.endswith(GUARDED):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if name == "msvcrt":
            return LOCKS
    return import_as_ever(name, *args, **named)


def close_file(fd: int) -> None:
    """Close a file as ever; one with a locked region is our mistake."""
    assert not REGIONS.pop(fd, None), "closed with a locked region"
    close_as_ever(fd)


def open_file(path: Any, *args: Any, **named: Any) -> int:
    """Open a file as ever, and no folder."""
    if Path(path).is_dir():
        raise PermissionError(13, "Permission denied", str(path))
    return open_as_ever(path, *args, **named)


def locks() -> ModuleType:
    """Return what `msvcrt` has to lock bytes with; here it locks the file.

    As its documentation says, a region begins at the position in the file, is unlocked where it was locked, is locked
    once, and is unlocked before its file is closed, which `close_file` holds our code to.
    """
    module = ModuleType("msvcrt")

    def locking(descriptor: int, mode: int, count: int) -> None:
        region = (os.lseek(descriptor, 0, os.SEEK_CUR), count)
        held = REGIONS.setdefault(descriptor, set())
        if mode == module.LK_NBLCK and region not in held:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held.add(region)
        elif mode == module.LK_UNLCK and region in held:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            held.remove(region)
        else:
            raise PermissionError(13, "Permission denied")

    module.__dict__.update(locking=locking, LK_UNLCK=0, LK_NBLCK=2)
    return module


def find_spec(name: str, package: str | None = None) -> Any:
    """Find a module as ever, but none that Windows has not."""
    return None if name in MODULES else find_as_ever(name, package)


LOCKS: Final = locks()


def become_windows() -> None:
    """Refuse from now on."""
    for name in NOT_IN_OS:
        if hasattr(os, name):
            delattr(os, name)
    os.open = open_file
    os.close = close_file
    importlib.util.find_spec = find_spec
    builtins.__import__ = import_module


def run(command: str) -> object:
    """Run one command; return its exit code."""
    from generator.cli import main

    sys.argv = ["emi", *command.split()]
    try:
        main()
    except SystemExit as ended:
        return ended.code or 0
    return 0


if __name__ == "__main__":
    become_windows()
    for words in sys.argv[1:]:
        print(f"{words}: {run(words)}", file=sys.stderr, flush=True)
