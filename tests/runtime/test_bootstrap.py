"""The release before the first tick."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.text.answers import NOT_STARTED
from generator.catalog.words import SourceMode
from generator.compose.all import MODELS
from generator.release.release import Releases
from generator.runtime.bootstrap import bootstrap_files, ensure_bootstrap
from generator.settings import GeneratorSettings
from tests.support.page_view import SITE

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def bodies() -> dict[str, Any]:
    files = bootstrap_files(SITE, SourceMode.LIVE, NOW)
    return {path: json.loads(data) for path, data in files.items() if path.endswith((".php", ".json"))}


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda row: row.id)
def test_every_body_keeps_the_contract_and_says_why_it_knows_nothing(bodies: dict[str, Any], endpoint: Any) -> None:
    body = bodies[endpoint.path]

    MODELS[endpoint.model].model_validate_json(json.dumps(body))
    assert body["freshness"]["generation"] == "000000000000"
    assert body["freshness"]["sources"] == []  # none was asked, so none failed


def test_unknown_is_null_with_a_reason_and_the_whole_is_unavailable(bodies: dict[str, Any]) -> None:
    coins = bodies["/api/main-brain.php"]["coins"]

    assert bodies["/status.json"]["status"] == bodies["/api/market-regime.php"]["status"] == "unavailable"
    assert {coins[asset]["price"] for asset in ASSETS} == {None}
    assert all(NOT_STARTED in coins[asset]["limitations"] for asset in ASSETS)
    assert bodies["/arena/rounds.json"]["rounds"] == []


def test_it_is_written_once_where_nothing_was_published_and_the_first_tick_is_1(tmp_path: Path) -> None:
    settings = GeneratorSettings(state_dir=tmp_path)

    laid = [ensure_bootstrap(settings, NOW), ensure_bootstrap(settings, NOW)]

    assert laid == [True, False]
    releases = Releases(settings.site_path)
    releases.open()
    assert releases.generation() == 0
    assert (settings.site_path / "current" / "index.html").is_file()


def test_the_month_of_practice_that_its_pages_name_is_there_from_the_beginning(tmp_path: Path) -> None:
    settings = GeneratorSettings(state_dir=tmp_path)

    ensure_bootstrap(settings, NOW)

    listed = json.loads((settings.site_path / "current" / "learn/practice/months.json").read_text(encoding="utf-8"))
    named = [month[file] for month in listed["months"] for file in ("items", "truths")]
    assert len(named) == 2
    assert all((settings.site_path / "once" / file.lstrip("/")).is_file() for file in named)


def test_a_site_that_lost_its_pointer_is_not_set_back_to_the_beginning(tmp_path: Path) -> None:
    settings = GeneratorSettings(state_dir=tmp_path)
    (settings.site_path / "releases" / "000000000007").mkdir(parents=True)

    assert not ensure_bootstrap(settings, NOW)


def test_the_first_page_says_that_nothing_has_started_and_has_no_figure() -> None:
    page = bootstrap_files(SITE, SourceMode.LIVE, NOW)["/index.html"].decode()

    assert "No prices are known yet; the picture begins with the first of them." in page
    assert "regime</a> is unknown: the service has not started yet." in page
    assert "Nothing is forecast, so nothing is scored: the service has not started yet." in page
    assert "too little 5-minute history" not in page
    assert '<p class="number">' not in page
