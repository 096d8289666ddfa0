"""The charts of the track record: ranges against the moves that came, hit rates, and scores against simple rules."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from generator.arena.rates import counted, enough, share
from generator.arena.values import ForecastScores, HorizonRecord, MeanInterval, Proportion
from generator.catalog.horizons import HORIZONS
from generator.compose.scores import RULE_WORDS, against
from generator.site.charts.plot import Caption, Chart, Row, row_chart
from generator.site.words.format import percent, signed
from generator.site.words.record import between, interval

GUESS_PERCENT: Final = 100 / 3
UNIFORM_BRIER: Final = 2 / 3
BASELINE_NAMES: Final = {"brain": "The brain", "base_rate": "Base rate", "persistence": "Last outcome"}
_INTERVAL: Final = "95% interval"
_COMMON: Final = "always naming the most common outcome"


def coverage(name: str, scores: Sequence[HorizonRecord], source: Markup | str) -> Chart | None:
    """Draw how many moves ended inside the 50% and the 90% range; None where no horizon has its interval."""
    known, hour = _known(scores)
    if hour is None:
        return None
    rows = [_rate_row(f"{one.horizon}, 90%", one.scores[0].inside_90) for one in known]
    rows += [_rate_row(f"{one.horizon}, 50%", one.scores[0].inside_50) for one in known]
    in_90, in_50 = share(hour.scores[0].inside_90), share(hour.scores[0].inside_50)
    caption = Caption(
        name,
        f"Of {hour.resolved:,} moves over {HORIZONS[hour.horizon].words} {in_90} ended inside the 90% range, {in_50} inside "
        "the 50% range",
        "A dot for each horizon and range with its 95% interval as a line. The upright dashed lines are where the dots of "
        "the 50% and the 90% ranges should be.",
        source,
        ("Horizon and range", "Ended inside", _INTERVAL),
        tuple((row.label, row.text, between(row.low, row.high)) for row in rows),
    )
    return row_chart(caption, "ended inside, %", rows, marks=((50.0, "50%"), (90.0, "90%")))


def saved(name: str, scores: Sequence[HorizonRecord], source: Markup | str) -> Chart | None:
    """Draw by how much the pinball loss is below that of each simple rule; None where no horizon has its interval."""
    known, hour = _known(scores)
    if hour is None:
        return None
    rows = [
        _estimated(f"{one.horizon}, {RULE_WORDS[score.name].removeprefix('the ')}", score.pinball_saved)
        for one in known
        for score in one.scores[1:]
    ]
    caption = Caption(
        name,
        f"Over {HORIZONS[hour.horizon].words}: {against(hour)[0].lower()}{against(hour)[1:-1]}",
        "A dot for each horizon and simple rule, with its 95% interval as a line: how much smaller the pinball loss of the "
        "brain's ranges is. To the right of zero the brain is better.",
        source,
        ("Horizon and rule", "Pinball loss smaller by", _INTERVAL),
        tuple((row.label, row.text, between(row.low, row.high)) for row in rows),
    )
    return row_chart(caption, "pinball loss smaller by, %", rows, marks=((0.0, "no better"),))


def _known(scores: Sequence[HorizonRecord]) -> tuple[list[HorizonRecord], HorizonRecord | None]:
    """Return the horizons that have an interval, and the one that the title is about."""
    known = [
        one
        for one in scores
        if one.scores and enough(one.scores[0].inside_90) and one.scores[0].inside_90.low_percent is not None
    ]
    return known, next((one for one in known if one.horizon == "1h"), known[0] if known else None)


def _estimated(label: str, found: MeanInterval) -> Row:
    return Row(label, found.value, percent(found.value), found.low, found.high)


def rates(
    name: str, who: str, rows: Sequence[tuple[str, Proportion]], source: Markup | str, chance: Proportion | None = None
) -> Chart | None:
    """Draw hit rates with their intervals next to the chance level; None while too little came due.

    Args:
        chance: of always naming the outcome most frequent before; a blind guess where unknown.
    """
    first = next((rate for _, rate in rows if enough(rate)), None)
    if first is None:
        return None
    blind = "a blind guess", "blind guess", "a blind guess among three"
    known = None if chance is None else chance.percent
    rule, mark, meant = blind if known is None else (_COMMON, "most common", f"{_COMMON} before")
    level = GUESS_PERCENT if known is None else known
    caption = Caption(
        name,
        f"{who}: {counted(first, 'right')}; {rule} gets {percent(level)}",
        f"A dot for each rate with its 95% interval as a line. The upright dashed line is {meant}.",
        source,
        ("Who", "Cases", "Came true", _INTERVAL),
        tuple((label, f"{rate.n:,}", share(rate), interval(rate)) for label, rate in rows),
    )
    return row_chart(caption, "came true, %", [_rate_row(*row) for row in rows], marks=((level, mark),))


def skills(name: str, record: ForecastScores, source: Markup | str) -> Chart | None:
    """Draw how much better than equal chances the Brier scores are; None when nothing came due."""
    if record.brier is None:
        return None
    scores = {"brain": record.brier, **{key: record.baselines.get(key) for key in ("base_rate", "persistence")}}
    found = {key: 100 * (1 - score / UNIFORM_BRIER) for key, score in scores.items() if score is not None}
    rows = [Row(BASELINE_NAMES[key], skill, signed(skill, 1)) for key, skill in found.items()]
    caption = Caption(
        name,
        _brier_finding(record),
        "A dot for the brain and for each simple rule, over the same forecasts: how much smaller its Brier score is than "
        "that of equal chances. To the right of zero it is better.",
        source,
        ("Who", "Brier score", "Better than equal chances by"),
        tuple((BASELINE_NAMES[key], f"{scores[key]:.4f}", signed(skill, 1)) for key, skill in found.items()),
    )
    return row_chart(caption, "better than equal chances by, %", rows, marks=((0.0, "equal chances"),))


def _brier_finding(record: ForecastScores) -> str:
    """Say in one sentence how the score compares with the base rate's."""
    base = record.baselines.get("base_rate")
    if record.brier is None or base is None:
        return "There is nothing yet to compare a score with"
    if record.brier >= base:
        return f"Always giving the base rate would have scored {base:.3f}, the brain {record.brier:.3f}: no skill shown"
    return f"The brain's Brier score is {record.brier:.3f}, always giving the base rate scores {base:.3f} (lower is better)"


def _rate_row(label: str, rate: Proportion) -> Row:
    if not enough(rate):
        return Row(label, None, share(rate))
    return Row(label, rate.percent, f"{share(rate)} of {rate.n:,}", rate.low_percent, rate.high_percent)
