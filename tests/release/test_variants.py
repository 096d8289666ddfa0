"""Compressed variants."""

import gzip
import json
import random
import zlib

import brotli

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
