"""The product's hashing against RFC 6962 as read a second time, for every small tree."""

from __future__ import annotations

import pytest

from generator.record.log.merkle import (
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    root_by_inclusion,
    root_of,
    roots_by_consistency,
)
from tests.support import rfc6962

ENTRIES = [f"entry {number}".encode() for number in range(40)]


def roots(begin: int, end: int) -> bytes:
    return root_of([leaf_hash(entry) for entry in ENTRIES[begin:end]])


@pytest.mark.parametrize("size", range(40))
def test_the_root_is_the_standard_s(size: int) -> None:
    assert roots(0, size) == rfc6962.mth(ENTRIES[:size])


@pytest.mark.parametrize("size", range(1, 40))
def test_every_audit_path_is_the_standard_s_and_leads_to_the_root(size: int) -> None:
    for index in range(size):
        proof = inclusion_proof(index, size, roots)

        assert proof == rfc6962.path(index, ENTRIES[:size])
        assert root_by_inclusion(ENTRIES[index], index, size, proof) == roots(0, size)


@pytest.mark.parametrize("new", range(1, 40))
def test_every_consistency_proof_is_the_standard_s_and_leads_to_both_roots(new: int) -> None:
    for old in range(1, new + 1):
        proof = consistency_proof(old, new, roots)

        assert proof == rfc6962.proof(old, ENTRIES[:new])
        assert roots_by_consistency(old, new, roots(0, old), proof) == (roots(0, old), roots(0, new))


def test_another_entry_leads_to_another_root() -> None:
    proof = inclusion_proof(5, 13, roots)

    assert root_by_inclusion(b"forged", 5, 13, proof) != roots(0, 13)


def test_a_changed_early_tree_is_not_the_beginning_of_the_later_one() -> None:
    proof = consistency_proof(8, 13, roots)
    forged = root_of([leaf_hash(b"forged"), *(leaf_hash(entry) for entry in ENTRIES[1:8])])

    assert roots_by_consistency(8, 13, forged, proof)[1] != roots(0, 13)


@pytest.mark.parametrize("old", [3, 5, 6, 7, 9, 11])
def test_a_changed_early_tree_is_found_by_its_own_root(old: int) -> None:
    proof = consistency_proof(old, 13, roots)
    forged = root_of([leaf_hash(b"forged"), *(leaf_hash(entry) for entry in ENTRIES[1:old])])

    assert roots_by_consistency(old, 13, forged, proof)[0] != forged


def test_a_proof_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="hashes, not 0"):
        root_by_inclusion(ENTRIES[0], 0, 13, [])
    with pytest.raises(ValueError, match="another length"):
        roots_by_consistency(5, 13, roots(0, 5), [])


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_an_entry_outside_of_the_tree_has_no_path(index: int, size: int) -> None:
    with pytest.raises(ValueError, match="is not in a tree"):
        inclusion_proof(index, size, roots)


@pytest.mark.parametrize(("old", "new"), [(-1, 3), (4, 3)])
def test_a_tree_that_shrank_has_no_consistency_proof(old: int, new: int) -> None:
    with pytest.raises(ValueError, match="begins with"):
        consistency_proof(old, new, roots)
