"""The share pictures: what they show, their size, and that the same words give the same bytes."""

import re
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generator.catalog.discovery import SHARE_PICTURE, SHARE_PICTURES
from generator.catalog.words import SourceMode
from generator.compose.market_regime import market_regime
from generator.site.files.pictures import Drawing, Pictures, drawings, pictures, png, svg
from generator.site.resources import Resources
from tests.support.page_view import context

SMALL = 100_000
RESOURCES = Resources.locate()
PLAIN = Drawing("A project", "", "The market now", "Range-bound: two assets are up", "A sentence.")
LONG = Drawing(
    project="A very long name of a project " * 5,
    mark="SIMULATED",
    kicker="Now",
    headline="In transition: one regime fades, the next is not settled and no one knows when it will be " * 3,
    text="A word and " * 200,
    cards=(("100.0%", "of 1,234,567 hourly forecasts came true; a blind guess gets 33.3% " * 3),) * 2,
    as_of="As of 20 Nov 2026, 09:53 UTC",
)


def words(mode: SourceMode = SourceMode.LIVE, **of: Any) -> dict[str, Drawing]:
    ctx = context(mode, **of)
    return drawings(ctx, market_regime(ctx))


@pytest.fixture(scope="module")
def drawn() -> Pictures:
    return pictures(words(SourceMode.SIMULATED))


def texts(drawing: Drawing) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg(drawing, RESOURCES))


def test_every_picture_of_the_catalog_has_its_size_and_is_small(drawn: Pictures) -> None:
    assert set(drawn.files) == {SHARE_PICTURE.path, *(row.path for row in SHARE_PICTURES.values())}
    for data in drawn.files.values():
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        assert struct.unpack(">II", data[16:24]) == (SHARE_PICTURE.width, SHARE_PICTURE.height)
        assert len(data) < SMALL


def test_colours_are_those_of_the_site() -> None:
    css = (RESOURCES.site / "assets" / "site.css").read_text()
    light = css.split("@media (prefers-color-scheme: dark)", maxsplit=1)[0]

    used = set(re.findall(r"#[0-9a-f]{6}", (RESOURCES.templates / "share.svg").read_text())) - {"#ffd27a"}

    assert {colour for colour in used if f": {colour};" not in light} == set()


def test_the_same_words_give_the_same_bytes(drawn: Pictures) -> None:
    assert pictures(words(SourceMode.SIMULATED)) == drawn


def test_no_font_of_the_machine_is_used(tmp_path: Path) -> None:
    bare = Resources(RESOURCES.templates, tmp_path)

    without = png(svg(PLAIN, RESOURCES), bare)

    assert without == png(svg(Drawing("", "", "", "", ""), RESOURCES), bare)
    assert without != png(svg(PLAIN, RESOURCES), RESOURCES)


@pytest.mark.parametrize(
    ("mode", "mark"),
    [(SourceMode.LIVE, ""), (SourceMode.SIMULATED, "SIMULATED"), (SourceMode.RECORDED, "REPLAYED")],
)
def test_every_picture_of_simulated_or_replayed_data_bears_its_mark(mode: SourceMode, mark: str) -> None:
    for drawing in words(mode).values():
        assert [text for text in texts(drawing) if text in {"SIMULATED", "REPLAYED"}] == ([mark] if mark else [])


def test_the_first_page_leads_with_the_news_then_the_state_then_how_far() -> None:
    drawing = words()["/"]

    assert drawing.headline == market_regime(context()).headline
    assert drawing.text == market_regime(context()).summary
    assert {"50%", "90%", "now $97,412", "Bitcoin in 1 hour: nine"} < set(texts(drawing))


def test_the_arena_shows_question_answers_and_seal_and_no_rate() -> None:
    drawing = words()["/arena/"]

    shown = texts(drawing)

    assert "Where will BTC be at 11:00 UTC?" in shown
    assert "sealed; it opens at 10:00." in " ".join(shown)
    assert {"Up", "Small move", "Down"} < set(shown)
    assert re.findall(r"\S+%", drawing.alt()) == ["0.226%"] * 3  # the band


def test_answers_without_a_band_and_a_round_without_a_seal_say_less() -> None:
    ctx = context()
    assert ctx.arena.open is not None
    bare = replace(ctx.arena.open, band_bps=None, sealed_digest=None)

    drawing = drawings(replace(ctx, arena=replace(ctx.arena, open=bare)), market_regime(ctx))["/arena/"]

    assert drawing.sides == (("up", "higher"), ("small move", "about the same"), ("down", "lower"))
    assert drawing.text == "Against its price at 10:00. The brain makes no forecast."


def test_the_alternative_text_says_what_is_drawn(drawn: Pictures) -> None:
    alt = drawn.shares["/"].alt

    market = (market_regime(context()).headline, "Bitcoin in 1 hour: nine times in ten between $")
    for said in (*market, "Simulated data", "09:53 UTC", "learning"):
        assert said in alt


def test_an_unknown_reading_shows_no_number_for_it() -> None:
    unknown = words(known=False)

    assert unknown["/"].headline.startswith("Part of the last day is missing; Bitcoin is at $")
    assert not [meaning for _, meaning in unknown["/"].cards if "confidence" in meaning]


def test_a_new_service_draws_that_nothing_has_come_due() -> None:
    empty = words(known=False, empty=True)

    assert [number for number, _ in empty["/"].cards] == ["11:00 UTC"]
    assert empty["/arena/"].headline == "No round takes votes at the moment"


def test_a_text_that_is_too_long_ends_with_a_whole_sentence() -> None:
    long = "The market reads as risk on; volatility is normal. " * 3

    assert texts(replace(PLAIN, text=long)) == texts(replace(PLAIN, text=long * 2))
    assert texts(replace(PLAIN, text=long))[-3].endswith("volatility is normal.")


def test_nothing_of_the_site_s_names_is_read_as_markup() -> None:
    assert "&lt;b&gt; &amp; co" in texts(replace(PLAIN, project="<b> & co"))


def test_long_words_are_shortened_inside_the_picture() -> None:
    margin = '<rect x="1140" y="0" width="60" height="630" fill="#fbfaf7"/></svg>'
    document = svg(LONG, RESOURCES)

    assert document.count("…") == 5
    assert png(document, RESOURCES) == png(document.replace("</svg>", margin), RESOURCES)
