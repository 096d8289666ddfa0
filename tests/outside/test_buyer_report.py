"""The report in a browser: its charts are seen, heard, printed and saved; a picture can be nothing but a picture."""

import json
from typing import Any

import pytest

from generator.site.files.sample import bundled
from tests.outside.site_pages import BROWSED, BrowserContext, Page, Route, expect
from tests.support.local_servers import Shop

pytestmark = BROWSED
CHARTS = len(bundled()["report"]["charts"])


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


def test_the_sample_shows_every_chart_with_title_description_source_and_table(page: Page) -> None:
    page.click("#show-sample")
    expect(page.locator("#sample-report figure.chart")).to_have_count(CHARTS)

    for figure in page.locator("#sample-report figure.chart").all():
        stated = figure.locator("figcaption").inner_text()
        ids = (figure.locator("svg").get_attribute("aria-labelledby") or "").split()
        named = [page.locator(f"#{one}") for one in ids]
        assert [one.count() for one in named] == [1, 1]
        assert named[0].text_content() == stated
        assert figure.locator("p.source").inner_text().startswith("Source: ")
        figure.locator("summary").click()
        assert figure.locator("tbody tr").count() > 0


def test_a_chart_of_the_report_shows_its_number_to_a_pointer(page: Page) -> None:
    page.click("#show-sample")
    mark = page.locator("#sample-report [data-tip]").first

    mark.scroll_into_view_if_needed()
    mark.hover()

    expect(page.locator(".tip")).to_be_visible()
    assert page.locator(".tip").inner_text() == mark.get_attribute("data-tip")


def test_the_same_report_shown_twice_has_no_id_twice(page: Page) -> None:
    page.click("#show-sample")
    expect(page.locator("#sample-report figure.chart")).to_have_count(CHARTS)
    page.evaluate(
        """async (version) => {
          const { blocks, draw } = await import(`/assets/buyer-report.js${version}`);
          const body = await (await fetch("/sample-report.json")).json();
          document.getElementById("report").replaceChildren(...draw(blocks(body, "again", [])));
        }""",
        "",
    )

    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))


HOSTILE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="document.title=\'taken\'" style="x">'
    '<title id="a-t">t</title><script>document.title = "taken"</script><a href="https://elsewhere.example/">'
    '<text>go</text></a><image href="https://elsewhere.example/x.png"/><foreignObject><p>html</p></foreignObject>'
    '<rect class="bar" width="3" height="3" onclick="document.title=\'taken\'" fill="url(https://elsewhere.example)"/>'
    "</svg>"
)


def test_of_a_picture_only_shapes_words_and_class_names_are_drawn(page: Page) -> None:
    body = bundled()
    body["report"]["charts"] = [{**body["report"]["charts"][0], "svg": HOSTILE}]
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    with_sample(page, body)

    drawn = page.locator("#sample-report figure.chart svg")
    names = drawn.evaluate(
        "(svg) => [svg, ...svg.querySelectorAll('*')].flatMap((one) => [one.localName, ...one.getAttributeNames()])"
    )
    assert set(names) == {"svg", "viewBox", "title", "id", "rect", "class", "width", "height"}
    assert page.title() != "taken"
    assert not [url for url in asked if "elsewhere" in url]


@pytest.mark.parametrize("svg", ["", "no picture", "<svg", "<html><body>x</body></html>"])
def test_a_picture_that_cannot_be_read_leaves_its_numbers(page: Page, svg: str) -> None:
    body = bundled()
    body["report"]["charts"] = [{**body["report"]["charts"][0], "svg": svg}]

    with_sample(page, body)

    figure = page.locator("#sample-report figure.chart")
    assert figure.locator("svg").count() == 0
    figure.locator("summary").click()
    assert figure.locator("tbody tr").count() == 4


def test_a_report_of_an_earlier_version_without_charts_reads_as_before(page: Page) -> None:
    body = bundled()
    del body["report"]["charts"]

    with_sample(page, body)

    assert page.locator("#sample-report figure").count() == 0
    expect(page.locator("#sample-report")).to_contain_text("What may come next")


def test_the_markdown_of_a_report_has_the_numbers_of_its_charts(page: Page) -> None:
    text = page.evaluate(
        """async () => {
          const { blocks, markdown } = await import("/assets/buyer-report.js");
          return markdown(blocks(await (await fetch("/sample-report.json")).json(), "x", []));
        }"""
    )

    for chart in bundled()["report"]["charts"]:
        assert chart["rows"][0][1].replace("\N{NO-BREAK SPACE}", " ") in text
        assert f"| {' | '.join(chart['columns'])} |".replace("\N{NO-BREAK SPACE}", " ") in text
    assert "<svg" not in text


def test_on_paper_a_chart_has_its_table_open(page: Page) -> None:
    page.click("#show-sample")
    expect(page.locator("#sample-report figure.chart")).to_have_count(CHARTS)

    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")

    assert page.locator("#sample-report figure details[open] table").count() == CHARTS
    assert page.locator("#sample-report figure summary").first.is_hidden()
