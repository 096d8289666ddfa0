"""Every JSON file that is published has a schema, and is nothing but what its schema says."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.wire.receipts import PublicKey
from generator.catalog.links import DAILY_JSON, FEED_JSON, OPENAPI_FILES, OPENAPI_JSON, VOTERS_JSON
from generator.catalog.products import PRODUCTS
from generator.catalog.words import SourceMode
from generator.release.last_good import LastGoodFiles
from generator.runtime.bootstrap import bootstrap_files
from generator.runtime.tick import tick
from generator.site.files.sample import Sold, of_day
from generator.site.files.table import described, files_of
from generator.site.files.voters import running_voters, voters_of_month
from tests.record.test_daily import ASKED, MEASURED
from tests.site.test_feeds import AT, changes, state_changes
from tests.site.test_voters_files import played
from tests.support.bodies import bodies
from tests.support.builders import files_of_tick, full_context, site
from tests.support.clock import NOON, ManualClock
from tests.support.file_schemas import documents, faults, json_files, schema_path
from tests.support.page_view import rendered
from tests.support.services import opened


def contents(folder: Path) -> dict[str, bytes]:
    return {f"/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def young(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Everything that a service has published a minute after its start, whatever lies where."""
    folder = tmp_path_factory.mktemp("young")

    async def work() -> None:
        clock = ManualClock()
        async with opened(folder, clock, hours=3, background=True, days=1) as app:
            await tick(app, clock.now())
            await tick(app, clock.step(timedelta(minutes=1)))

    asyncio.run(work())
    return {**contents(folder / "site" / "current"), **contents(folder / "site" / "once")}


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of two days with votes and an answered question, of a month that is over, and of all news."""
    record = played(tmp_path_factory.mktemp("full"))
    record.publish()
    ballots = {path: data for path, data in contents(record.site).items() if path.startswith("/files/ballots/")}
    rows = record.memory.resolved_rounds(500)
    arena = record.memory.view(0)
    voters = list(record.memory.exports().voters(ASKED, MEASURED))
    record.memory.close()

    month = voters_of_month(voters, "2026-11", "simulated")
    files = [file for file, _ in month.listed]
    key = PublicKey(b"o" * 32, "2026-11-20T11:00:00Z")
    retired = PublicKey(b"p" * 32, "2026-11-20T11:00:00Z", "2026-11-21T00:00:00Z")
    tick_of_all = files_of_tick(
        arena=replace(full_context().arena, daily=arena.daily),
        at=AT,
        rounds=rows,
        offset_ms=86_400_000,
        changes=lambda: [*state_changes(), *changes()],
        practice_days=[AT],
        pages=rendered(),
        origin="https://a.example",
        receipt_keys=lambda: [key, retired],
    )
    assert len(ballots) == 2
    return {
        **ballots,
        **month.files,
        **{file.path: data for file, data in month.listed},
        **running_voters(voters, "2026-12", "simulated", files),
        **files_of(tick_of_all, LastGoodFiles()),
        **samples(),
    }


def samples() -> dict[str, bytes]:
    """Return the samples of a day that is over."""
    sold = {product: Sold(date(2026, 11, 20), bodies("full")[product.id].as_json()) for product in PRODUCTS}
    return {product.sample: json.dumps(of_day(answer, product)).encode() for product, answer in sold.items()}


def misfits(files: Mapping[str, bytes]) -> list[str]:
    return [fault for path, content in json_files(files).items() for fault in faults(path, content)]


def test_all_that_is_published_before_the_first_reading_fits() -> None:
    files = bootstrap_files(site(), SourceMode.SIMULATED, NOON)

    assert len(json_files(files)) > 25
    assert misfits(files) == []


def test_all_that_a_young_service_has_published_fits(young: dict[str, bytes]) -> None:
    assert len(json_files(young)) > 30
    assert misfits(young) == []


def test_the_files_of_a_record_with_votes_answers_and_a_month_that_is_over_fit(full: dict[str, bytes]) -> None:
    assert misfits(full) == []
    questions = json.loads(full[DAILY_JSON])["questions"]
    assert {row["phase"] for row in questions} >= {"open", "resolved"}
    assert {item["_emi"]["kind"] for item in json.loads(full[FEED_JSON])["items"]} >= {
        *("round", "practice", "daily_asked", "daily_measured"),
    }  # fmt: skip
    assert json.loads(full[VOTERS_JSON])["months"]


def test_every_kind_of_file_was_held_to_its_schema(young: dict[str, bytes], full: dict[str, bytes]) -> None:
    held = {schema_path(path) for path in json_files({**young, **full})}

    assert {kind.path for kind in described()} - held == {"/files/ladders/{day}.json"}  # tests/record/test_ladders.py


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": [{}]},
        {"success": None},
        {"more": 1},
        {"disclaimer": 5},
    ],
    ids=str,
)
def test_what_does_not_fit_is_named(full: dict[str, bytes], change: dict[str, Any]) -> None:
    altered = {**json.loads(full["/arena/rounds.json"]), **change}

    assert faults("/arena/rounds.json", json.dumps(altered).encode())
    assert faults("/arena/other.json", b"{}") == ["/arena/other.json: no schema"]


def test_the_document_of_the_files_is_valid_and_named_where_machines_look(young: dict[str, bytes]) -> None:
    from openapi_spec_validator import OpenAPIV31SpecValidator  # 0.4 s, which every worker would pay at collection

    whole = json.loads(young[OPENAPI_JSON])
    published = young[OPENAPI_FILES].replace(f'"{whole["servers"][0]["url"]}{OPENAPI_JSON}#'.encode(), b'"#')
    document = json.loads(published)
    parts = {**whole["components"]["schemas"], **document["components"]["schemas"]}
    document["components"]["schemas"] = parts

    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    address = whole["servers"][0]["url"] + OPENAPI_FILES
    assert whole["externalDocs"]["url"] == address
    assert address in young["/llms.txt"].decode()
    _, described = json.loads(young["/.well-known/api-catalog"])["linkset"]
    assert address in [link["href"] for link in described["service-desc"]]


def test_each_field_of_a_file_says_what_it_is() -> None:
    _, document = documents()
    silent = [
        f"{name}.{field}"
        for name, schema in document["components"]["schemas"].items()
        for field, about in schema.get("properties", {}).items()
        if not about.get("description")
    ]

    assert silent == ["DidDocument.@context"]  # a name that no class can have
