"""The pictures that pages show where they are shared (Open Graph): which there are, and what they say."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from generator.arena.values import Rate, TrackRecord
from generator.catalog.discovery import SHARE_PICTURE, SHARE_PICTURES, SharePicture
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.links import ARENA
from generator.catalog.text.labels import regime_headline
from generator.catalog.words import Prediction, SourceMode
from generator.compose.context import TickContext
from generator.site.pages.format import count, moment
from generator.site.picture_draw import Card, Drawing, draw

EVERY_S: Final = 900
PICTURES: Final = {**SHARE_PICTURES, "": SHARE_PICTURE}
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_HEAD_BYTES: Final = len(_PNG) + 25  # the signature and the first chunk
_TITLE: Final = b"Description\0\0\0\0\0"  # of an iTXt chunk: keyword, not packed, no language
MARKS: Final = {SourceMode.SIMULATED: "SIMULATED", SourceMode.RECORDED: "REPLAYED"}


@dataclass(frozen=True, slots=True)
class Pictures:
    """The pictures as files, and what each page says of its own.

    Args:
        files: path -> PNG.
        shares: page path -> the picture with its words; pages that are not here have that of "".
    """

    files: Mapping[str, bytes]
    shares: Mapping[str, SharePicture]


def pictures(drawings: Mapping[str, Drawing], before: Pictures | None = None) -> Pictures:
    """Draw what each page shows.

    Args:
        drawings: page path -> what is to be seen; "" for all other pages.
        before: made before; a picture whose words are the same is taken over.
    """
    files: dict[str, bytes] = {}
    shares: dict[str, SharePicture] = {}
    for page, drawing in drawings.items():
        place = PICTURES[page]
        shares[page] = replace(place, alt=drawing.alt())
        if before is not None and before.shares.get(page) == shares[page]:
            files[place.path] = before.files[place.path]
        else:
            files[place.path] = described(draw(drawing), shares[page].alt)
    return Pictures(files, shares)


def published_pictures(files: Mapping[str, bytes]) -> Pictures | None:
    """Return the pictures of a release as it was published; None unless all are there, whole, and say what they show.

    Args:
        files: of a release, with others or without.
    """
    found: dict[str, bytes] = {}
    shares: dict[str, SharePicture] = {}
    for page, place in PICTURES.items():
        alt = description(files.get(place.path, b""))
        if alt is None:
            return None
        found[place.path], shares[page] = files[place.path], replace(place, alt=alt)
    return Pictures(found, shares)


def described(png: bytes, alt: str) -> bytes:
    """Put into a picture what it shows in words, as an iTXt chunk `Description` right after its head."""
    body = b"iTXt" + _TITLE + alt.encode()
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return png[:_HEAD_BYTES] + chunk + png[_HEAD_BYTES:]


def description(png: bytes) -> str | None:
    """Return what a picture says of itself; None if it says nothing, or is not whole."""
    if not png.startswith(_PNG):
        return None
    told, last = None, b""
    for body in _chunks(png):
        last = body[:4]
        if body.startswith(b"iTXt" + _TITLE):
            told = body[4 + len(_TITLE) :].decode(errors="replace")
    return told if last == b"IEND" else None


def _chunks(png: bytes) -> Iterator[bytes]:
    """Give kind and content of every chunk, up to the first that is not whole."""
    at = len(_PNG)
    while at + 12 <= len(png):
        (size,) = struct.unpack_from(">I", png, at)
        body = png[at + 4 : at + 8 + size]
        if png[at + 8 + size : at + 12 + size] != struct.pack(">I", zlib.crc32(body)):
            return
        yield body
        at += 12 + size


def drawings(ctx: TickContext, bodies: Mapping[str, Mapping[str, Any]]) -> dict[str, Drawing]:
    """Put into words what the pictures of a tick show.

    Args:
        ctx: the tick.
        bodies: path -> free body, as published.
    """
    mark = MARKS.get(ctx.observation.mode, "")
    now = moment(ctx.freshness.generated_ms)
    as_of = f"As of {now.day} {now:%b %Y, %H:%M} UTC"
    return {
        "/": _now(ctx, bodies[ENDPOINT_BY_ID["market-regime"].path], mark, as_of),
        ARENA: _arena(ctx, mark, as_of),
        "": _general(ctx, mark),
    }


def _now(ctx: TickContext, body: Mapping[str, Any], mark: str, as_of: str) -> Drawing:
    regime = body["regime"]
    kicker = {"SIMULATED": "The crypto market as simulated", "REPLAYED": "The crypto market as recorded"}
    sure = regime["confidence"]
    cards = [] if sure is None else [Card(f"{sure:.1f}", "confidence in this reading of now, out of 100")]
    return Drawing(
        project=ctx.site.project,
        mark=mark,
        kicker=kicker.get(mark, "The crypto market now"),
        headline=regime_headline(regime["label"], ctx.reading.regime.likelier if ctx.reading else None),
        text=str(body["summary"]) if sure is not None else "The regime is unknown now, and nothing is guessed.",
        cards=(*cards, _worth(ctx.arena.hourly_record)),
        as_of=as_of,
    )


def _worth(record: TrackRecord) -> Card:
    """Say what forecasts were worth so far; none is claimed before one came due."""
    if record.hit.percent is None:
        return Card("none yet", "of the hourly forecasts has come due")
    return Card(
        f"{record.hit.percent:.1f} %",
        f"of {record.hit.n:,} hourly forecasts came true; a blind guess gets 33.3 %",
    )


def _arena(ctx: TickContext, mark: str, as_of: str) -> Drawing:
    live, tally, teacher = ctx.arena.live, ctx.arena.live_tally, ctx.arena.teacher
    if live is None:
        headline, text, bar = "No round is live at the moment", "The next one starts by the clock.", None
    else:
        said = "has no forecast" if live.prediction is None else f"says {_said(live.prediction)}"
        until = f"{moment(live.end_ms):%H:%M}"
        made_up = f" ({made:,} simulated)" if (made := ctx.arena.live_simulated_tally.total) else ""
        headline = f"{live.asset} by {until} UTC: up, down or same?"
        text = f"The brain {said}. {count(tally.total, 'vote')}{made_up}{':' if tally.total else '.'}"
        bar = _shares(tally.bullish, tally.neutral, tally.bearish)
    return Drawing(
        project=ctx.site.project,
        mark=mark,
        kicker="The Arena: people and the brain, same question",
        headline=headline,
        text=text,
        cards=(_right("the brain", teacher.brain), _right("people", teacher.crowd)),
        bar=bar,
        as_of=as_of,
    )


def _said(word: Prediction) -> str:
    return {Prediction.BULLISH: "higher", Prediction.BEARISH: "lower"}.get(word, "about the same")


def _right(who: str, rate: Rate) -> Card:
    if rate.percent is None:
        return Card("none yet", f"of the rounds tells how often {who} got it right")
    return Card(f"{rate.percent:.1f} %", f"of {rate.n:,} rounds {who} got right; a blind guess gets 33.3 %")


def _shares(bullish: int, neutral: int, bearish: int) -> tuple[float, float, float] | None:
    total = bullish + neutral + bearish
    return (bullish / total, neutral / total, bearish / total) if total else None


def _general(ctx: TickContext, mark: str) -> Drawing:
    return Drawing(
        project=ctx.site.project,
        mark=mark,
        kicker="A weather service for the crypto market",
        headline="The market in words, and what each forecast was worth",
        text="Nine free answers, renewed each minute, without a key. Every miss is kept.",
    )
