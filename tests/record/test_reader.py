"""Reading a log: what is right is proved with few requests, what was tampered with is named."""

from dataclasses import replace

import pytest

from generator.record.log.note import Checkpoint
from generator.record.log.reader import LogError, LogReader
from generator.record.log.tiles import Tile
from tests.support.published_log import head_of, publish

ENTRIES = [f"entry {number}".encode() for number in range(66_300)]  # three levels of tiles
SMALL = ENTRIES[:300]


class Server:
    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.asked: list[str] = []

    def __call__(self, tile: Tile) -> bytes:
        self.asked.append(tile.path)
        return self.files[tile.path]


@pytest.fixture(scope="module")
def large() -> dict[str, bytes]:
    return publish(ENTRIES)


HEAD = head_of(ENTRIES)


@pytest.mark.parametrize("index", [0, 255, 256, 65_535, 65_536, 66_047, 66_048, 66_299])
def test_an_entry_is_proved_with_few_requests(large: dict[str, bytes], index: int) -> None:
    server = Server(large)

    assert LogReader(server, HEAD).entry(index) == ENTRIES[index]
    assert len(server.asked) == len(set(server.asked)) <= 7


@pytest.mark.parametrize("old", [0, 1, 255, 256, 257, 65_536, 65_537, 66_299, 66_300])
def test_an_earlier_head_is_the_beginning_of_the_log(large: dict[str, bytes], old: int) -> None:
    LogReader(Server(large), HEAD).check_extends(head_of(ENTRIES[:old]))


@pytest.mark.parametrize("old", [1, 3, 256, 257, 299, 300])
def test_a_changed_history_is_not_a_beginning(old: int) -> None:
    forged = head_of([b"forged", *SMALL[1:old]])

    with pytest.raises(LogError, match="history was changed"):
        LogReader(Server(publish(SMALL)), head_of(SMALL)).check_extends(forged)


def test_a_log_that_shrank_is_named() -> None:
    with pytest.raises(LogError, match="entries were removed"):
        LogReader(Server(publish(SMALL)), head_of(SMALL)).check_extends(head_of(ENTRIES[:301]))


def test_an_audit_yields_every_entry() -> None:
    assert list(LogReader(Server(publish(SMALL)), head_of(SMALL)).audit()) == SMALL


def changed(entries: list[bytes]) -> list[bytes]:
    return [*entries[:150], b"forged", *entries[151:]]


def dropped(entries: list[bytes]) -> list[bytes]:
    return [*entries[:150], *entries[151:], b"filler"]


def swapped(entries: list[bytes]) -> list[bytes]:
    return [*entries[:150], entries[151], entries[150], *entries[152:]]


@pytest.mark.parametrize("tamper", [changed, dropped, swapped])
def test_tampered_entries_do_not_lead_to_the_signed_root(tamper: object) -> None:
    assert callable(tamper)
    files = publish(tamper(SMALL))

    with pytest.raises(LogError, match="do not lead to the signed root"):
        list(LogReader(Server(files), head_of(SMALL)).audit())
    with pytest.raises(LogError, match="is not in the log"):
        LogReader(Server(files), head_of(SMALL)).entry(151 if tamper is swapped else 150)


def use_all(reader: LogReader) -> None:
    reader.check_extends(head_of(SMALL[:257]))
    for index in (0, 299):
        reader.entry(index)


@pytest.mark.parametrize("path", ["tile/entries/000", "tile/0/000", "tile/0/001.p/44", "tile/1/000.p/1"])
@pytest.mark.parametrize("cut", [1, 32])
def test_a_cut_tile_is_named_never_a_traceback(path: str, cut: int) -> None:
    files = publish(SMALL)
    files[path] = files[path][:-cut]

    with pytest.raises(LogError, match="tile"):
        use_all(LogReader(Server(files), head_of(SMALL)))


@pytest.mark.parametrize("index", [-1, 300])
def test_an_entry_that_is_not_there_is_named(index: int) -> None:
    with pytest.raises(LogError, match="the log has 300"):
        LogReader(Server({}), head_of(SMALL)).entry(index)


def test_a_head_with_another_root_proves_nothing() -> None:
    wrong: Checkpoint = replace(head_of(SMALL), root=bytes(32))

    with pytest.raises(LogError):
        LogReader(Server(publish(SMALL)), wrong).entry(3)
