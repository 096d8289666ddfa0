"""The inbox folder."""

import asyncio
import os
from pathlib import Path

from generator.arena.ballots import MAX_FILE_BYTES, Refusal
from generator.inbox.folder import Inbox


def put(folder: Path, name: str, data: bytes = b"x", mtime: int = 1_000) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(data)
    os.utime(path, (mtime, mtime))
    return path


def test_a_missing_folder_holds_no_ballots(tmp_path: Path) -> None:
    assert Inbox(tmp_path / "none").files() == ()


def test_files_come_oldest_first_with_their_arrival(tmp_path: Path) -> None:
    put(tmp_path, "b", b"later", 2_000)
    put(tmp_path, "a", b"first", 1_000)

    files = Inbox(tmp_path).files()

    assert [(file.name, file.data, file.arrived_ms) for file in files] == [
        ("a", b"first", 1_000_000),
        ("b", b"later", 2_000_000),
    ]


def test_half_written_files_and_folders_are_left_alone(tmp_path: Path) -> None:
    put(tmp_path, ".hidden")
    put(tmp_path, "half.tmp")
    (tmp_path / "rejected").mkdir()

    assert Inbox(tmp_path).files() == ()


def test_large_files_links_and_pipes_are_named_and_not_read(tmp_path: Path) -> None:
    secret = put(tmp_path / "elsewhere", "secret", b"not for the inbox")
    inbox = tmp_path / "inbox"
    put(inbox, "large", b"A" * 100_000)
    (inbox / "link").symlink_to(secret)
    os.mkfifo(inbox / "pipe")

    files = {file.name: (file.refusal, file.data) for file in Inbox(inbox).files()}

    assert files == {
        "large": (Refusal.TOO_LARGE, b""),
        "link": (Refusal.UNREADABLE, b""),
        "pipe": (Refusal.UNREADABLE, b""),
    }


def test_of_a_flood_the_oldest_half_is_read_and_the_rest_is_drawn(tmp_path: Path) -> None:
    for number in range(100):
        put(tmp_path, f"f{number:02d}", mtime=1_000 + number)

    names = [file.name for file in Inbox(tmp_path).files(at_once=20)]

    assert len(set(names)) == 20
    assert names[:10] == [f"f{number:02d}" for number in range(10)]
    assert names[10:] == sorted(names[10:])


def test_a_file_that_arrived_after_reading_stays(tmp_path: Path) -> None:
    put(tmp_path, "read")
    inbox = Inbox(tmp_path)
    asyncio.run(inbox.read(None))
    put(tmp_path, "new")

    inbox.clear()

    assert [file.name for file in inbox.files()] == ["new"]


def test_a_refused_file_is_removed_and_other_names_of_it_stay_whole(tmp_path: Path) -> None:
    other = put(tmp_path / "elsewhere", "other", b"O" * 10_000)
    inbox = tmp_path / "inbox"
    put(inbox, "exact", b"E" * MAX_FILE_BYTES)
    put(inbox, "huge", b"G" * 100_000)
    (inbox / "hard").hardlink_to(other)
    (inbox / "soft").symlink_to(other)
    found = Inbox(inbox)
    asyncio.run(found.read(None))
    found.clear()

    assert list(inbox.iterdir()) == []
    assert other.read_bytes() == b"O" * 10_000
