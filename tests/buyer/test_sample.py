import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, get_type_hints

import pytest
from pydantic import ValidationError

from generator.catalog.assets import ASSETS
from generator.catalog.links import SAMPLE_REPORT
from generator.catalog.products import PRODUCTS, Product
from generator.catalog.text.answers import DISCLAIMER
from generator.compose.all import PAID
from generator.site.files.sample import (
    SAMPLE_KEY,
    SAMPLE_PATHS,
    SIMULATED,
    Sample,
    Samples,
    Sold,
    bundled,
    bundled_files,
    of_day,
)

REPORT = PRODUCTS[-1]

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


class Notes:
    """The memory's notes, with a count of writes."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}
        self.writes = 0

    def meta(self, key: str) -> str | None:
        return self.kept.get(key)

    def set_meta(self, key: str, value: str) -> None:
        self.kept[key] = value
        self.writes += 1


def body(name: str) -> dict[str, Any]:
    return {"success": True, "payment_status": "settled", "source_mode": "live", "report": {"title": name}}


def shown(sample: Sample, name: str, at: datetime) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(sample.file(body(name), at))
    return content


def test_on_the_first_day_the_sample_is_the_bundled_one_and_says_it_is_simulated() -> None:
    content = shown(Sample(Notes(), REPORT), "today", NOON)

    assert (content["sample"], content["sample_day"], content["source_mode"]) == ("bundled", None, "simulated")
    assert "its record of sides says nothing of real ones" in content["sample_note"]
    assert content["report"]["plots"], "with pictures"


def test_the_sample_of_a_simulated_day_says_so_and_that_of_a_real_one_does_not() -> None:
    day = date(2026, 5, 4)

    simulated = of_day(Sold(day, body("x") | {"source_mode": "simulated"}), REPORT)
    real = of_day(Sold(day, body("x")), REPORT)

    assert simulated["sample_note"] == f"{real['sample_note']} {SIMULATED}"


def test_after_midnight_it_is_the_last_report_of_the_day_before_and_stays_so_all_day() -> None:
    sample = Sample(Notes(), REPORT)
    midnight = datetime(2026, 5, 5, tzinfo=UTC)
    for name, at in (("noon", NOON), ("last", midnight - timedelta(minutes=1))):
        shown(sample, name, at)

    sold = shown(sample, "first", midnight + timedelta(minutes=19))
    first = shown(sample, "first", midnight + timedelta(minutes=20))
    later = shown(sample, "later", midnight + timedelta(hours=23))

    assert sold["sample"] == "bundled"  # the last one can be paid for a quarter of an hour
    assert first == later
    assert (first["report"]["title"], first["sample_day"], first["sample"]) == ("last", "2026-05-04", "last_of_day")
    assert first["payment_status"] == "free_sample"


@pytest.mark.parametrize(("down_minutes", "wanted"), [(30, "noon"), (60 * 24 * 3, "noon")])
def test_a_restart_over_midnight_keeps_what_was_noted_of_the_day(down_minutes: int, wanted: str) -> None:
    notes = Notes()
    shown(Sample(notes, REPORT), wanted, NOON.replace(hour=23, minute=50))

    content = shown(Sample(notes, REPORT), "after", NOON.replace(hour=23, minute=50) + timedelta(minutes=down_minutes))

    assert (content["report"]["title"], content["sample_day"]) == (wanted, "2026-05-04")


def test_it_writes_once_a_quarter_of_an_hour_and_not_with_every_tick() -> None:
    notes = Notes()
    sample = Sample(notes, REPORT)

    for minute in range(60):
        shown(sample, "tick", NOON + timedelta(minutes=minute))

    assert notes.writes == 4


@pytest.mark.parametrize("noted", ["", "{", "[]", '{"day": "soon", "body": {}}', '{"day": "2026-05-03"}'])
def test_a_note_that_cannot_be_read_is_as_good_as_none(noted: str) -> None:
    notes = Notes()
    notes.kept[f"{SAMPLE_KEY}_{REPORT.buy_name}"] = noted

    assert shown(Sample(notes, REPORT), "today", NOON)["sample"] == "bundled"


def test_a_clock_that_steps_back_shows_no_report_of_the_future() -> None:
    sample = Sample(Notes(), REPORT)
    shown(sample, "tomorrow", NOON + timedelta(days=1))

    content = shown(sample, "today", NOON)

    assert content["sample"] == "bundled"


def test_every_product_has_its_own_sample_and_one_that_is_not_sold_keeps_its_last() -> None:
    samples = Samples(Notes())
    samples.files({product.id: body(product.id) for product in PRODUCTS}, NOON)
    samples.files({product.id: body("later") for product in PRODUCTS[:2]}, NOON + timedelta(hours=1))

    files = {path: json.loads(raw) for path, raw in samples.files({}, NOON + timedelta(days=1)).items()}

    titles = {product.buy_name: files[product.sample]["report"]["title"] for product in PRODUCTS}
    assert list(titles.values()) == ["later", "later", PRODUCTS[2].id, PRODUCTS[3].id]
    assert files[SAMPLE_REPORT] == files["/samples/atlas-human-report.json"]
    assert set(bundled_files()) == set(files) == set(SAMPLE_PATHS)


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.buy_name)
def test_the_bundled_answer_is_one_of_this_version(product: Product) -> None:
    content = bundled(product)

    sold = {name: value for name, value in content.items() if not name.startswith("sample")}
    try:
        get_type_hints(PAID[product.id])["return"].model_validate({**sold, "payment_status": "settled"})
    except ValidationError as error:
        pytest.fail(f"run: python -m tests.make_sample\n{error}")
    assert (content["disclaimer"], content["type"]) == (DISCLAIMER, product.type)


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.buy_name)
def test_the_bundled_answer_has_every_asset_of_the_catalog(product: Product) -> None:
    content = json.dumps(bundled(product))

    assert [asset for asset in ASSETS if f'"{asset}"' not in content] == [], "run: python -m tests.make_sample"


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.id)
def test_a_sample_states_the_price_that_is_in_force_when_it_is_served(product: Product) -> None:
    dearer = replace(product, price_atomic=7 * product.price_atomic)
    sold = Sold(NOON.date(), bundled(product))

    for content in (bundled(dearer), of_day(sold, dearer)):
        assert content["price"] == dearer.price_display
        assert content.get("price_atomic", dearer.price_atomic) == dearer.price_atomic
        assert f'"price_atomic": {product.price_atomic},' not in json.dumps(content)


def test_the_bundled_report_begins_with_its_headline() -> None:
    content = bundled()

    assert content["headline"].startswith(content["report"]["title"])
