"""The inbox folder."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.wire.algorand import address_of
from gateway.wire.inbox import EARLIER_VOTERS, MOST_VOTERS, OPEN_ROUND, AnnouncedRound, pack_voters, unpack_voters
from generator.arena.ballots import MAX_FILE_BYTES, Refusal
from generator.record.inbox.folder import Inbox


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
    asyncio.run(inbox.receive(None))
    put(tmp_path, "new")

    inbox.acknowledge()

    assert [file.name for file in inbox.files()] == ["new"]


def test_a_refused_file_is_removed_and_other_names_of_it_stay_whole(tmp_path: Path) -> None:
    other = put(tmp_path / "elsewhere", "other", b"O" * 10_000)
    inbox = tmp_path / "inbox"
    put(inbox, "exact", b"E" * MAX_FILE_BYTES)
    put(inbox, "huge", b"G" * 100_000)
    (inbox / "hard").hardlink_to(other)
    (inbox / "soft").symlink_to(other)
    found = Inbox(inbox)
    asyncio.run(found.receive(None))
    found.acknowledge()

    assert list(inbox.iterdir()) == []
    assert other.read_bytes() == b"O" * 10_000


# What it says to those who add ballots

VOTERS = tuple(address_of(bytes([number]) * 32) for number in range(3))
TAKING = AnnouncedRound("BTC-20261120-130000", 2_000, 1_000)


def said(folder: Path) -> tuple[AnnouncedRound, frozenset[bytes]]:
    return AnnouncedRound.of((folder / OPEN_ROUND).read_bytes()), unpack_voters((folder / EARLIER_VOTERS).read_bytes())


def test_the_open_round_and_the_earlier_voters_are_said_and_are_no_ballots(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "inbox")
    inbox.announce(TAKING, VOTERS)

    assert said(inbox.folder) == (TAKING, frozenset(bytes([number]) * 32 for number in range(3)))
    assert (inbox.folder / EARLIER_VOTERS).stat().st_mode & 0o777 == 0o640
    assert inbox.files() == ()


def test_earlier_voters_are_written_when_they_are_others_or_gone(tmp_path: Path) -> None:
    inbox, written = Inbox(tmp_path / "inbox"), []
    for voters in (VOTERS, VOTERS, VOTERS[:2]):
        inbox.announce(TAKING, voters)
        written.append((inbox.folder / EARLIER_VOTERS).stat().st_ino)
    (inbox.folder / EARLIER_VOTERS).unlink()
    inbox.announce(TAKING, VOTERS[:2])

    assert written[0] == written[1] != written[2]
    assert len(said(inbox.folder)[1]) == 2


def test_a_generator_from_before_ballots_had_forms_is_understood() -> None:
    words_alone = [AnnouncedRound.of(b"BTC-20261120-130000 2000 1000"), replace(TAKING, form=2)]

    assert words_alone[0] == words_alone[1] == AnnouncedRound.of(words_alone[1].content())
    assert [TAKING.takes_chances, words_alone[0].takes_chances] == [True, False]
    for form in (b"1", b"4", b"3 3"):
        with pytest.raises(ValueError, match="another form"):
            AnnouncedRound.of(b"BTC-20261120-130000 2000 1000 " + form)


def test_no_more_earlier_voters_are_named_than_a_gateway_reads() -> None:
    packed = pack_voters(number.to_bytes(32, "big") for number in range(MOST_VOTERS + 5))

    assert len(unpack_voters(packed)) == MOST_VOTERS
