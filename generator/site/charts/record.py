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

UNIFORM_BRIER: Final = 2 / 3
BASELINE_NAMES: Final = {"brain": "The brain", "base_rate": "Base rate", "persistence": "Last outcome"}
_INTERVAL: Final = "95% interval"
_COMMON: Final = "always naming the most common outcome"


def coverage(name: str, scores: Sequence[HorizonRecord], source: Markup | str) -> Chart | None:
    """Draw how many moves ended inside the 50% and the 90% range; None where no horizon has its interval."""
    known, headline = _known(scores)
    if headline is None:
        return None
    rows = [_rate_row(f"{record.horizon}, 90%", record.scores[0].inside_90) for record in known]
    rows += [_rate_row(f"{record.horizon}, 50%", record.scores[0].inside_50) for record in known]

    brain = headline.scores[0]
    moves = f"Of {headline.resolved:,} moves over {HORIZONS[headline.horizon].words}"
    ended = f"{share(brain.inside_90)} ended inside the 90% range, {share(brain.inside_50)} inside the 50% range"
    caption = Caption(
        name=name,
        finding=f"{moves} {ended}",
        desc=(
            "A dot for each horizon and range with its 95% interval as a line. The upright dashed lines are where "
            "the dots of the 50% and the 90% ranges should be."
        ),
        source=source,
        columns=("Horizon and range", "Ended inside", _INTERVAL),
        rows=tuple((row.label, row.text, between(row.low, row.high)) for row in rows),
    )
    return row_chart(caption, "ended inside, %", rows, marks=((50.0, "50%"), (90.0, "90%")))


def saved(name: str, scores: Sequence[HorizonRecord], source: Markup | str) -> Chart | None:
    """Draw by how much the pinball loss is below that of each simple rule; None where no horizon has its interval."""
    known, headline = _known(scores)
    if headline is None:
        return None
    rows = []
    for record in known:
        for rule in record.scores[1:]:
            label = f"{record.horizon}, {RULE_WORDS[rule.name].removeprefix('the ')}"
            rows.append(_estimated(label, rule.pinball_saved))

    better_or_worse = against(headline).removesuffix(".")
    caption = Caption(
        name=name,
        finding=f"Over {HORIZONS[headline.horizon].words}: {better_or_worse[0].lower()}{better_or_worse[1:]}",
        desc=(
            "A dot for each horizon and simple rule, with its 95% interval as a line: how much smaller the pinball "
            "loss of the brain's ranges is. To the right of zero the brain is better."
        ),
        source=source,
        columns=("Horizon and rule", "Pinball loss smaller by", _INTERVAL),
        rows=tuple((row.label, row.text, between(row.low, row.high)) for row in rows),
    )
    return row_chart(caption, "pinball loss smaller by, %", rows, marks=((0.0, "no better"),))


def _known(scores: Sequence[HorizonRecord]) -> tuple[list[HorizonRecord], HorizonRecord | None]:
    """Return the horizons that have an interval, and the one that the title is about."""
    known = [record for record in scores if record.scores and _has_interval(record.scores[0].inside_90)]
    for record in known:
        if record.horizon == "1h":
            return known, record
    return known, known[0] if known else None


def _has_interval(hits: Proportion) -> bool:
    return enough(hits) and hits.low_percent is not None


def _estimated(label: str, mean: MeanInterval) -> Row:
    return Row(label, mean.value, percent(mean.value), mean.low, mean.high)


def rates(
    name: str, who: str, rows: Sequence[tuple[str, Proportion]], source: Markup | str, chance: Proportion | None = None
) -> Chart | None:
    """Draw hit rates with their intervals next to the chance level; None while too little came due.

    Args:
        chance: of always naming the outcome most frequent before; not drawn where it is unknown.
    """
    first = next((rate for _, rate in rows if enough(rate)), None)
    if first is None:
        return None

    finding = f"{who}: {counted(first, 'right')}"
    desc = "A dot for each rate with its 95% interval as a line."
    marks: tuple[tuple[float, str], ...] = ()
    if chance is not None and chance.percent is not None:
        finding += f"; {_COMMON} gets {percent(chance.percent)}"
        desc += f" The upright dashed line is {_COMMON} before."
        marks = ((chance.percent, "most common"),)

    caption = Caption(
        name=name,
        finding=finding,
        desc=desc,
        source=source,
        columns=("Who", "Cases", "Came true", _INTERVAL),
        rows=tuple((label, f"{rate.n:,}", share(rate), interval(rate)) for label, rate in rows),
    )
    return row_chart(caption, "came true, %", [_rate_row(*row) for row in rows], marks=marks)


def skills(name: str, record: ForecastScores, source: Markup | str) -> Chart | None:
    """Draw how much better than equal chances the Brier scores are; None when nothing came due."""
    if record.brier is None:
        return None

    scores = {"brain": record.brier}
    for baseline in ("base_rate", "persistence"):
        score = record.baselines.get(baseline)
        if score is not None:
            scores[baseline] = score
    skill = {name: signed(100 * (1 - score / UNIFORM_BRIER), 1) for name, score in scores.items()}
    rows = [Row(BASELINE_NAMES[name], 100 * (1 - score / UNIFORM_BRIER), skill[name]) for name, score in scores.items()]
    caption = Caption(
        name=name,
        finding=_brier_finding(record),
        desc=(
            "A dot for the brain and for each simple rule, over the same forecasts: how much smaller its Brier score "
            "is than that of equal chances. To the right of zero it is better."
        ),
        source=source,
        columns=("Who", "Brier score", "Better than equal chances by"),
        rows=tuple((BASELINE_NAMES[key], f"{score:.4f}", skill[key]) for key, score in scores.items()),
    )
    return row_chart(caption, "better than equal chances by, %", rows, marks=((0.0, "equal chances"),))


def _brier_finding(record: ForecastScores) -> str:
    """Say in one sentence how the score compares with the base rate's."""
    base = record.baselines.get("base_rate")
    if record.brier is None or base is None:
        return "There is nothing yet to compare a score with"
    if record.brier >= base:
        return f"Always giving the base rate would have scored {base:.3f}, the brain {record.brier:.3f}: no skill shown"
    brain = f"The brain's Brier score is {record.brier:.3f}"
    return f"{brain}, always giving the base rate scores {base:.3f} (lower is better)"


def _rate_row(label: str, rate: Proportion) -> Row:
    if not enough(rate):
        return Row(label, None, share(rate))
    return Row(label, rate.percent, f"{share(rate)} of {rate.n:,}", rate.low_percent, rate.high_percent)
