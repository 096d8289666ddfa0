"""A full file system: used-up inodes are named, and distinguished from a disk without bytes."""

import errno
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.wire.space import NO_INODES, has_no_inodes, reason_of

FULL = OSError(errno.ENOSPC, "No space left on device")


def file_system(*, inodes: int, free: int) -> Callable[[Path], Any]:
    return lambda _: SimpleNamespace(f_files=inodes, f_favail=free)


def test_used_up_inodes_are_named_and_a_full_disk_keeps_the_system_s_words() -> None:
    none_left, some_left = file_system(inodes=1000, free=0), file_system(inodes=1000, free=1)

    assert reason_of(FULL, Path("/x"), none_left) == NO_INODES
    assert reason_of(FULL, Path("/x"), some_left) == "No space left on device"
    assert reason_of(OSError(errno.EACCES, "Permission denied"), Path("/x"), none_left) == "Permission denied"


def test_a_file_system_that_counts_no_inodes_has_not_used_them_up() -> None:
    assert not has_no_inodes(Path("/x"), file_system(inodes=0, free=0))


def test_a_place_that_is_not_there_yet_is_judged_by_the_folder_above_it(tmp_path: Path) -> None:
    asked: list[Path] = []

    def ask(place: Path) -> Any:
        asked.append(place)
        place.stat()
        return SimpleNamespace(f_files=1, f_favail=0)

    assert has_no_inodes(tmp_path / "a" / "b", ask)
    assert asked == [tmp_path / "a" / "b", tmp_path / "a", tmp_path]


OPEN = """
import sys
from pathlib import Path
from generator.record.memory.store import Memory
from generator.release.release import Releases
from generator.errors import GeneratorError
from gateway.errors import LedgerUnreadable
from gateway.ledger.engine import open_engine
for use in (lambda: Memory.open("sqlite:///memory.sqlite3"), lambda: Releases(Path("site")).open(),
            lambda: open_engine("sqlite:///ledger.sqlite3")):
    try:
        use()
    except (GeneratorError, LedgerUnreadable) as error:
        print(error)
"""


def test_memory_site_and_ledger_name_used_up_inodes_on_a_real_file_system(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o nr_inodes=2,size=1m none {small}"
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("a file system of its own needs user namespaces (unshare -rm)")
    script = f"{mount} && cd {small} && touch used && exec {sys.executable} -c '{OPEN}'"

    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True, check=True)

    lines = done.stdout.splitlines()
    assert len(lines) == 3, done
    assert all("no inodes left" in line for line in lines), lines
