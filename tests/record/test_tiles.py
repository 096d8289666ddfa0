"""Tiles by C2SP tlog-tiles, with the standard's own examples."""

import pytest

from generator.record.log.tiles import Tile, bundle, tiles_between, unbundle


@pytest.mark.parametrize(
    ("tile", "path"),
    [
        (Tile(0, 0), "tile/0/000"),
        (Tile(0, 999), "tile/0/999"),
        (Tile(0, 1000), "tile/0/x001/000"),
        (Tile(0, 1_234_067), "tile/0/x001/x234/067"),
        (Tile(1, 5, 17), "tile/1/005.p/17"),
        (Tile(None, 1_234_067, 255), "tile/entries/x001/x234/067.p/255"),
    ],
)
def test_a_tile_s_path_is_the_standard_s(tile: Tile, path: str) -> None:
    assert tile.path == path


def test_a_tree_of_70000_has_the_tiles_of_the_standard_s_example() -> None:
    tiles = list(tiles_between(0, 70_000))

    full = {level: sum(tile.level == level and tile.width == 256 for tile in tiles) for level in (0, 1, 2)}
    partial = {tile.level: tile.width for tile in tiles if tile.width < 256}
    assert full == {0: 273, 1: 1, 2: 0}
    assert partial == {None: 112, 0: 112, 1: 17, 2: 1}


def test_a_tree_of_256_has_a_full_tile_and_one_hash_above_it() -> None:
    assert [tile.path for tile in tiles_between(0, 256)] == ["tile/entries/000", "tile/0/000", "tile/1/000.p/1"]


@pytest.mark.parametrize(("old", "new"), [(0, 1), (1, 300), (255, 256), (256, 257), (500, 66_000)])
def test_growing_in_steps_gives_the_tiles_of_growing_at_once(old: int, new: int) -> None:
    at_once = {tile.path for tile in tiles_between(0, new)}
    in_steps = {tile.path for tile in tiles_between(0, old)} | {tile.path for tile in tiles_between(old, new)}

    assert at_once <= in_steps


def test_a_bundle_gives_its_entries_back() -> None:
    entries = [b"", b"a", b"x" * 65_535]

    assert unbundle(bundle(entries)) == entries


def test_an_entry_that_is_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match="65535"):
        bundle([b"x" * 65_536])


@pytest.mark.parametrize("data", [b"\x00", b"\x00\x02a", bundle([b"ab"]) + b"\x00", bundle([b"ab"])[:-1]])
def test_a_bundle_without_its_end_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^an entry bundle is cut$"):
        unbundle(data)
