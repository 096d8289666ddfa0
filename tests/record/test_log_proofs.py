"""Proofs of inclusion and of extension, against the plain definitions and an independent check."""

import hashlib
import random

import pytest

from generator.record.log.proofs import TreeHashes, consistency_proof, inclusion_proof, root_from_inclusion
from generator.record.log.tiles import Tile, leaf_hash
from tests.support.published_log import content
from tests.support.rfc6962 import mth as root
from tests.support.witness import is_extension

SIZES = (1, 2, 3, 7, 8, 255, 256, 257, 511, 700)
ENTRIES = [b"%d" % number for number in range(max(SIZES))]
LEAVES = [leaf_hash(entry) for entry in ENTRIES]


def tree(size: int) -> TreeHashes:
    return TreeHashes(size, lambda tile: content(tile, ENTRIES[:size]))


@pytest.mark.parametrize("size", SIZES)
def test_an_inclusion_proof_leads_from_the_entry_to_the_root(size: int) -> None:
    for index in {0, size // 3, size // 2, size - 1}:
        proof = inclusion_proof(tree(size), index)

        assert root_from_inclusion(LEAVES[index], index, size, proof) == root(ENTRIES[:size])


@pytest.mark.parametrize("size", SIZES)
def test_a_consistency_proof_convinces_who_saw_an_earlier_head(size: int) -> None:
    for old in {0, 1, size // 3, size // 2, size - 1, size}:
        proof = consistency_proof(tree(size), old)

        assert is_extension(old, root(ENTRIES[:old]), size, root(ENTRIES[:size]), proof)


@pytest.mark.parametrize(("begin", "end"), [(0, 700), (512, 700), (640, 700), (4, 7), (256, 511)])
def test_the_root_of_a_part_of_the_log_is_that_of_its_entries(begin: int, end: int) -> None:
    assert tree(700).root(begin, end) == root(ENTRIES[begin:end])


def test_a_proof_of_another_entry_place_or_size_is_refused() -> None:
    chance = random.Random(7)
    size = 300
    truth = root(ENTRIES[:size])
    for _ in range(200):
        index = chance.randrange(size)
        proof = inclusion_proof(tree(size), index)
        place = chance.randrange(len(proof))
        forged = [*proof[:place], hashlib.sha256(proof[place]).digest(), *proof[place + 1 :]]

        assert root_from_inclusion(LEAVES[index], index, size, forged) != truth
        assert root_from_inclusion(LEAVES[index - 1], index, size, proof) != truth
        with pytest.raises(ValueError, match=r"too (long|short)"):
            root_from_inclusion(LEAVES[index], index, size, [*proof, truth])
        with pytest.raises(ValueError, match="too short"):
            root_from_inclusion(LEAVES[index], index, size, proof[:-1])


@pytest.mark.parametrize("index", [-1, 5])
def test_an_entry_outside_the_log_has_no_proof(index: int) -> None:
    with pytest.raises(ValueError, match="not in a log of"):
        inclusion_proof(tree(5), index)
    with pytest.raises(ValueError, match="not in a log of"):
        root_from_inclusion(LEAVES[0], index, 5, [])


def test_a_log_does_not_extend_a_larger_one() -> None:
    with pytest.raises(ValueError, match="does not extend"):
        consistency_proof(tree(5), 6)


def test_only_the_tiles_of_the_tree_are_read() -> None:
    asked: list[Tile] = []

    def read(tile: Tile) -> bytes:
        asked.append(tile)
        return content(tile, ENTRIES[:700])

    inclusion_proof(TreeHashes(700, read), 300)

    assert {tile.path for tile in asked} <= {"tile/0/001", "tile/0/002.p/188", "tile/1/000.p/2"}
