"""The pictures that pages show where they are shared (Open Graph): what they say, drawn as SVG and rendered to PNG."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import resvg_py
from markupsafe import Markup

from generator.catalog.counts import ENDPOINTS_IN_WORDS
from generator.catalog.discovery import SHARE_PICTURE, SHARE_PICTURES, SharePicture
from generator.catalog.formats import moment
from generator.catalog.links import ARENA
from generator.catalog.text.figures import band
from generator.catalog.text.labels import OUTCOME
from generator.catalog.words import Prediction, SourceMode
from generator.compose.market_regime import MarketRegimeResponse
from generator.compose.tick import Tick
from generator.site.charts.plot import Chart
from generator.site.charts.ranges import hour_ranges
from generator.site.resources import Resources
from generator.site.templates import environment
from generator.site.words.record import far_figure

PICTURES: Final = {**SHARE_PICTURES, "": SHARE_PICTURE}
MARKS: Final = {SourceMode.SIMULATED: "SIMULATED", SourceMode.RECORDED: "REPLAYED"}
NOTICE: Final = "For learning only. Not advice."
LEFT: Final = 64  # pixels; the right margin is the same
ROOM: Final = SHARE_PICTURE.width - 2 * LEFT
TEXT_SIZE: Final = 30
TALL_HEADLINE: Final = 110  # from here on, size times lines, a headline leaves room for one line of text above cards
LOGO_WIDTH: Final = 76
MARK_WIDTH: Final = 220
CARD_GAP: Final = 24
RANGES_WORDS: Final = 340  # what the words next to the ranges may take
LONGEST_ALT: Final = 400
_KICKERS: Final = {
    "SIMULATED": "The crypto market as simulated",
    "REPLAYED": "The crypto market as recorded",
}
_HOVER: Final = re.compile(r'<rect class="hour"[^>]*/>')
_CLASS: Final = re.compile(r'class="([a-z0-9_ -]+)"')
_INK: Final = "#1c2426"
_SOFT: Final = "#55605f"
_LINE: Final = "#dcd9d0"
_ACCENT: Final = "#0b6470"
_HALO: Final = f'fill="{_SOFT}" font-size="11" stroke="#fbfaf7" stroke-width="3" paint-order="stroke"'
_LOOKS: Final = {
    "tick": _HALO,
    "axis": _HALO,
    "value": _HALO.replace(_SOFT, _INK),
    "grid": f'stroke="{_LINE}"',
    "notch": f'stroke="{_LINE}"',
    "mark": f'stroke="{_SOFT}" stroke-dasharray="5 5"',
    "line": f'fill="none" stroke="{_INK}" stroke-width="2"',
    "end": f'fill="{_INK}"',
    "row": _HALO.replace(_SOFT, _INK),
    "far90": 'fill="#c3dadb"',
    "far50": 'fill="#7fb1b5"',
    "here": f'stroke="{_INK}" stroke-width="2"',
    "fan90": 'fill="#c3dadb"',
    "fan50": 'fill="#7fb1b5"',
    "tint": "",
    "chance": "",
    "r-transition": 'fill="none"',
    "r-hatch": 'stroke="#8f9a97" stroke-width="1.2"',
    "r-risk_on": 'fill="#b4dad3"',
    "r-risk_off": 'fill="#f3d2b3"',
    "r-range": 'fill="#ecebe4"',
    "r-high_volatility": 'fill="#d3c8ea"',
    "r-mark": 'stroke="#c98a52" stroke-width="1.2"',
    "r-dot": 'fill="#6d55a3"',
}
EM: Final = 0.54  # of its size a letter of Open Sans Semibold takes in a text, a little more than the mean


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything a picture shows, in words; equal drawings give equal bytes."""

    project: str
    mark: str  # SIMULATED or REPLAYED, empty for a live market
    kicker: str
    headline: str
    text: str
    cards: tuple[tuple[str, str], ...] = ()  # at most two figures, each with what it means
    sides: tuple[tuple[str, str], ...] = ()  # the answers to the question, each with what it means
    as_of: str = ""  # at the foot, empty where nothing changes
    ranges: Chart | None = None  # how far a price may move, in place of the figures
    text_lines: int | None = None  # at most; None: as many as the rest leaves room for

    def alt(self) -> str:
        """Say the same for readers who do not see the picture."""
        parts = [f"{self.kicker}: {self.headline}", *map(" ".join, self.cards)]
        if self.text_lines or self.sides:
            parts.insert(1, self.text)
        parts += [f"{word}: {meaning}" for word, meaning in self.sides]
        if self.ranges:
            parts.append(self.ranges.caption.finding)
        if self.mark:
            parts.append(f"{self.mark.capitalize()} data")
        parts += [self.as_of, NOTICE]

        alt = " ".join(part if part.endswith("?") else f"{part.rstrip('.')}." for part in parts if part)
        return alt[:LONGEST_ALT]


@dataclass(frozen=True, slots=True)
class Pictures:
    """The pictures as files, and by page path with their alternative text; pages that are not here have that of ""."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    shares: Mapping[str, SharePicture] = field(default_factory=dict)


def pictures(drawings: Mapping[str, Drawing]) -> Pictures:
    """Draw what each page shows, by its path; "" for all other pages."""
    resources = Resources.locate()
    files = {}
    shares = {}
    for page, drawing in drawings.items():
        picture = PICTURES[page]
        files[picture.path] = png(svg(drawing, resources), resources)
        shares[page] = replace(picture, alt=drawing.alt())
    return Pictures(files, shares)


def svg(drawing: Drawing, resources: Resources) -> str:
    """Return a drawing as an SVG document of the share picture's size."""
    size, headline = _headline(drawing, 2)

    # Above cards, under a headline of two lines, there is room for one line of text.
    one_line = bool(drawing.cards) and size * len(headline) > TALL_HEADLINE
    text = _sentences(drawing.text, TEXT_SIZE, drawing.text_lines or (1 if one_line else 2))

    project_room = ROOM - LOGO_WIDTH
    if drawing.mark:
        project_room -= MARK_WIDTH

    values = {
        "project": "".join(_wrapped(drawing.project, 32, project_room, 1)),
        "mark": drawing.mark,
        "kicker": drawing.kicker,
        "headline": {"size": size, "lines": headline},
        "text": {"size": TEXT_SIZE, "lines": text},
        "sides": _sides(drawing.sides),
        "cards": _cards(drawing.cards),
        "ranges": _ranges(drawing.ranges),
        "notice": NOTICE,
        "as_of": drawing.as_of,
    }
    return environment(resources).get_template("share.svg").render(values)


def _headline(drawing: Drawing, most: int) -> tuple[int, list[str]]:
    """Return the largest size in which the headline fits into `most` lines, and the lines; the smallest cuts it."""
    sizes: tuple[int, ...]
    if drawing.ranges:
        sizes = (52, 46, 40)
    elif drawing.sides:
        sizes = (60, 52)
    elif drawing.text_lines:
        sizes = (40, 36)
    elif drawing.cards:
        sizes = (68, 60, 52, 46, 40)
    else:
        sizes = (80, 68)

    for size in sizes:
        lines = _wrapped(drawing.headline, size, ROOM, most + 1)
        if len(lines) <= most:
            return size, lines
    return sizes[-1], _wrapped(drawing.headline, sizes[-1], ROOM, most)


def png(document: str, resources: Resources) -> bytes:
    """Render an SVG document with the fonts of the site, none of the machine: equal documents give equal bytes."""
    fonts = [str(path) for path in sorted((resources.site / "fonts").glob("*.ttf"))]
    return bytes(resvg_py.svg_to_bytes(svg_string=document, skip_system_fonts=True, font_files=fonts))


def _sentences(text: str, size: int, most: int) -> list[str]:
    """Break as many whole sentences as `most` lines hold; a first one that is too long is cut."""
    ends = [match.end() for match in re.finditer(r"[.?](?=\s)|$", text)]
    for end in reversed(ends):
        lines = _wrapped(text[:end], size, ROOM, most + 1)
        if len(lines) <= most:
            return lines
    return _wrapped(text, size, ROOM, most)


def _cards(cards: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Place the cards side by side: a figure, and right of it what it means in at most four lines."""
    if not cards:
        return []

    width = (ROOM - CARD_GAP * (len(cards) - 1)) // len(cards)
    placed = []
    for position, (figure, meaning) in enumerate(cards):
        left = LEFT + position * (width + CARD_GAP)
        size = 56 if any(sign.isdigit() for sign in figure) else 40
        text_left = left + 56 + round(EM * size * len(figure))
        text_room = left + width - 20 - text_left
        placed.append(
            {
                "number": figure,
                "size": size,
                "left": left,
                "width": width,
                "text_left": text_left,
                "lines": _wrapped(meaning, 23, text_room, 4),
            }
        )
    return placed


def _sides(sides: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Place the answers side by side, as the page has its buttons."""
    width = (ROOM - CARD_GAP * 2) // 3

    return [
        {
            "word": f"{word[:1].upper()}{word[1:]}",
            "shape": word.split()[0],
            "meaning": meaning,
            "left": LEFT + place * (width + CARD_GAP),
            "width": width,
        }
        for place, (word, meaning) in enumerate(sides)
    ]


def _ranges(chart: Chart | None) -> dict[str, Any]:
    """Draw the ranges with letters as large as on a phone, and what they show next to them."""
    if chart is None:
        return {}

    drawn = str(attributed(chart.inner)).replace('font-size="11"', 'font-size="22"')
    return {
        "height": chart.height,
        "inner": Markup(drawn),  # noqa: S704  ours, escaped when it was made
        "lines": _wrapped(chart.caption.finding, 26, RANGES_WORDS, 5),
    }


def _wrapped(text: str, size: int, room: float, most: int) -> list[str]:
    """Break a text into at most `most` lines of `room` pixels; an ellipsis shows what is left out."""
    return textwrap.wrap(text, int(room / (EM * size)), max_lines=most, placeholder="…")


def drawings(ctx: Tick, market: MarketRegimeResponse) -> dict[str, Drawing]:
    """Put into words what the pictures of a tick show, by page; "" for the pages without one of their own."""
    mark = MARKS.get(ctx.observation.mode, "")
    return {
        "/": _now(ctx, market, mark, f"As of {as_of(ctx)}"),
        ARENA: _arena(ctx, mark, f"As of {moment(ctx.freshness.generated_ms):%-d %b %Y, %H:%M} UTC"),
        "": _general(ctx, mark),
    }


def _now(ctx: Tick, market: MarketRegimeResponse, mark: str, at: str) -> Drawing:
    # Then how far: in a picture, or in the record's first figure where no range is known.
    drawing = Drawing(
        project=ctx.site.project,
        mark=mark,
        kicker=_KICKERS.get(mark, "The crypto market now"),
        headline=market.headline,
        text=market.summary,
        as_of=at,
        text_lines=2,
    )

    ranges = hour_ranges(ctx)
    if ranges is not None:
        return replace(drawing, ranges=ranges)

    figure = far_figure(ctx.arena, ctx.freshness.generated_ms)
    return replace(drawing, cards=((figure.number, figure.what),))


def _arena(ctx: Tick, mark: str, at: str) -> Drawing:
    """Show the question that can be voted on, its answers, and until when the brain's forecast is sealed: no rate.

    A picture travels without its page, and without what a rate was counted over.
    """
    drawing = Drawing(
        project=ctx.site.project,
        mark=mark,
        kicker="The Arena: people and the brain, same question",
        headline="No round takes votes at the moment",
        text="The next one starts by the clock.",
        as_of=at,
    )
    asked = ctx.arena.open
    if asked is None:
        return drawing

    opens = f"{moment(asked.start_ms):%H:%M}"
    sealed = "The brain's forecast is sealed" if asked.sealed_digest else "The brain makes no forecast"
    return replace(
        drawing,
        headline=f"Where will {asked.asset} be at {moment(asked.end_ms):%H:%M} UTC?",
        text=f"Against its price at {opens}. {sealed}{f'; it opens at {opens}' if asked.sealed_digest else ''}.",
        sides=_answers(asked.band_bps),
    )


def _answers(band_bps: float | None) -> tuple[tuple[str, str], ...]:
    """Return each answer with what it means."""
    up, small, down = (OUTCOME[side] for side in (Prediction.BULLISH, Prediction.NEUTRAL, Prediction.BEARISH))
    if band_bps is None:
        return ((up, "higher"), (small, "about the same"), (down, "lower"))

    width = band(band_bps)
    return ((up, f"more than {width} higher"), (small, f"within {width}"), (down, f"more than {width} lower"))


def _general(ctx: Tick, mark: str) -> Drawing:
    return Drawing(
        project=ctx.site.project,
        mark=mark,
        kicker="A weather report for the crypto market",
        headline="The market in words, and every forecast scored",
        text=f"{ENDPOINTS_IN_WORDS.capitalize()} free answers, renewed each minute, without a key. Every miss is kept.",
    )


def as_of(ctx: Tick) -> str:
    """Write the market's time: of a replay that is when its prices were made, not now."""
    return f"{moment(ctx.observation.market_ms):%-d %b %Y, %H:%M} UTC"


def attributed(inner: Markup) -> Markup:
    """Replace the classes of a drawing by attributes, and leave out what only answers a pointer."""
    plain = _HOVER.sub("", str(inner))
    styled = _CLASS.sub(lambda match: _LOOKS[match[1].split()[0]], plain)
    return Markup(styled)  # noqa: S704  ours, escaped when made
