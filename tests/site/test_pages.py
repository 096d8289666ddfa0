import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from html.parser import HTMLParser
from typing import Final

import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.discovery import STATUSES
from generator.catalog.endpoints import ENDPOINTS, Endpoint
from generator.catalog.links import METHODOLOGY, asset_path, doc_address
from generator.catalog.pages import DOC_PAGES
from generator.catalog.products import PRODUCTS, Product
from generator.catalog.text.answers import DISCLAIMER, WHAT_THIS_IS_NOT
from generator.catalog.words import SourceMode
from generator.site.resources import Assets
from tests.support.bodies import composed
from tests.support.builders import CONTEXTS
from tests.support.page_view import Rendered, rendered, schemas, view, view_of, with_body

# The only links to elsewhere: where money of the test network comes from.
FAUCETS = ("https://bank.testnet.algorand.network/", "https://faucet.circle.com/")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.attributes: set[str] = set()
        self.inline_scripts: list[str] = []
        self._quiet = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.attributes |= values.keys()
        self.ids += [values["id"] or ""] if "id" in values else []
        self.addresses += [values[name] or "" for name in ("href", "src") if name in values]
        self._quiet = tag == "script"
        # JSON-LD is data: no browser runs it, and no policy has to allow it.
        data = values.get("type") == "application/ld+json"
        if tag == "style" or (tag == "script" and "src" not in values and not data):
            self.inline_scripts.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._quiet = False
        if tag in {"td", "th", "dt", "dd", "p", "li", "h1", "h2", "h3", "caption", "div", "summary"}:
            self.text.append(" ")

    def handle_data(self, data: str) -> None:
        self.text += [] if self._quiet else [data]


@cache
def _read(html: bytes) -> _Reader:
    reader = _Reader()
    reader.feed(html.decode())
    return reader


def _text(html: bytes) -> str:
    return re.sub(r"\s+", " ", "".join(_read(html).text).replace("\xa0", " "))


STATES: Final[Mapping[str, Callable[[], Rendered]]] = {
    "simulated": rendered,
    "hourly bars": partial(rendered, SourceMode.RECORDED, known=False),
    "nothing yet": partial(rendered, SourceMode.LIVE, known=False, empty=True),
}


@pytest.mark.parametrize("state", STATES)
def test_every_page_carries_the_educational_notice_in_every_state(state: str) -> None:
    for html in STATES[state]().values():
        assert DISCLAIMER in _text(html)


@pytest.mark.parametrize("state", STATES)
def test_pages_need_nothing_inline_and_nothing_from_elsewhere(state: str) -> None:
    for html in STATES[state]().values():
        page = _read(html)

        assert not page.inline_scripts
        assert not {name for name in page.attributes if name == "style" or name.startswith("on")}
        assert all(
            address.startswith(("/", "./", "#", "http://127.0.0.1:8402/", *FAUCETS)) for address in page.addresses
        )


@pytest.mark.parametrize("state", STATES)
def test_ids_are_unique_and_every_jump_has_its_target(state: str) -> None:
    for html in STATES[state]().values():
        page = _read(html)

        assert len(page.ids) == len(set(page.ids))
        assert {address[1:] for address in page.addresses if address.startswith("#")} <= set(page.ids)


@pytest.mark.parametrize(
    ("mode", "words"),
    [(SourceMode.SIMULATED, "Simulated data."), (SourceMode.RECORDED, "Recorded data.")],
)
def test_data_that_is_not_live_is_marked_on_every_page(mode: SourceMode, words: str) -> None:
    assert all(words in _text(html) for html in rendered(mode).values())
    assert not any(b"data-mode-banner" in html for html in rendered(SourceMode.LIVE).values())


def test_landing_shows_the_reading_its_times_and_every_asset() -> None:
    html = rendered()["/index.html"]
    text = _text(html)

    assert {asset_path(asset) for asset in ASSETS} <= set(_read(html).addresses)
    assert "$97,412" in text
    assert "Crypto is down 0.9% in a day" in text
    assert "Which way? Nobody knows, nor do we." in text
    assert "As of 20 Nov 2026, 09:53 UTC, valid until 09:56." in text


def test_docs_link_every_free_endpoint_and_the_price_list_has_every_product() -> None:
    assert {doc_address(endpoint.id) for endpoint in ENDPOINTS} <= set(_read(rendered()["/docs/index.html"]).addresses)
    assert all(f"{product.price_display}" in _text(rendered()["/pricing/index.html"]) for product in PRODUCTS)


def test_hourly_bars_read_as_unknown_with_the_reason() -> None:
    text = _text(STATES["hourly bars"]()["/index.html"])

    assert "a reading needs 5-minute bars" in text
    assert "None" not in text
    assert "nan" not in text.lower().split()


def test_first_moments_read_well_without_prices_rounds_or_lessons() -> None:
    text = _text(STATES["nothing yet"]()["/index.html"])

    assert "No prices are known yet; the picture begins with the first of them." in text
    assert "No question takes answers now" in text
    assert "Nothing is forecast, so nothing is scored" in text
    assert "None" not in text


def test_the_open_rounds_forecast_stays_hidden() -> None:
    base = view()
    open_round = base.ctx.arena.open
    assert open_round is not None
    revealed = replace(open_round, confidence_percent=97.3, probabilities=(0.01, 0.017, 0.973))

    html = Rendered(replace(base, ctx=replace(base.ctx, arena=replace(base.ctx.arena, open=revealed))))["/index.html"]

    assert b"97.3" not in html


def test_names_from_outside_are_escaped() -> None:
    base = view()
    body = base.bodies.market_regime.model_copy(update={"summary": "<script>alert(1)</script>"})

    files = Rendered(with_body(base, "/api/market-regime.php", body))

    assert not any(b"<script>alert" in html for html in files.values())


def test_docs_name_every_endpoint_product_and_status() -> None:
    overview, free, paid = (_text(rendered()[page.file]) for page in DOC_PAGES)

    assert all(row.condition.replace("`", "") in overview for row in STATUSES)
    assert all(row.when_not_to_use in free for row in ENDPOINTS)
    assert WHAT_THIS_IS_NOT in paid
    assert all(row.what_this_is in paid for row in PRODUCTS)


@pytest.mark.parametrize("row", [*ENDPOINTS, *PRODUCTS], ids=lambda row: row.id)
def test_docs_explain_every_field_of_every_answer(row: Endpoint | Product) -> None:
    page = doc_address(row.id).partition("#")[0]
    waiting, html = [page, METHODOLOGY], ""
    for path in waiting:
        html += rendered()[f"{path}index.html"].decode()
        waiting += {link for link in re.findall(r'href="(/[^"#]+)#object-', html) if link not in waiting}

    names = set(re.findall(r'<th scope="row"><code>(\w+)</code>', html))
    assert set(re.findall(r'#(object-[^"]+)"', html)) <= set(re.findall(r'id="(object-[^"]+)"', html))
    reached, waiting = {row.model}, [row.model]
    while waiting:
        found = set(re.findall(r"schemas/(\w+)|defs/(\w+)", str(schemas()[waiting.pop()])))
        new = {one or other for one, other in found} - reached
        reached, waiting = reached | new, [*waiting, *new]
    assert {name for model in reached for name in schemas()[model].get("properties", ())} <= names


def test_docs_show_an_answer_of_this_tick_and_no_paid_one() -> None:
    shown = view()
    for product in PRODUCTS:
        shown = with_body(
            shown, product.path, composed("full").paid[product.id].model_copy(update={"headline": "paid words"})
        )

    files = Rendered(shown)

    assert '"trend": "sideways"' in _text(files["/docs/free/index.html"])
    assert not any(b"paid words" in content for content in files.values())


def test_the_foot_names_each_source_with_its_fault() -> None:
    text = _text(rendered()["/index.html"])

    assert "simulated-b open interest failed unknown no answer within 5 s" in text
    assert "1,438 ticks" in text


def test_the_script_gets_the_times_it_needs() -> None:
    html = rendered()["/index.html"].decode()

    assert 'data-generated-at="2026-11-20T09:53:00Z" data-valid-until="2026-11-20T09:56:00Z"' in html
    assert 'data-countdown="2026-11-20T10:00:00Z">07:00<' in rendered()["/arena/index.html"].decode()


def test_every_asset_that_pages_ask_for_is_published() -> None:
    files = Assets.load().files
    wanted = {
        address.split("?")[0]
        for html in rendered().values()
        for address in _read(html).addresses
        if address.startswith(("/assets/", "/favicon"))
    }

    scripts = (
        *("site.css", "noscript.css", "site.js", "charts.js", "vote.js", "docs.css", "docs.js"),
        *("practice.css", "practice.js", "daily.js", "you.js", "learn.js", "learn-offline.js"),
    )
    assert wanted == {f"/assets/{name}" for name in scripts} | {"/favicon.svg"}
    assert wanted <= set(files)


def test_reasons_for_what_is_missing_name_their_assets() -> None:
    text = _text(Rendered(view_of(CONTEXTS["missing_asset"]()))["/index.html"])

    assert "HBAR: no venue lists it now" in text
