"""What generator and gateway each hold for themselves, since neither imports the other, is the same in both."""

from __future__ import annotations

from itertools import product

import pytest

from gateway.app.site_files import CONTENT_TYPES, NAMED_TYPES
from gateway.settings import DEMO_ARENA
from gateway.vault import bucket as vault_store
from gateway.vault.bucket_url import overlap, plain_bucket_url
from gateway.wire import networks as gateway_networks
from generator.arena.address import default_address
from generator.catalog import networks as generator_networks
from generator.wings.bucket import store
from generator.wings.bucket.types import BY_ENDING, BY_PATH, content_type
from generator.wings.bucket.url import BucketUrl

URLS = (
    "s3://bucket",
    "s3://bucket/",
    "s3://bucket/site",
    "s3://bucket//site/",
    "s3://bucket/site/deep",
    "s3://bucket/site-two",
    "s3://other/site",
    "gs://bucket/site",
    "az://container/site",
)
WRONG = (
    "",
    "s3://",
    "s3:///site",
    "s3:bucket/site",
    "S4://bucket/site",
    "https://bucket/site",
    "/a/folder",
    "file:///a/folder",
    "s3://key:secret@bucket/site",
    "s3://bucket/site?region=x",
    "s3://bucket/site#part",
    "s3://bucket/../site",
    "s3://bucket/a b",
    "s3://bucket/ä",
)


def test_files_with_an_ending_have_the_same_type_from_disk_and_from_a_bucket() -> None:
    assert dict(CONTENT_TYPES) == BY_ENDING


@pytest.mark.parametrize("path", sorted({*NAMED_TYPES, *BY_PATH}))
def test_a_file_with_a_type_of_its_own_has_it_in_both(path: str) -> None:
    ending = "." + path.rpartition("/")[2].rpartition(".")[2]

    assert content_type(path) == (NAMED_TYPES.get(path) or CONTENT_TYPES[ending])


def test_ballots_go_to_the_same_address_where_none_is_set() -> None:
    assert default_address() == DEMO_ARENA


def test_the_networks_are_the_same() -> None:
    ours, theirs = (
        {
            name: (network.name, network.genesis_id, network.genesis_hash, network.asset_id, network.caip2)
            for name, network in module.NETWORKS.items()
        }
        for module in (generator_networks, gateway_networks)
    )

    assert ours == theirs


@pytest.mark.parametrize("url", URLS)
def test_a_bucket_is_spelled_one_way(url: str) -> None:
    assert plain_bucket_url(url) == str(BucketUrl.parse(url))


@pytest.mark.parametrize("url", WRONG)
def test_a_url_that_is_no_bucket_is_refused_with_the_same_words(url: str) -> None:
    with pytest.raises(ValueError, match=r"must be one of|do not belong in a URL") as ours:
        BucketUrl.parse(url)
    with pytest.raises(ValueError, match=r"must be one of|do not belong in a URL") as theirs:
        plain_bucket_url(url)

    assert str(ours.value) == str(theirs.value)


def test_both_see_the_same_prefixes_overlap() -> None:
    pairs = list(product(URLS, URLS))

    ours = [BucketUrl.parse(one).overlaps(BucketUrl.parse(other)) for one, other in pairs]
    theirs = [overlap(plain_bucket_url(one), plain_bucket_url(other)) for one, other in pairs]

    assert ours == theirs


@pytest.mark.parametrize("name", ["REQUEST_S", "CONNECT_S", "RETRIES", "RETRY_FOR_S", "TOLD", "ENDPOINTS"])
def test_a_store_is_asked_and_its_failures_told_the_same_way(name: str) -> None:
    assert getattr(vault_store, name) == getattr(store, name)
