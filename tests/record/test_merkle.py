"""The product's hashing against RFC 6962 as read a second time, for every small tree."""

import pytest

from generator.record.log.merkle import SubtreeRoot, leaf_hash, root_of, root_with_entry, roots_of_prefix
from tests.support import rfc6962

ENTRIES = [f"entry {number}".encode() for number in range(40)]


def roots(begin: int, end: int) -> bytes:
    return root_of([leaf_hash(entry) for entry in ENTRIES[begin:end]])


@pytest.mark.parametrize("size", range(1, 40))
def test_every_entry_leads_to_the_root_by_the_standard_s_audit_path(size: int) -> None:
    for index in range(size):
        asked: list[bytes] = []

        found = root_with_entry(ENTRIES[index], index, size, noted(asked))

        assert found == rfc6962.mth(ENTRIES[:size])
        assert sorted(asked) == sorted(rfc6962.path(index, ENTRIES[:size]))
        assert root_with_entry(b"forged", index, size, roots) != found


@pytest.mark.parametrize("new", range(1, 40))
def test_every_prefix_has_both_roots_of_the_standard_by_its_consistency_proof(new: int) -> None:
    for old in range(1, new + 1):
        asked: list[bytes] = []

        found = roots_of_prefix(old, new, noted(asked))

        assert found == (rfc6962.mth(ENTRIES[:old]), rfc6962.mth(ENTRIES[:new]))
        assert set(rfc6962.proof(old, ENTRIES[:new])) <= set(asked)


def noted(asked: list[bytes]) -> SubtreeRoot:
    """Give the ranges' hashes, and note which were asked for."""

    def root(begin: int, end: int) -> bytes:
        asked.append(roots(begin, end))
        return asked[-1]

    return root
