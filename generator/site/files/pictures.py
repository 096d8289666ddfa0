"""The pictures that pages show where they are shared (Open Graph): what they say, drawn as SVG and rendered to PNG."""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
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
from generator.catalog.words import Prediction, SourceMode
from generator.compose.context import TickContext
from generator.compose.regime import MarketRegimeResponse
from generator.site.charts.history import FIRST_CHART
from generator.site.charts.plot import Chart
from generator.site.files.history import attributed
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
LONGEST_ALT: Final = 400
NO_CHARTS: Final[Mapping[str, Chart]] = {}
_WAYS: Final = {
    Prediction.BULLISH: "higher",
    Prediction.NEUTRAL: "about the same",
    Prediction.BEARISH: "lower",
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

    def alt(self) -> str:
        """Say the same for readers who do not see the picture."""
        figures = map(" ".join, self.cards)
        marked = f"{self.mark.capitalize()} data" if self.mark else ""
        drawn = self.text if self.chart else ""
        parts = (f"{self.kicker}: {self.headline}", *figures, drawn, marked, self.as_of, NOTICE)
        return (". ".join(part.rstrip(".") for part in parts if part) + ".")[:LONGEST_ALT]


@dataclass(frozen=True, slots=True)
class Pictures:
    """The pictures as files, and by page path with their alternative text; pages that are not here have that of ""."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    shares: Mapping[str, SharePicture] = field(default_factory=dict)


def pictures(drawings: Mapping[str, Drawing]) -> Pictures:
    """Draw what each page shows, by its path; "" for all other pages."""
    resources = Resources.locate()
    shares = {page: replace(PICTURES[page], alt=drawing.alt()) for page, drawing in drawings.items()}
    files = {PICTURES[page].path: png(svg(drawing, resources), resources) for page, drawing in drawings.items()}
    return Pictures(files, shares)


def svg(drawing: Drawing, resources: Resources) -> str:
    """Return a drawing as an SVG document of the share picture's size."""
    sizes = (60, 52, 46, 40) if drawing.chart else (68, 60, 52, 46, 40) if drawing.cards else (80, 68)
    most = 1 if drawing.bar else 2
    size = next((size for size in sizes if len(_wrapped(drawing.headline, size, ROOM, most + 1)) <= most), sizes[-1])
    headline = _wrapped(drawing.headline, size, ROOM, most)
    one_line = drawing.bar or drawing.chart or (drawing.cards and size * len(headline) > 110)
    return (
        environment(resources)
        .get_template("share.svg")
        .render(
            project="".join(_wrapped(drawing.project, 32, ROOM - 76 - (220 if drawing.mark else 0), 1)),
            mark=drawing.mark,
            kicker=drawing.kicker,
            headline={"size": size, "lines": headline},
            text={"size": 30, "lines": _sentences(drawing.text, 30, 1 if one_line else 2)},
            bar=_bar(drawing.bar),
            cards=_cards(drawing.cards),
            chart=drawing.chart,
            notice=NOTICE,
            as_of=drawing.as_of,
        )
    )


def png(document: str, resources: Resources) -> bytes:
    """Render an SVG document with the fonts of the site, none of the machine: equal documents give equal bytes."""
    fonts = [str(path) for path in sorted((resources.site / "fonts").glob("*.ttf"))]
    return bytes(resvg_py.svg_to_bytes(svg_string=document, skip_system_fonts=True, font_files=fonts))


def _sentences(text: str, size: int, most: int) -> list[str]:
    """Break as many whole sentences as `most` lines hold; a first one that is too long is cut."""
    ends = [found.end() for found in re.finditer(r"[.?](?=\s)|$", text)]
    whole = (_wrapped(text[:end], size, ROOM, most + 1) for end in reversed(ends))
    return next((lines for lines in whole if len(lines) <= most), _wrapped(text, size, ROOM, most))


def _cards(cards: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    gap = 24
    width = (ROOM - gap * (len(cards) - 1)) // len(cards) if cards else 0
    placed = []
    for place, (number, meaning) in enumerate(cards):
        left = LEFT + place * (width + gap)
        size = 56 if any(sign.isdigit() for sign in number) else 40
        text_left = left + 56 + round(EM * size * len(number))
        lines = _wrapped(meaning, 23, left + width - 20 - text_left, 4)
        placed.append(
            {"number": number, "size": size, "left": left, "width": width, "text_left": text_left, "lines": lines}
        )
    return placed


def _bar(shares: tuple[Proportion, ...]) -> list[dict[str, Any]]:
    """Place the votes side by side in one bar; a part too narrow for its label has none."""
    parts = []
    left = float(LEFT)
    for votes, name in zip(shares, ("up", "same", "down"), strict=False):
        number = f"{votes.percent:.0f}%" if enough(votes) else f"{votes.hits}"
        label, width = f"{name} {number}", votes.hits / votes.n * ROOM
        if votes.hits:
            fits = EM * 22 * len(label) + 16 < width
            parts.append({"name": name, "left": left, "width": max(1, width - 3), "label": label if fits else ""})
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
    regime = _now(ctx, market, mark, as_of)
    general = {ARENA: _arena(ctx, mark, as_of), "": _general(ctx, mark)}
    return {"/": _charted(regime, charts.get(FIRST_CHART)), **general, **dict(_assets(ctx, charts, mark, as_of))}


def _assets(ctx: TickContext, charts: Mapping[str, Chart], mark: str, as_of: str) -> Iterator[tuple[str, Drawing]]:
    """Give each asset's page with the finding of its chart as headline."""
    for asset, name in ASSET_NAMES.items():
        chart = charts.get(f"{asset.lower()}-7d")
        headline, _, rest = (
            chart.caption.finding.partition(". ") if chart else (f"No prices of {asset} are known yet", "", "")
        )
        drawing = Drawing(ctx.site.project, mark, f"{name} over seven days", headline, "", as_of=as_of)
        yield asset_path(asset), replace(_charted(drawing, chart), text=f"{rest}." if rest else "")


def _charted(drawing: Drawing, chart: Chart | None) -> Drawing:
    """Show a chart without its letters in place of the figures; the text says what it shows."""
    if chart is None:
        return drawing
    shapes = Markup(_TEXT.sub("", attributed(chart.inner)))  # noqa: S704  ours, escaped when it was made
    return replace(drawing, cards=(), text=f"{chart.caption.finding.split('. ')[0]}.", chart=shapes)


def _now(ctx: TickContext, market: MarketRegimeResponse, mark: str, as_of: str) -> Drawing:
    kicker = {"SIMULATED": "The crypto market as simulated", "REPLAYED": "The crypto market as recorded"}
    sure = market.regime.confidence
    figure = far_figure(ctx.arena, ctx.freshness.generated_ms)
    said = market.summary.removeprefix(market.headline).strip()
    cards = [] if sure is None else [(f"{sure:.1f}", "confidence in this regime, out of 100")]
    return Drawing(
        project=ctx.site.project,
        mark=mark,
        kicker=kicker.get(mark, "The crypto market now"),
        headline=market.headline,
        text=said if sure is not None else "The regime is unknown at the moment.",
        cards=(*cards, (figure["number"], figure["what"])),
        as_of=as_of,
    )


def _arena(ctx: TickContext, mark: str, as_of: str) -> Drawing:
    live, teacher, (who, tally) = ctx.arena.live, ctx.arena.teacher, votes_shown(ctx)
    headline, text = "No round is live at the moment", "The next one starts by the clock."
    votes: tuple[int, ...] = ()
    if live is not None:
        forecast = "has no forecast" if live.prediction is None else f"says {_WAYS[live.prediction]}"
        until = f"{moment(live.end_ms):%H:%M}"
        headline = f"{live.asset} by {until} UTC: up, down or same?"
        text = f"The brain {forecast}. {count(tally.total, f'{who.lower()} vote')}{':' if tally.total else '.'}"
        votes = (tally.bullish, tally.neutral, tally.bearish) if tally.total else ()
    return Drawing(
        project=ctx.site.project,
        mark=mark,
        kicker="The Arena: people and the brain, same question",
        headline=headline,
        text=text,
        # Of a market with a simulated crowd the rate would be that of real and simulated voters together.
        cards=(_right("the brain", teacher.brain), *([] if mark == "SIMULATED" else [_right("people", teacher.crowd)])),
        bar=tuple(rate(number, tally.total) for number in votes),
        as_of=as_of,
    )


def _right(who: str, of: Proportion) -> tuple[str, str]:
    if not of.n:
        return share(of), f"rounds scored for {who}"
    if not enough(of):
        return share(of), f"rounds {who} got right; too few to tell"
    ends = f"95% interval {of.low_percent:.0f} to {of.high_percent:.0f}%"
    return share(of), f"of {of.n:,} rounds {who} got right ({ends}); a guess gets 33%"


def _general(ctx: TickContext, mark: str) -> Drawing:
    return Drawing(
        project=ctx.site.project,
        mark=mark,
        kicker="A weather report for the crypto market",
        headline="The market in words, and every forecast scored",
        text=f"{ENDPOINTS_IN_WORDS.capitalize()} free answers, renewed each minute, without a key. Every miss is kept.",
    )
