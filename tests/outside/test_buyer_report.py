"""The report in a browser: its plots are drawn from numbers alone, printed and saved."""

import json
from typing import Any

import pytest

from tests.outside.site_pages import BROWSED, BrowserContext, Page, Route, expect
from tests.support.bodies import paid
from tests.support.local_servers import Shop
from tests.support.ten_moments import ten_moments

pytestmark = BROWSED
REPORT = "x402-atlas-human-report"


def report() -> dict[str, Any]:
    """Return a report with every plot."""
    body: dict[str, Any] = next(iter(ten_moments().values())).composed.paid[REPORT].as_json()
    return body


@pytest.fixture
def page(context: BrowserContext, shop: Shop) -> Page:
    page = context.new_page()
    page.goto(f"{shop.gateway}/x402-buyer/")
    return page


def with_sample(page: Page, body: dict[str, Any]) -> None:
    def answer(route: Route) -> None:
        route.fulfill(status=200, content_type="application/json", body=json.dumps(body))

    page.route("**/samples/*.json", answer)
    page.reload()
    page.click("#show-sample")
    expect(page.locator("#sample-report h2")).to_be_visible()


def test_every_plot_is_drawn_with_its_title_and_its_numbers(page: Page) -> None:
    body = report()

    with_sample(page, body)

    figures = page.locator("#sample-report figure.chart")
    assert figures.count() == len(body["report"]["plots"])
    for plot in body["report"]["plots"]:
        figure = figures.filter(has_text=plot["title"])
        assert figure.locator("svg").count() == 1
        assert figure.locator("svg polyline, svg rect").count() > 0
        figure.locator("summary").click()
        assert figure.locator("tbody tr").count() == len(plot["x"])


@pytest.mark.parametrize("values", [["<script>", None], [None, None], ["x", 1.0]])
def test_values_that_are_not_numbers_are_not_drawn(page: Page, values: list[Any]) -> None:
    body = report()
    plot = body["report"]["plots"][0] | {"x": [0, 1], "states": [], "series": [{"name": "<b>", "values": values}]}
    body["report"]["plots"] = [plot]

    with_sample(page, body)

    figure = page.locator("#sample-report figure.chart")
    assert figure.locator("svg").count() == 0
    assert figure.locator("script, b").count() == 0


def test_a_report_without_plots_reads_on(page: Page) -> None:
    body = paid("full", REPORT)
    del body["report"]["plots"]

    with_sample(page, body)

    assert page.locator("#sample-report figure").count() == 0
    expect(page.locator("#sample-report")).to_contain_text("What happened")


def test_on_paper_a_plot_has_its_table_open(page: Page) -> None:
    with_sample(page, report())

    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")

    tables = page.locator("#sample-report figure details[open] table")
    assert tables.count() == page.locator("#sample-report figure").count() > 2
