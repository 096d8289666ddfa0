"""The share pictures: what they show, their size, and that the same words give the same bytes."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from generator.catalog.discovery import SHARE_PICTURE, SHARE_PICTURES
from generator.catalog.words import SourceMode
from generator.site import picture_draw
from generator.site.picture_draw import GROUND, SIZE, WARN_GROUND, Card, Drawing, draw
from generator.site.pictures import Pictures, described, description, drawings, pictures, published_pictures
from tests.support.publish_fixture import bodies, context

SMALL = 100_000
MARK_AT = (SIZE[0] - 64 - 12, 72)  # inside the mark's right end
PLAIN = Drawing("A project", "", "The market now", "A range: no broad direction", "A sentence.")


def words(mode: SourceMode = SourceMode.LIVE, **of: Any) -> dict[str, Drawing]:
    return drawings(context(mode, **of), bodies(**of))


@pytest.fixture(scope="module")
def drawn() -> Pictures:
    return pictures(words(SourceMode.SIMULATED))


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def colour(name: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(name[1:]))


def test_every_picture_of_the_catalog_is_drawn_in_its_size_and_small(drawn: Pictures) -> None:
    assert set(drawn.files) == {SHARE_PICTURE.path, *(row.path for row in SHARE_PICTURES.values())}
    for data in drawn.files.values():
        assert data.startswith(b"\x89PNG")
        assert opened(data).size == (1200, 630)
        assert len(data) < SMALL


def test_colours_are_those_of_the_site() -> None:
    css = (Path(__file__).parents[2] / "site" / "assets" / "site.css").read_text()
    light = css.split("@media (prefers-color-scheme: dark)", maxsplit=1)[0]

    names = ("ground", "sheet", "ink", "soft", "line", "accent", "warn", "warn-ground", "against", "even")
    used = [getattr(picture_draw, name.replace("-", "_").upper()) for name in names]
    assert [f"--{name}: {value};" in light for name, value in zip(names, used, strict=True)] == [True] * len(names)


def test_the_same_words_give_the_same_bytes(drawn: Pictures) -> None:
    assert pictures(words(SourceMode.SIMULATED)) == drawn


def test_a_picture_whose_words_stayed_is_taken_over(drawn: Pictures) -> None:
    later = words(SourceMode.SIMULATED)
    later["/"] = replace(later["/"], as_of="As of 20 Nov 2026, 10:08 UTC")

    again = pictures(later, drawn)

    assert again.files["/share/general.png"] is drawn.files["/share/general.png"]
    assert again.files["/share/now.png"] != drawn.files["/share/now.png"]


@pytest.mark.parametrize("mark", ["SIMULATED", "REPLAYED"])
def test_what_is_no_live_market_bears_a_mark(mark: str) -> None:
    assert opened(draw(replace(PLAIN, mark=mark))).getpixel(MARK_AT) == colour(WARN_GROUND)
    assert opened(draw(PLAIN)).getpixel(MARK_AT) == colour(GROUND)


@pytest.mark.parametrize(
    ("mode", "mark"),
    [(SourceMode.LIVE, ""), (SourceMode.SIMULATED, "SIMULATED"), (SourceMode.RECORDED, "REPLAYED")],
)
def test_every_picture_of_a_mode_has_its_mark(mode: SourceMode, mark: str) -> None:
    assert {drawing.mark for drawing in words(mode).values()} == {mark}


def test_confidence_stands_beside_what_forecasts_were_worth() -> None:
    cards = words()["/"].cards

    assert [card.number for card in cards] == ["78.2", "34.1 %"]
    assert "1,204 hourly forecasts" in cards[1].what


def test_words_for_those_who_do_not_see_it_say_what_is_drawn(drawn: Pictures) -> None:
    alt = drawn.shares["/"].alt

    for told in ("A range: no broad direction", "78.2 confidence", "34.1 %", "Simulated data", "09:53 UTC", "learning"):
        assert told in alt


def test_an_unknown_reading_shows_no_number_for_it() -> None:
    unknown = words(known=False)

    assert unknown["/"].headline == "No reading at the moment"
    assert not [card for card in unknown["/"].cards if "confidence" in card.what]
    assert draw(unknown["/"])


def test_a_service_that_begins_draws_that_nothing_has_come_due() -> None:
    empty = words(known=False, empty=True)

    assert [card.number for card in empty["/"].cards] == ["none yet"]
    assert empty["/arena/"].headline == "No round is live at the moment"
    assert all(draw(drawing) for drawing in empty.values())


def test_a_text_that_is_too_long_ends_with_a_whole_sentence() -> None:
    long = "The market reads as risk on; volatility is normal. " * 3

    assert draw(replace(PLAIN, text=long)) == draw(replace(PLAIN, text=long * 2))


def test_long_words_are_shortened_inside_the_picture() -> None:
    long = Drawing(
        project="A very long name of a project " * 5,
        mark="SIMULATED",
        kicker="Now",
        headline="In transition: one regime fades, the next is not settled and nobody knows when it will be " * 3,
        text="word " * 200,
        cards=(Card("100.0 %", "of 1,234,567 hourly forecasts came true; a blind guess gets 33.3 % " * 3),) * 2,
        bar=(0.98, 0.01, 0.01),
        as_of="As of 20 Nov 2026, 09:53 UTC",
    )

    picture = opened(draw(long))

    edge = {picture.getpixel((SIZE[0] - 20, y)) for y in range(SIZE[1])}
    assert edge == {colour(GROUND)}


def test_a_picture_says_in_itself_what_it_shows_so_that_a_new_process_goes_on_with_it(drawn: Pictures) -> None:
    found = published_pictures({**drawn.files, "/status.json": b"{}"})

    assert found == drawn
    for share in drawn.shares.values():
        assert Image.open(io.BytesIO(drawn.files[share.path])).info["Description"] == share.alt


@pytest.mark.parametrize("harm", ["missing", "torn", "one bit", "no words", "no picture"])
def test_pictures_that_are_not_whole_are_not_taken_over(drawn: Pictures, harm: str) -> None:
    files = dict(drawn.files)
    path = next(iter(files))
    data = files.pop(path)
    middle = len(data) // 2
    bare = io.BytesIO()
    Image.open(io.BytesIO(data)).save(bare, "PNG")
    files |= {
        "torn": {path: data[:-1]},
        "one bit": {path: data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]},
        "no words": {path: bare.getvalue()},
        "no picture": {path: b"<html>"},
    }.get(harm, {})

    assert published_pictures(files) is None


def test_words_of_any_language_come_back_as_they_were() -> None:
    assert description(picture_described("Ärger, 市場 \u2013 100 %")) == "Ärger, 市場 \u2013 100 %"


def picture_described(alt: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (1, 1)).save(out, "PNG")
    return described(out.getvalue(), alt)
