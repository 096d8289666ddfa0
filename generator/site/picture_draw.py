"""Drawing a share picture: boxes, lines and words in the site's colours, with Pillow's built-in font.

The same drawing gives the same bytes. Pillow is imported where it draws: in the thread, and by nobody else.
"""

from __future__ import annotations

import io
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from generator.catalog.discovery import SHARE_PICTURE

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

    Font = FreeTypeFont | ImageFont

SIZE: Final = (SHARE_PICTURE.width, SHARE_PICTURE.height)
EDGE: Final = 64
TOP: Final = 44
SIGN: Final = 56
NOTICE: Final = "For learning only. Not advice."
# Of site.css, light.
GROUND, SHEET, INK, SOFT, LINE = "#fbfaf7", "#ffffff", "#1c2426", "#55605f", "#dcd9d0"
ACCENT, WARN, WARN_GROUND, AGAINST, EVEN = "#0b6470", "#7a4a00", "#fdf0d5", "#a4653a", "#8a9796"
SUN: Final = "#ffd27a"
COLOURS: Final = 128  # of the palette: enough for the edges of letters
_PLAIN: Final = str.maketrans(
    {"\u2013": "-", "\u2014": "-", "\u2212": "-", "\u00a0": " ", "\u202f": " ", "\u2192": ">"}
)


@dataclass(frozen=True, slots=True)
class Card:
    """One figure with what it means, beside or below the words."""

    number: str
    what: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything a picture shows, in words; what is equal here is drawn to equal bytes.

    Args:
        project: its name, at the top.
        mark: SIMULATED or REPLAYED, empty for a live market.
        kicker: above the headline.
        headline: one short sentence.
        text: a second one.
        cards: at most two figures with their worth.
        bar: shares of bullish, neutral and bearish votes, 0..1, or None.
        as_of: at the foot, empty where nothing changes.
    """

    project: str
    mark: str
    kicker: str
    headline: str
    text: str
    cards: tuple[Card, ...] = ()
    bar: tuple[float, float, float] | None = None
    as_of: str = ""

    def alt(self, limit: int = 400) -> str:
        """Say the same for those who do not see it."""
        figures = [f"{card.number} {card.what}" for card in self.cards]
        marked = [f"{self.mark.capitalize()} data"] if self.mark else []
        parts = [f"{self.kicker}: {self.headline}", *figures, *marked, self.as_of, NOTICE.rstrip(".")]
        return (". ".join(part.rstrip(".") for part in parts if part) + ".")[:limit]


def draw(drawing: Drawing) -> bytes:
    """Return the picture as PNG; the same drawing gives the same bytes."""
    from PIL import Image, ImageDraw  # noqa: PLC0415  a tenth of a second, for the thread that draws

    image = Image.new("RGB", SIZE, GROUND)
    brush = ImageDraw.Draw(image)
    image.paste(_sign(SIGN), (EDGE, TOP))
    _head(brush, drawing)
    y = _words(brush, drawing)
    if drawing.bar is not None:
        _bar(brush, drawing.bar, y)
    _cards(brush, drawing.cards)
    _foot(brush, drawing)
    out = io.BytesIO()
    image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def _head(brush: ImageDraw, drawing: Drawing) -> None:
    """Draw the sign of the site, its name, and the mark of what is no live market."""
    left, top, side = EDGE, TOP, SIGN
    room = SIZE[0] - 2 * EDGE - side - 20
    if drawing.mark:
        font = _font(26)
        width = round(brush.textlength(drawing.mark, font=font)) + 44
        right = SIZE[0] - EDGE
        brush.rounded_rectangle((right - width, top + 4, right, top + 52), 24, fill=WARN_GROUND, outline=WARN, width=2)
        brush.text((right - width / 2, top + 28), drawing.mark, fill=WARN, font=font, anchor="mm", stroke_width=0.6)
        room -= width + 20
    name = _shortened(brush, _plain(drawing.project), _font(32), room)
    brush.text((left + side + 20, top + side / 2), name, fill=INK, font=_font(32), anchor="lm", stroke_width=0.6)


def _sign(side: int) -> Image:
    """Return the sign of favicon.svg, drawn four times as large, so that its edges are smooth."""
    from PIL import Image, ImageDraw  # noqa: PLC0415

    unit = 4 * side / 32
    sign = Image.new("RGB", (4 * side, 4 * side), GROUND)
    brush = ImageDraw.Draw(sign)
    brush.rounded_rectangle((0, 0, 4 * side - 1, 4 * side - 1), 8 * unit, fill=ACCENT)
    brush.ellipse((16 * unit, 6.5 * unit, 25 * unit, 15.5 * unit), fill=SUN)
    wave = [(unit * (5 + step / 10), unit * (19.5 + 2.5 * math.cos(step / 70 * math.pi))) for step in range(221)]
    for x, y in wave:
        brush.ellipse((x - 1.3 * unit, y - 1.3 * unit, x + 1.3 * unit, y + 1.3 * unit), fill=SHEET)
    return sign.resize((side, side), Image.Resampling.LANCZOS)


def _words(brush: ImageDraw, drawing: Drawing) -> int:
    """Draw kicker, headline and text; return where they end."""
    y = 136 if drawing.cards else 190
    brush.text((EDGE, y), _plain(drawing.kicker), fill=ACCENT, font=_font(28), stroke_width=0.4)
    y += 46
    size, lines = _fitted(
        brush, _plain(drawing.headline), (68, 60, 52) if drawing.cards else (80,), 1 if drawing.bar else 2
    )
    for line in lines:
        brush.text((EDGE, y), line, fill=INK, font=_font(size), stroke_width=1.1)
        y += round(size * 1.14)
    y += 14
    most = 1 if drawing.bar or (drawing.cards and len(lines) > 1) else 2
    for line in _sentences(brush, _plain(drawing.text), _font(30), most):
        brush.text((EDGE, y), line, fill=SOFT, font=_font(30))
        y += 40
    return y


def _bar(brush: ImageDraw, shares: tuple[float, float, float], y: int) -> None:
    """Draw the votes as one bar; each part says its word, so that no meaning is in the colour alone."""
    left, right, top = EDGE, SIZE[0] - EDGE, y + 8
    x = float(left)
    names = (("up", ACCENT, SHEET), ("same", EVEN, INK), ("down", AGAINST, SHEET))
    for share, (name, colour, ink) in zip(shares, names, strict=True):
        end = x + share * (right - left)
        if share > 0:
            brush.rectangle((x, top, end - 3, top + 34), fill=colour)
        label = f"{name} {100 * share:.0f} %"
        if brush.textlength(label, font=_font(22)) + 16 < end - x:
            brush.text((x + 12, top + 17), label, fill=ink, font=_font(22), anchor="lm", stroke_width=0.4)
        x = end


def _cards(brush: ImageDraw, cards: tuple[Card, ...]) -> None:
    """Draw the figures side by side above the foot."""
    if not cards:
        return
    gap, top, bottom = 24, 416, 546
    width = (SIZE[0] - 2 * EDGE - gap * (len(cards) - 1)) // len(cards)
    for place, card in enumerate(cards):
        left = EDGE + place * (width + gap)
        brush.rounded_rectangle((left, top, left + width, bottom), 16, fill=SHEET, outline=LINE, width=2)
        number = _font(60 if any(sign.isdigit() for sign in card.number) else 40)
        brush.text((left + 24, (top + bottom) / 2), card.number, fill=INK, font=number, anchor="lm", stroke_width=0.8)
        beside = left + 24 + round(brush.textlength(card.number, font=number)) + 24
        lines = _wrapped(brush, _plain(card.what), _font(24), 3, left + width - 20 - beside)
        y = (top + bottom) / 2 - 16 * (len(lines) - 1)
        for line in lines:
            brush.text((beside, y), line, fill=SOFT, font=_font(24), anchor="lm")
            y += 32


def _foot(brush: ImageDraw, drawing: Drawing) -> None:
    y = 592
    brush.text((EDGE, y), drawing.as_of or NOTICE, fill=SOFT, font=_font(26), anchor="lm")
    if drawing.as_of:
        brush.text((SIZE[0] - EDGE, y), NOTICE, fill=SOFT, font=_font(26), anchor="rm")


def _fitted(brush: ImageDraw, text: str, sizes: tuple[int, ...], most: int) -> tuple[int, list[str]]:
    """Return the largest size at which a text takes no more lines than that."""
    for size in sizes:
        lines = _wrapped(brush, text, _font(size), most + 1)
        if len(lines) <= most:
            return size, lines
    return sizes[-1], _wrapped(brush, text, _font(sizes[-1]), most)


def _sentences(brush: ImageDraw, text: str, font: Font, most: int) -> list[str]:
    """Break as many whole sentences as that many lines hold; a first one that is too long is cut."""
    ends = [found.start() + 1 for found in re.finditer(r"[.:?](?=\s|$)", text)]
    for end in reversed(ends):
        lines = _wrapped(brush, text[:end], font, most + 1)
        if len(lines) <= most:
            return lines
    return _wrapped(brush, text, font, most)


def _wrapped(brush: ImageDraw, text: str, font: Font, most: int, room: int = SIZE[0] - 2 * EDGE) -> list[str]:
    """Break a text into at most that many lines; what is left out shows as dots."""
    lines: list[str] = []
    words = text.split()
    while words and len(lines) < most:
        taken = 1
        while taken < len(words) and brush.textlength(" ".join(words[: taken + 1]), font=font) <= room:
            taken += 1
        lines.append(_shortened(brush, " ".join(words[:taken]), font, room))
        words = words[taken:]
    if words:
        lines[-1] = _shortened(brush, lines[-1] + " ...", font, room, ending=" ...")
    return lines


def _shortened(brush: ImageDraw, text: str, font: Font, room: int, ending: str = "...") -> str:
    while len(text) > len(ending) and brush.textlength(text, font=font) > room:
        text = text.removesuffix(ending)[:-1].rstrip() + ending
    return text


def _plain(text: str) -> str:
    """Write a text with the signs that the font has."""
    return text.translate(_PLAIN)


_fonts: dict[int, Any] = {}


def _font(size: int) -> Any:
    from PIL import ImageFont  # noqa: PLC0415

    if size not in _fonts:
        _fonts[size] = ImageFont.load_default(size)
    return _fonts[size]
