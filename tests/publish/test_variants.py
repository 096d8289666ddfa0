"""Compressed variants."""

from __future__ import annotations

import gzip

import brotli

from generator.publish.variants import Variants


def test_a_large_text_gets_both_variants_that_unpack_to_it() -> None:
    data = b'{"word": "calm"}' * 200

    files = Variants().add({"/api/a.php": data})

    assert gzip.decompress(files["/api/a.php.gz"]) == data
    assert brotli.decompress(files["/api/a.php.br"]) == data


def test_a_small_file_gets_none() -> None:
    assert set(Variants().add({"/a.json": b"{}" * 100})) == {"/a.json"}


def test_the_same_content_gives_the_same_bytes_so_that_nothing_is_rewritten() -> None:
    variants = Variants()
    data = b'{"word": "calm"}' * 200

    assert variants.add({"/a.json": data}) == Variants().add({"/a.json": data})
