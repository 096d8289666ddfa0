"""OpenAPI and what stands beside it: written when it changes, taken over from what is published, renewed beside."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest
from ruamel.yaml import YAML

from generator.compose.all import compose
from generator.compose.context import Site
from generator.site.openapi.document import _yaml, is_twin, openapi_yaml
from generator.site.standing import Standing, make
from tests.support.builders import full_context
from tests.support.publish_fixture import SITE

Files = Mapping[str, bytes]
JSON, YAML_FILE = "/openapi.json", "/openapi.yaml"


@cache
def examples() -> dict[str, Any]:
    done = compose(full_context())
    return {key: body.as_json() for key, body in {**done.free, **done.paid}.items()}


def made_at() -> datetime:
    told = examples()["/api/market-regime.php"]["freshness"]["generated_at"]
    return datetime.fromisoformat(told).astimezone(UTC)


@cache
def published() -> Files:
    return make(SITE, examples(), made_at()).files


def showing(files: Files) -> Callable[[Iterable[str]], Files]:
    return lambda paths: {path: files[path] for path in paths if path in files}


def written() -> int:
    """Return how often a YAML was written, which takes longer than the rest of a release."""
    return _yaml.cache_info().misses


def taken(standing: Standing, at: datetime, site: Site = SITE) -> Files:
    return standing.files(site, examples(), at)


def test_the_yaml_says_of_which_json_it_is_the_twin_and_is_read_as_the_same() -> None:
    told, yaml = published()[JSON], published()[YAML_FILE]

    assert is_twin(yaml, told)
    assert yaml.startswith(b"# The same document as openapi.json of SHA-256 ")
    assert YAML(typ="safe", pure=True).load(yaml) == YAML(typ="safe", pure=True).load(told)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_process_goes_on_from_the_yaml_that_readers_have(at_once: bool) -> None:
    before = published()
    count = written()

    files = taken(Standing(showing(before), at_once=at_once), made_at() + timedelta(minutes=5))

    assert (files[JSON], files[YAML_FILE]) == (before[JSON], before[YAML_FILE])
    assert written() == count


FOREIGN: Mapping[str, Callable[[Files], Files]] = {
    "nothing is published": lambda _: {},
    "the yaml is missing": lambda files: {JSON: files[JSON]},
    "the yaml is torn": lambda files: {**files, YAML_FILE: files[YAML_FILE][:-1]},
    "a letter of the yaml is another": lambda files: {**files, YAML_FILE: files[YAML_FILE].replace(b"3.1.0", b"3.1.1")},
    "the yaml has no first line": lambda files: {**files, YAML_FILE: files[YAML_FILE].partition(b"\n")[2]},
    "the yaml is of another json": lambda files: {**files, JSON: files[JSON] + b" "},
    "both are of another site": lambda _: make(replace(SITE, project="Another"), {}, made_at()).files,
    "both are no document": lambda _: _twins(b"[]"),
    "both are of another version": lambda _: _twins(b'{"paths":{}}'),
}


def _twins(told: bytes) -> Files:
    return {JSON: told, YAML_FILE: _yaml(told)}


@pytest.mark.parametrize("case", FOREIGN)
@pytest.mark.parametrize("at_once", [True, False])
def test_a_yaml_that_cannot_be_tied_to_what_we_would_publish_is_not_used(case: str, at_once: bool) -> None:
    standing = Standing(showing(FOREIGN[case](published())), at_once=at_once)

    files = taken(standing, made_at())

    assert (files[JSON], files[YAML_FILE]) == (published()[JSON], published()[YAML_FILE])
    assert standing.schemas


@pytest.mark.parametrize("day", [0, 1], ids=["without examples", "with those of yesterday"])
def test_the_examples_of_today_come_in_the_second_release_and_hold_up_no_tick(day: int) -> None:
    before = published() if day else make(SITE, {}, made_at()).files
    at = made_at() + timedelta(days=day)
    standing = Standing(showing(before), at_once=False)

    first = taken(standing, at)
    standing._pool.submit(int).result()
    second = taken(standing, at + timedelta(minutes=1))
    standing._pool.submit(int).result()
    third = taken(standing, at + timedelta(minutes=2))

    assert first[YAML_FILE] == before[YAML_FILE]
    assert second is third
    assert second[YAML_FILE] == published()[YAML_FILE]


def test_a_single_release_has_the_examples_of_today() -> None:
    bare = make(SITE, {}, made_at()).files

    files = taken(Standing(showing(bare)), made_at())

    assert files[YAML_FILE] == published()[YAML_FILE]


def test_what_another_process_published_meanwhile_is_taken_after_a_doubt() -> None:
    shown = dict(make(SITE, {}, made_at()).files)
    standing = Standing(lambda paths: {path: shown[path] for path in paths}, at_once=False)
    standing._asked_on = made_at().date()  # nothing is being renewed
    taken(standing, made_at())
    shown.update(published())

    kept = taken(standing, made_at())[YAML_FILE]
    standing.doubt()
    followed = taken(standing, made_at())[YAML_FILE]

    assert (kept == shown[YAML_FILE], followed == shown[YAML_FILE]) == (False, True)


def test_a_renewal_that_fails_ends_no_tick() -> None:
    standing = Standing(showing(published()), at_once=False)
    tomorrow = made_at() + timedelta(days=1)
    unfit = {"/api/market-regime.php": {"a number": float("nan")}}

    for _ in range(3):
        files = standing.files(SITE, unfit, tomorrow)
        standing._pool.submit(int).result()

    assert files[YAML_FILE] == published()[YAML_FILE]


AMBIGUOUS = (
    "56:15", "1:30.5", "-1:02:03", "yes", "No", "on", "OFF", "y", "n", "0123", "0o17", "0x1F", "0b1", "1_000", "2026-11-20",
    "2026-11-20T09:53:00Z", "=", "<<", "~", "null", "", ".inf", ".NaN", "+.5", "1e3", "1.", "-", "?", "true", "# a", "a: b",
)  # fmt: skip


@pytest.mark.parametrize("version", [(1, 1), (1, 2)])
def test_readers_of_yaml_1_1_and_1_2_read_what_the_json_says(version: tuple[int, int]) -> None:
    document = {**dict.fromkeys(AMBIGUOUS, 1), "texts": list(AMBIGUOUS), "numbers": [1e-05, 1e16, 0.1, -3, 12, 1.5e-7]}
    reader = YAML(typ="safe", pure=True)
    reader.version = version

    assert reader.load(openapi_yaml(document)) == document


def test_the_most_used_reader_of_python_reads_what_the_json_says() -> None:
    py_yaml: Any = importlib.import_module("yaml")
    document = {**dict.fromkeys(AMBIGUOUS, 1), "texts": list(AMBIGUOUS), "numbers": [1e-05, 1e16, 0.1, -3, 12, 1.5e-7]}

    assert py_yaml.safe_load(openapi_yaml(document)) == document
    assert py_yaml.load(published()[YAML_FILE], Loader=py_yaml.CSafeLoader) == json.loads(published()[JSON])
