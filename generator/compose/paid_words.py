"""What the paid market regime, main brain and ATLAS say in words."""

from dataclasses import fields
from typing import Final

from generator.brain.ladder import LevelChances, Partition
from generator.catalog.assets import ASSET_NAMES, ASSETS, DEFAULT_ASSET
from generator.catalog.text.kept import SIDE, STEP
from generator.catalog.text.paid import Level, PaidFacts, Parts, StateText, said
from generator.catalog.text.report.facts import ReportFacts
from generator.compose.context import TickContext
from generator.compose.inputs import reading_of
from generator.compose.spells import Spells, StateSpells
from generator.values.chances import Probabilities

_OF_REPORT: Final = tuple(field.name for field in fields(ReportFacts))
_IN_REACH: Final = 0.05  # chance of a level that is spoken of


def paid_facts(ctx: TickContext, report: ReportFacts, states: Spells | None) -> PaidFacts:
    """Return what the texts are made from."""
    return PaidFacts(
        **{name: getattr(report, name) for name in _OF_REPORT},
        level=_level(ctx),
        parts=_parts(ctx, DEFAULT_ASSET),
        furthest=_furthest(ctx),
        side_state=_state(states.side if states else None, SIDE),
        step_state=_state(states.volatility if states else None, STEP),
    )


def regime_headline(facts: PaidFacts) -> str:
    """Return the headline of the paid market regime."""
    return said(facts, "regime_news")


def spells_summary(facts: PaidFacts) -> str:
    """Say how long the state has held and such states last, and which hour made the day."""
    return said(facts, "side_spells", "step_spells", "largest_hour", "largest_share")


def brain_headline(facts: PaidFacts) -> str:
    """Return the headline of the paid main brain."""
    return said(facts, "brain_news")


def brain_summary_text(facts: PaidFacts) -> str:
    """Say how far Bitcoin may go, and how such ranges held."""
    return said(facts, "no_ranges", "hour_and_four", "a_day_on", "beyond", "held", "no_direction")


def atlas_headline(facts: PaidFacts) -> str:
    """Return the headline of the structured ATLAS."""
    return said(facts, "atlas_news")


def atlas_summary(facts: PaidFacts) -> str:
    """Say what the next four hours may bring in three parts, and how long the state has held."""
    return said(facts, "parts", "parts_usually", "most_apart", "side_spells")


def _state(spells: StateSpells | None, words: dict[str, str]) -> StateText | None:
    return None if spells is None else StateText(words[spells.state], spells.hours or 0.0, spells.text)


def _level(ctx: TickContext) -> Level | None:
    """Return the highest level of Bitcoin over four hours that is in reach, else the lowest there is."""
    read = reading_of(ctx, DEFAULT_ASSET)
    if read is None or read.ladder is None:
        return None
    first, *higher = read.ladder["4h"]
    level: LevelChances = first
    for candidate in higher:
        if candidate.end.either >= _IN_REACH:
            level = candidate
    return Level(level.level, 100 * level.end.either, 100 * level.touch.either)


def _parts(ctx: TickContext, asset: str) -> Parts | None:
    read = reading_of(ctx, asset)
    part: Partition | None = read.partition if read else None
    if part is None:
        return None
    return Parts(round(100 * part.band, 2), *_of_hundred(part.chances), _of_hundred(part.base_rate))


def _of_hundred(chances: Probabilities) -> tuple[int, int, int]:
    """Return up, within and down as whole numbers that add to 100."""
    down, within, up = of_hundred((chances.down, chances.neutral, chances.up))
    return up, within, down


def of_hundred(chances: tuple[float, float, float]) -> tuple[int, int, int]:
    """Return three chances as whole numbers that add to 100.

    >>> of_hundred((0.335, 0.335, 0.33))
    (34, 33, 33)
    """
    scaled = [100 * chance for chance in chances]
    whole = [int(value) for value in scaled]
    by_rest = sorted(range(3), key=lambda place: (whole[place] - scaled[place], place))
    for place in by_rest[: 100 - sum(whole)]:
        whole[place] += 1
    first, second, third = whole
    return first, second, third


def _furthest(ctx: TickContext) -> tuple[str, float] | None:
    """Return the coin whose parts are farthest from their base rates, and by how many of 100 cases."""
    known = {asset: parts.apart for asset in ASSETS if (parts := _parts(ctx, asset))}
    if not known:
        return None
    asset = max(known, key=known.__getitem__)
    return ASSET_NAMES[asset], known[asset]
