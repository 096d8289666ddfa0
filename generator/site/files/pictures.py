"""The pictures that pages show where they are shared (Open Graph): what they say, drawn as SVG and rendered to PNG."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import resvg_py
from markupsafe import Markup

from generator.arena.rates import enough, rate, share
from generator.arena.values import Proportion
from generator.catalog.assets import ASSET_NAMES
from generator.catalog.counts import ENDPOINTS_IN_WORDS
from generator.catalog.discovery import SHARE_PICTURE, SHARE_PICTURES, SharePicture
from generator.catalog.links import ARENA, asset_path
from generator.catalog.text.labels import MIXED, OUTCOME, REGIME
from generator.catalog.text.market import is_asserted
from generator.catalog.words import Call, SourceMode
from generator.compose.context import TickContext
from generator.compose.regime import MarketRegimeResponse
from generator.site.charts.history import FIRST_CHART
from generator.site.charts.plot import Chart
from generator.site.files.history import WEEK, attributed
from generator.site.resources import Resources
from generator.site.templates import environment
from generator.site.words.format import count, moment
from generator.site.words.record import far_figure
from generator.site.words.votes import votes_shown

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
LONGEST_ALT: Final = 400
NO_CHARTS: Final[Mapping[str, Chart]] = {}
_KICKERS: Final = {
    "SIMULATED": "The crypto market as simulated",
    "REPLAYED": "The crypto market as recorded",
}
_TEXT: Final = re.compile(r"<text\b.*?</text>")
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
    bar: tuple[Proportion, ...] = ()  # shares of bullish, neutral and bearish votes, where there are any
    as_of: str = ""  # at the foot, empty where nothing changes
    chart: Markup | str = ""  # without its letters, in place of the figures; `text` says what it shows
    text_lines: int | None = None  # at most; None: as many as the rest leaves room for

    def alt(self) -> str:
        """Say the same for readers who do not see the picture."""
        parts = [f"{self.kicker}: {self.headline}", *map(" ".join, self.cards)]
        if self.text_lines:
            parts.insert(1, self.text)
        if self.chart:
            parts.append(self.text)
        if self.mark:
            parts.append(f"{self.mark.capitalize()} data")
        parts += [self.as_of, NOTICE]

        alt = ". ".join(part.rstrip(".") for part in parts if part)
        return f"{alt}."[:LONGEST_ALT]


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
    headline_lines = 1 if drawing.bar else 2
    size, headline = _headline(drawing, headline_lines)

    # Below a bar, a chart, or cards under a headline of two lines there is room for one line of text.
    tall_headline = size * len(headline) > TALL_HEADLINE
    one_line = drawing.bar or drawing.chart or (drawing.cards and tall_headline)
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
        "bar": _bar(drawing.bar),
        "cards": _cards(drawing.cards),
        "chart": drawing.chart,
        "notice": NOTICE,
        "as_of": drawing.as_of,
    }
    return environment(resources).get_template("share.svg").render(values)


def _headline(drawing: Drawing, most: int) -> tuple[int, list[str]]:
    """Return the largest size in which the headline fits into `most` lines, and the lines; the smallest cuts it."""
    sizes: tuple[int, ...]
    if drawing.chart:
        sizes = (60, 52, 46, 40)
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


def _bar(shares: tuple[Proportion, ...]) -> list[dict[str, Any]]:
    """Place the votes side by side in one bar; a part too narrow for its label has none."""
    parts = []
    left = float(LEFT)
    for votes, name in zip(shares, ("up", "small move", "down"), strict=False):
        number = f"{votes.percent:.0f}%" if enough(votes) else f"{votes.hits}"
        label = f"{name} {number}"
        width = votes.hits / votes.n * ROOM
        if votes.hits:
            label_fits = EM * 22 * len(label) + 16 < width
            parts.append(
                {
                    "name": name,
                    "left": left,
                    "width": max(1, width - 3),
                    "label": label if label_fits else "",
                }
            )
        left += width
    return parts


def _wrapped(text: str, size: int, room: float, most: int) -> list[str]:
    """Break a text into at most `most` lines of `room` pixels; an ellipsis shows what is left out."""
    return textwrap.wrap(text, int(room / (EM * size)), max_lines=most, placeholder="…")


def drawings(
    ctx: TickContext, market: MarketRegimeResponse, charts: Mapping[str, Chart] = NO_CHARTS
) -> dict[str, Drawing]:
    """Put into words what the pictures of a tick show."""
    mark = MARKS.get(ctx.observation.mode, "")
    now = moment(ctx.freshness.generated_ms)
    as_of = f"As of {now.day} {now:%b %Y, %H:%M} UTC"

    by_page = {
        "/": _charted(_now(ctx, market, mark, as_of), charts.get(FIRST_CHART)),
        ARENA: _arena(ctx, mark, as_of),
        "": _general(ctx, mark),
    }
    for asset in ASSET_NAMES:
        by_page[asset_path(asset)] = _asset(ctx, asset, charts.get(f"{asset.lower()}-{WEEK}"), mark, as_of)
    return by_page


def _asset(ctx: TickContext, asset: str, chart: Chart | None, mark: str, as_of: str) -> Drawing:
    """Show an asset's week; the first sentence of the chart's finding is the headline."""
    drawing = Drawing(
        project=ctx.site.project,
        mark=mark,
        kicker=f"{ASSET_NAMES[asset]} over seven days",
        headline=f"No prices of {asset} are known yet",
        text="",
        as_of=as_of,
    )
    if chart is None:
        return drawing

    headline, _, rest = chart.caption.finding.partition(". ")
    text = f"{rest}." if rest else ""
    return replace(_charted(drawing, chart), headline=headline, text=text)


def _charted(drawing: Drawing, chart: Chart | None) -> Drawing:
    """Show a chart without its letters in place of the figures; the text says what it shows."""
    if chart is None:
        return drawing

    shapes = Markup(_TEXT.sub("", attributed(chart.inner)))  # noqa: S704  ours, escaped when it was made
    first_sentence = chart.caption.finding.split(". ")[0]
    return replace(drawing, cards=(), text=f"{first_sentence}.", chart=shapes)


def _now(ctx: TickContext, market: MarketRegimeResponse, mark: str, as_of: str) -> Drawing:
    # The state now is the headline, the day and the hour are the text.
    state, _, rest = market.headline.partition(". ")

    cards = []
    regime = market.regime
    if regime.confidence is not None:
        if is_asserted(regime.label, regime.confidence):
            cards.append((f"{regime.confidence:.1f}", f"the chance, of 100, that the regime is {REGIME[regime.label]}"))
        else:
            cards.append((MIXED.capitalize(), "no regime has a chance of one half"))
    figure = far_figure(ctx.arena, ctx.freshness.generated_ms)
    cards.append((figure["number"], figure["what"]))

    return Drawing(
        project=ctx.site.project,
        mark=mark,
        kicker=_KICKERS.get(mark, "The crypto market now"),
        headline=state if rest else state.removesuffix("."),
        text=rest,
        cards=tuple(cards),
        as_of=as_of,
        text_lines=3,
    )


def _arena(ctx: TickContext, mark: str, as_of: str) -> Drawing:
    headline = "No round is live at the moment"
    text = "The next one starts by the clock."
    votes: tuple[int, ...] = ()
    whose, tally = votes_shown(ctx)

    live = ctx.arena.live
    if live is not None:
        headline = f"{live.asset} by {moment(live.end_ms):%H:%M} UTC: up, small move or down?"
        if live.prediction is None:
            forecast = "has no forecast"
        elif live.call is Call.NONE:
            forecast = "makes no call"
        else:
            forecast = f"says {OUTCOME[live.prediction]}"
        text = f"The brain {forecast}. {count(tally.total, f'{whose.lower()} vote')}"
        text += ":" if tally.total else "."
        if tally.total:
            votes = (tally.bullish, tally.neutral, tally.bearish)

    # A picture travels without its page: it has no rate of fewer than 30 rounds, and none of a backtest. Of a market
    # with a simulated crowd the people's would be that of real and simulated voters together.
    rates = [("calls of the brain", ctx.arena.teacher.brain)]
    if mark != "SIMULATED":
        rates.append(("votes of the people", ctx.arena.teacher.crowd))
    cards = [_hit_rate(whose, hits) for whose, hits in rates if enough(hits)]

    return Drawing(
        project=ctx.site.project,
        mark=mark,
        kicker="The Arena: people and the brain, same question",
        headline=headline,
        text=text,
        cards=tuple(cards),
        bar=tuple(rate(number, tally.total) for number in votes),
        as_of=as_of,
    )


def _hit_rate(whose: str, hits: Proportion) -> tuple[str, str]:
    """Return how often someone was right, and what the figure means."""
    interval = f"95% interval {hits.low_percent:.0f} to {hits.high_percent:.0f}%"
    return share(hits), f"of {hits.n:,} {whose} came true ({interval}), since the start"


def _general(ctx: TickContext, mark: str) -> Drawing:
    return Drawing(
        project=ctx.site.project,
        mark=mark,
        kicker="A weather report for the crypto market",
        headline="The market in words, and every forecast scored",
        text=f"{ENDPOINTS_IN_WORDS.capitalize()} free answers, renewed each minute, without a key. Every miss is kept.",
    )
