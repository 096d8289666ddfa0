"""Compressed variants."""

import gzip
import json
import random
import zlib

import brotli
import pytest

from generator.release.variants import Variants


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


def test_only_what_changed_is_packed_again_and_what_lasts_is_packed_best() -> None:
    text = json.dumps([number * 7919 % 10_007 for number in range(4_000)]).encode()
    variants = Variants()

    seldom = variants.add({"/openapi.json": text}, lasting={"/openapi.json"})
    again = variants.add({"/openapi.json": text, "/b.json": text + b" "}, lasting={"/openapi.json"})

    assert again["/openapi.json.br"] is seldom["/openapi.json.br"]
    assert len(again["/openapi.json.gz"]) < len(again["/b.json.gz"])
    assert gzip.decompress(again["/b.json.gz"]) == brotli.decompress(again["/b.json.br"]) == text + b" "


WORDS = ("calm", "normal", "elevated", "extreme", "unknown")


def test_the_two_variants_of_a_file_are_never_of_one_length() -> None:
    chance = random.Random(7)
    texts = {
        f"/{place}.txt": json.dumps(chance.choices(WORDS, k=chance.randrange(150, 600))).encode()
        for place in range(400)
    }

    files = Variants().add(texts)

    pairs = [(files[f"{path}.gz"], files[f"{path}.br"], text) for path, text in texts.items()]
    assert all(len(zipped) != len(packed) for zipped, packed, _ in pairs)
    assert all(gzip.decompress(zipped) == text for zipped, _, text in pairs)
    assert {zipped[3] for zipped, _, _ in pairs} == {0, 8}  # no flag, or that of a file's name (RFC 1952)
    named = [zipped for zipped, _, _ in pairs if zipped[3]]
    assert named  # some would have been
    assert all(zlib.decompress(zipped, wbits=31) for zipped in named)


def of_repetition_and_noise(length: int) -> bytes:
    """Return 4,000 bytes of which so many compress to nearly nothing and the others not at all."""
    return b"a" * length + random.Random(length).randbytes(4_000 - length)


def test_a_variant_is_kept_only_where_it_is_a_tenth_smaller() -> None:
    kept = {}
    for length in range(0, 4_000, 50):
        text = of_repetition_and_noise(length)
        files = Variants().add({"/a.txt": text})
        for ending, packed in ((".gz", gzip.compress(text, 4, mtime=0)), (".br", brotli.compress(text, quality=4))):
            kept[ending, length] = (f"/a.txt{ending}" in files, len(packed) < 0.9 * len(text))

    assert all(there == smaller for there, smaller in kept.values())
    assert {there for there, _ in kept.values()} == {True, False}


KINDS = (".php", ".json", ".html", ".txt", ".xml", ".yaml", ".css", ".js", ".svg", ".md", "/api-catalog", "/x402")


def test_every_kind_of_text_gets_variants_and_nothing_else_does() -> None:
    text = b"words and words " * 100

    files = Variants().add({f"/a{ending}": text for ending in (*KINDS, ".png", ".gz", ".csv.br")})

    assert {path for path in files if path.endswith(".gz") and f"{path[:-3]}" in files} == {
        f"/a{end}.gz" for end in KINDS
    }


@pytest.mark.parametrize(("size", "count"), [(999, 1), (1_000, 3)])
def test_what_is_smaller_than_a_thousand_bytes_gets_none(size: int, count: int) -> None:
    assert len(Variants().add({"/a.txt": b"a" * size})) == count


@pytest.mark.parametrize(
    ("size", "lasting", "levels"),
    [(65_535, (), (4, 4)), (65_536, (), (1, 2)), (65_536, ("/a.txt",), (9, 6)), (2_000, ("/a.txt",), (9, 6))],
)
def test_what_changes_often_or_is_large_is_packed_quickly(
    size: int, lasting: tuple[str, ...], levels: tuple[int, int]
) -> None:
    text = (json.dumps([number * 7919 % 10_007 for number in range(12_000)]).encode())[:size]
    gzip_level, brotli_quality = levels

    files = Variants().add({"/a.txt": text}, lasting)

    assert files["/a.txt.br"] == brotli.compress(text, quality=brotli_quality)
    assert files["/a.txt.gz"] == gzip.compress(text, compresslevel=gzip_level, mtime=0)
