"""AWS Lambda: tell CloudFront's key-value store which release is the newest.

Called when `current.json` is written, and once a minute in case a call was lost. It never trusts the call: it takes the
store's ETag first, reads the pointer after it, and writes only if the store did not change in between. So whatever
order calls arrive in, an older release never replaces a newer one.
"""

from __future__ import annotations

import json
import logging
import os
import re
from typing import Any

KEY = "release"
TRIES = 5
LARGEST_VALUE = 1_024
TOKEN = 5
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
log = logging.getLogger("pointer")


def handler(_event: object, _context: object) -> dict[str, str]:
    """Do it with the clients of this account; the Lambda's entry point."""
    import boto3  # noqa: PLC0415  there where Lambda runs it

    bucket, prefix = os.environ["BUCKET"], os.environ.get("PREFIX", "")
    value = update(boto3.client("s3"), boto3.client("cloudfront-keyvaluestore"), bucket, prefix, os.environ["KVS_ARN"])
    return {"generation": value[:12]}


def update(s3: Any, kvs: Any, bucket: str, prefix: str, store: str) -> str:
    """Bring the store up to the pointer.

    Args:
        s3: client of S3.
        kvs: client of cloudfront-keyvaluestore.
        bucket: where the site is published.
        prefix: of the site in it, "" or with its slash.
        store: ARN of the key-value store.

    Raises:
        ValueError: the pointer names no generation.
        RuntimeError: the store changed under every try.

    Returns:
        The value that stands now.
    """
    for _ in range(TRIES):
        etag = kvs.describe_key_value_store(KvsARN=store)["ETag"]
        value = _value(s3, bucket, prefix)
        try:
            if kvs.get_key(KvsARN=store, Key=KEY)["Value"] == value:
                return value
        except kvs.exceptions.ResourceNotFoundException:
            pass
        try:
            kvs.put_key(KvsARN=store, Key=KEY, Value=value, IfMatch=etag)
        except kvs.exceptions.ConflictException:
            continue
        return value
    raise RuntimeError(f"the key-value store changed under {TRIES} tries")


def _value(s3: Any, bucket: str, prefix: str) -> str:
    body = s3.get_object(Bucket=bucket, Key=f"{prefix}current.json")["Body"].read()
    generation = json.loads(body)["generation"]
    if not isinstance(generation, str) or not re.fullmatch(r"[0-9]{12}", generation):
        raise ValueError("current.json names no generation")
    return generation + variants(_paths(s3, bucket, f"{prefix}g/{generation}"))


def _paths(s3: Any, bucket: str, release: str) -> set[str]:
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{release}/")
    return {row["Key"][len(release) :] for page in pages for row in page.get("Contents", [])}


def variants(paths: set[str]) -> str:
    """Return five characters for each path that has both variants beside it, as request.js reads them."""
    plain = {path for path in paths if not (path.endswith((".br", ".gz")) and path[:-3] in paths)}
    packed = sorted(path for path in plain if path + ".br" in paths and path + ".gz" in paths)
    # A path that looks like one with variants would be looked for under a name that does not exist.
    mistaken = {token(path) for path in plain.difference(packed)}
    tokens = [each for each in map(token, packed) if each not in mistaken]
    room = (LARGEST_VALUE - 12) // TOKEN
    if len(tokens) > room:
        log.warning("%d paths have variants, only %d are served compressed", len(tokens), room)
    return "".join(tokens[:room])


def token(path: str) -> str:
    """Return thirty bits of a path; request.js computes the same."""
    total = 5381
    for letter in path:
        total = (total * 33 + ord(letter)) % 2**30
    return "".join(LETTERS[total // 64**place % 64] for place in range(TOKEN))
