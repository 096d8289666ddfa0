"""Reading a log: every entry is given, and what was tampered with is named."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from generator.record.log.note import Checkpoint
from generator.record.published import PREFIX
from generator.record.verify import VerifyError, entries
from tests.support.published_log import head_of, publish

ENTRIES = [f"entry {number}".encode() for number in range(600)]
HEAD = head_of(ENTRIES)


def read(files: dict[str, bytes], head: Checkpoint = HEAD, *known: Checkpoint) -> list[bytes]:
    return list(entries(lambda path: files[path.removeprefix(PREFIX)], head, *known))


@pytest.mark.parametrize("old", [0, 1, 255, 256, 257, 512, 599, 600])
def test_every_entry_is_given_where_the_log_begins_with_what_was_seen(old: int) -> None:
    assert read(publish(ENTRIES), HEAD, head_of(ENTRIES[:old])) == ENTRIES


@pytest.mark.parametrize("old", [1, 3, 256, 257, 599, 600])
def test_a_changed_history_is_named(old: int) -> None:
    forged = head_of([b"forged", *ENTRIES[1:old]])

    with pytest.raises(VerifyError, match=f"the first {old} entries are not those .*: history was changed"):
        read(publish(ENTRIES), HEAD, forged)


def test_a_log_that_shrank_is_named() -> None:
    with pytest.raises(VerifyError, match="entries were removed"):
        read(publish(ENTRIES[:300]), head_of(ENTRIES[:300]), HEAD)


TAMPERED: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "changed": lambda log: [*log[:150], b"forged", *log[151:]],
    "dropped": lambda log: [*log[:150], *log[151:], b"filler"],
    "swapped": lambda log: [*log[:150], log[151], log[150], *log[152:]],
}


@pytest.mark.parametrize("name", TAMPERED)
def test_tampered_entries_do_not_lead_to_the_signed_root(name: str) -> None:
    with pytest.raises(VerifyError, match="do not lead to the signed root"):
        read(publish(TAMPERED[name](ENTRIES)))
    with pytest.raises(VerifyError, match="do not lead to the signed root"):
        read(publish(ENTRIES), replace(HEAD, root=bytes(32)))


@pytest.mark.parametrize("path", ["tile/entries/000", "tile/entries/002.p/88"])
@pytest.mark.parametrize("cut", [1, 10])
def test_a_cut_bundle_is_named_never_a_traceback(path: str, cut: int) -> None:
    files = publish(ENTRIES)
    files[path] = files[path][:-cut]

    with pytest.raises(VerifyError, match=path):
        read(files)


@pytest.mark.parametrize("old", [1, 88, 255])
def test_of_a_partial_tile_that_is_gone_the_full_one_is_read(old: int) -> None:
    files = {path: data for path, data in publish(ENTRIES).items() if ".p/" not in path}

    found = list(entries(lambda path: files.get(path.removeprefix(PREFIX)), head_of(ENTRIES[:old])))

    assert found == ENTRIES[:old]


@pytest.mark.parametrize("path", ["tile/0/000", "tile/0/001", "tile/0/002.p/88", "tile/1/000.p/2"])
@pytest.mark.parametrize("damage", [lambda data: data[:-32], lambda data: data[:-1] + b"?", lambda data: data * 2])
def test_a_damaged_tile_of_hashes_is_named(path: str, damage: Callable[[bytes], bytes]) -> None:
    files = publish(ENTRIES)
    files[path] = damage(files[path])

    with pytest.raises(VerifyError, match=f"{path} does not hold the hashes"):
        read(files)


def test_a_missing_tile_of_hashes_is_named() -> None:
    files = publish(ENTRIES)
    del files["tile/1/000.p/2"]

    with pytest.raises(VerifyError, match=r"tile/1/000\.p/2: nothing is published there"):
        list(entries(lambda path: files.get(path.removeprefix(PREFIX)), HEAD))
