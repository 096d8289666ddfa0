"""Where an object store is, whether it may be asked over plain HTTP, and which prefixes overlap."""

import pytest

from gateway.wire.object_store import BucketUrl, endpoint_is_loopback, plain_error


@pytest.mark.parametrize(
    ("url", "expected"),
    [("s3://bucket/", "s3://bucket"), ("s3://bucket//site/", "s3://bucket/site"), ("az://c/a/b", "az://c/a/b")],
)
def test_a_bucket_url_has_one_spelling(url: str, expected: str) -> None:
    assert str(BucketUrl.parse(url)) == expected


def test_an_error_is_named_without_what_the_store_repeated() -> None:
    error = OSError("status 403 <Code>AccessDenied</Code> hunter2\n\nDebug source: error sending request")

    assert plain_error(error) == "OSError, status 403, AccessDenied"


@pytest.mark.parametrize(
    ("environment", "loopback"),
    [
        ({}, False),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9000"}, True),
        ({"AWS_ENDPOINT": "http://[::1]:9000"}, True),
        ({"AWS_ENDPOINT_URL": "http://localhost:9000"}, True),
        ({"AWS_ENDPOINT_URL": "http://localhost.example.com"}, False),
        ({"AWS_ENDPOINT_URL_S3": "https://s3.example.com", "AWS_ENDPOINT_URL": "http://127.0.0.1:9000"}, False),
    ],
)
def test_plain_http_is_allowed_to_a_loopback_endpoint_only(environment: dict[str, str], loopback: bool) -> None:
    assert endpoint_is_loopback(environment) is loopback


@pytest.mark.parametrize(
    "url",
    [
        "http://bucket/x",
        "file:///tmp/x",
        "s3://",
        "s3:///prefix",
        "s3://key:hunter2@bucket/x",
        "s3://bucket/x?token=hunter2",
        "s3://bucket/../other",
        "s3://bucket/a b",
        "memory://x",
        "S4://bucket/site",
        "s3:bucket/site",
        "",
        "/a/folder",
        "s3://bucket/ä",
    ],
)
def test_an_invalid_url_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match=r"must be one of|credentials") as caught:
        BucketUrl.parse(url)

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ("s3://b/site", "s3://b/vault", False),
        ("s3://b/site", "s3://b/site-2", False),
        ("s3://b/site", "s3://b/site/", True),
        ("s3://b/site", "s3://b/site/vault", True),
        ("s3://b", "s3://b/vault", True),
        ("s3://b/site", "s3://c/site", False),
        ("s3://b/site", "gs://b/site", False),
        ("s3://b//site", "s3://b/site", True),
    ],
)
def test_one_prefix_at_under_or_above_another_is_seen_both_ways(one: str, other: str, overlap: bool) -> None:
    first, second = BucketUrl.parse(one), BucketUrl.parse(other)

    assert first.overlaps(second) is overlap
    assert second.overlaps(first) is overlap
