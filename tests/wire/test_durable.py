"""A small file that is replaced whole."""

import os
import stat
from pathlib import Path

import pytest

from gateway.wire.durable import replace_file, replace_status


def test_a_file_is_replaced_with_its_mode_and_leaves_no_draft(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(b"old")
    before = os.umask(0o077)
    try:
        replace_file(file, b"new", 0o644)
    finally:
        os.umask(before)

    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new", 0o644)
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


@pytest.mark.parametrize(("folder", "mode"), [(0o1775, 0o644), (0o750, 0o640), (0o700, 0o600)])
def test_a_status_is_read_by_whoever_may_list_its_folder_and_by_no_one_else(
    tmp_path: Path, folder: int, mode: int
) -> None:
    tmp_path.chmod(folder)
    before = os.umask(0o077)
    try:
        replace_status(tmp_path / "status", b"well")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "status").stat().st_mode) == mode


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(b"old")
    (tmp_path / f".key.{os.getpid()}.new").mkdir()  # where the draft would lie

    with pytest.raises(OSError, match="directory"):
        replace_file(file, b"new")

    assert file.read_bytes() == b"old"
