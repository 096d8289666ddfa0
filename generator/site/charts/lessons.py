"""The small pictures of Learn: a spell of each regime lately, and how little a few cases say."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import Final, NamedTuple

from markupsafe import Markup

from generator.arena.rates import rate
from generator.arena.values import Hour
from generator.brain.label import REGIMES
from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.labels import REGIME
from generator.catalog.words import RegimeLabel
from generator.site.charts.plot import WIDTH, Axis, Caption, Chart, Plane, Row, axis, row_chart, text
from generator.site.words.days import regime_of
from generator.site.words.format import moment, signed

LABELS: Final = (*REGIMES, RegimeLabel.TRANSITION)
SAMPLES: Final = ((5, 10), (50, 100), (500, 1_000))  # right, of
_SHORTEST: Final = 6  # hours of a spell that make a picture
_LONGEST: Final = 24
_EDGES: Final = (56.0, 330.0, 0.0, WIDTH)
_HEIGHT: Final = 380
_GROUND: Final = Markup('<rect class="tint r-{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>')


class Spell(NamedTuple):
    """Hours without a gap that have one regime as shown."""

    label: RegimeLabel
    hours: tuple[Hour, ...]

    def chance(self) -> float:
        """Return the mean chance of the regime; of mixed hours, in which none leads, how many there are."""
        if self.label not in REGIMES:
            return float(len(self.hours))
        place = REGIMES.index(self.label)
        return fmean(hour.chances[place] if hour.chances else 0.0 for hour in self.hours)

    def changes(self) -> dict[str, float]:
        """Return the change of each asset from the first hour to the last, in percent."""
        return {asset: path[-1] for asset, path in self.paths().items()}

    def paths(self) -> dict[str, list[float]]:
        """Return the change since the first hour at each hour, in percent, of the assets with a price in all."""
        known = [asset for asset in ASSETS if all(asset in hour.prices for hour in self.hours)]
        prices = {asset: [hour.prices[asset] for hour in self.hours] for asset in known}
        return {asset: [100 * (price / path[0] - 1) for price in path] for asset, path in prices.items()}


def spell_name(label: RegimeLabel) -> str:
    """Return the name of the picture of a regime."""
    return f"spell-{label.replace('_', '-')}"


def spells(hours: Sequence[Hour], source: Markup | str) -> tuple[Chart, ...]:
    """Draw the clearest spell of each regime; all pictures have one scale.

    Args:
        hours: of the last month, oldest first.
    """
    chosen = clearest_spells(hours)
    reach = max((abs(value) for spell in chosen for path in spell.paths().values() for value in path), default=0.0)
    return tuple(_drawn(spell, reach or 1.0, source) for spell in chosen)


def clearest_spells(hours: Sequence[Hour]) -> tuple[Spell, ...]:
    """Return of each regime the spell in which its mean chance was highest, the newest of equal ones, cut to a day."""
    clearest: dict[RegimeLabel, Spell] = {}
    for spell in _spells(hours):
        if len(spell.hours) < _SHORTEST or not spell.paths():
            continue
        before = clearest.get(spell.label)
        if before is None or spell.chance() >= before.chance():
            clearest[spell.label] = spell

    return tuple(Spell(label, clearest[label].hours[-_LONGEST:]) for label in LABELS if label in clearest)


def _spells(hours: Sequence[Hour]) -> Iterator[Spell]:
    if not hours:
        return
    run = [hours[0]]
    for before, hour in pairwise(hours):
        is_next = hour.market_ms - before.market_ms == HOUR_MS
        if not is_next or regime_of(hour) is not regime_of(before):
            yield Spell(regime_of(before), tuple(run))
            run = []
        run.append(hour)
    yield Spell(regime_of(run[0]), tuple(run))


def _drawn(spell: Spell, reach: float, source: Markup | str) -> Chart:
    first = spell.hours[0].market_ms
    last = spell.hours[-1].market_ms
    times = ((float(first), f"{moment(first):%-d %b, %H:%M}"), (float(last), f"{moment(last):%-d %b, %H:%M}"))
    plane = Plane(Axis(first, last, (), ""), axis(-reach, reach, "change, %"), *_EDGES)

    parts = [_GROUND.format(spell.label, plane.left, plane.top, plane.right - plane.left, plane.bottom - plane.top)]
    parts += [*plane.grid(), *plane.labels()]
    for number, path in enumerate(spell.paths().values()):
        points = [(hour.market_ms, value) for hour, value in zip(spell.hours, path, strict=True)]
        parts.append(plane.path("line" if number == 0 else "line other", points))
    for (_, words), anchor, x in zip(times, ("start", "end"), (plane.left, plane.right), strict=True):
        parts.append(text("tick", x, plane.bottom + 34, words, anchor))

    changes = spell.changes()
    middle = signed(median(changes.values()))
    length = f"{len(spell.hours)} hours"
    caption = Caption(
        name=spell_name(spell.label),
        finding=f"{REGIME[spell.label].capitalize()}: the median asset {middle} in {length}",
        desc="A line for each asset, in percent from the first hour; the thick one is the first asset of the table.",
        source=source,
        columns=("Asset", f"Change over {length}"),
        rows=tuple((asset, signed(change)) for asset, change in changes.items()),
    )
    return Chart(caption, Markup("").join(parts), _HEIGHT)


def few_cases(name: str) -> Chart:
    """Draw what half of ten, of a hundred and of a thousand cases say of the true rate."""
    rows = [_sample(right, of) for right, of in SAMPLES]
    caption = Caption(
        name=name,
        finding="Half of the cases were right: where the true rate may be, 95 times in 100",
        desc="A dot at one half for 10, 100 and 1,000 cases, with its 95% interval as a line: the more, the shorter.",
        source="Wilson's interval, as everywhere on these pages.",
        columns=("Right", "True rate between"),
    )
    return row_chart(caption, "true rate, %", rows)


def _sample(right: int, of: int) -> Row:
    share = rate(right, of)
    label = f"{right:,} of {of:,}"
    return Row(
        label,
        share.percent,
        f"{share.low_percent:.0f} to {share.high_percent:.0f}%",
        share.low_percent,
        share.high_percent,
    )


def by_label(figures: Mapping[str, Markup]) -> tuple[tuple[RegimeLabel, Markup | None], ...]:
    """Return each regime with its picture, None where the month had no spell of it."""
    return tuple((label, figures.get(spell_name(label))) for label in LABELS)
