"""The charts of the track record: ranges against the moves that came, hit rates, and scores against simple rules.

A chart is of the live record or of the backtest before it, as its scores are; a backtest is hollow, dashed and named.
"""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from generator.arena.rates import counted, enough, share
from generator.arena.scoring import UNIFORM_BRIER
from generator.catalog.horizons import HORIZONS
from generator.catalog.text.figures import percent, signed
from generator.compose.scores import RULE_WORDS, against
from generator.site.charts.plot import HEIGHT, Axis, Caption, Chart, Plane, Row, of_backtest, row_chart
from generator.site.words.record import between, interval
from generator.values.scores import CalibrationBin, Estimate, ForecastScores, HorizonRecord, MoveScores, Rate

BASELINE_NAMES: Final = {"brain": "The brain", "base_rate": "Base rate", "persistence": "Last outcome"}
_INTERVAL: Final = "95% interval"
_COMMON: Final = "always naming the most common outcome"
_FIFTHS: Final = tuple((float(tick), str(tick)) for tick in range(0, 101, 20))


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
    marks = ((50.0, "50%"), (90.0, "90%"))
    return row_chart(caption, "ended inside, %", rows, marks=marks, tested=brain.inside_90.backtest)


def saved(name: str, scores: Sequence[HorizonRecord], source: Markup | str) -> Chart | None:
    """Draw by how much the pinball loss is below that of each simple rule; None where no horizon has its interval."""
    known, headline = _known(scores)
    if headline is None:
        return None
    rows = []
    for record in known:
        for rule in record.scores[1:]:
            label = f"{record.horizon}, {RULE_WORDS[rule.name].removeprefix('the ')}"
            if rule.pinball_saved is not None:
                rows.append(_estimated(label, rule.pinball_saved))

    tested = headline.scores[0].inside_90.backtest
    better_or_worse = against(headline).removesuffix(".")
    finding = f"Over {HORIZONS[headline.horizon].words}: {better_or_worse[0].lower()}{better_or_worse[1:]}"
    caption = Caption(
        name=name,
        finding=finding,
        desc=(
            "A dot for each horizon and simple rule, with its 95% interval as a line: how much smaller the pinball "
            "loss of the brain's ranges is. To the right of zero the brain is better."
        ),
        source=source,
        columns=("Horizon and rule", "Pinball loss smaller by", _INTERVAL),
        rows=tuple((row.label, row.text, between(row.low, row.high)) for row in rows),
    )
    marks = ((0.0, "no better"),)
    return row_chart(caption, "pinball loss smaller by, %", rows, marks=marks, tested=tested)


def _known(scores: Sequence[HorizonRecord]) -> tuple[list[HorizonRecord], HorizonRecord | None]:
    """Return the horizons that have an interval, and the one that the title is about."""
    known = [record for record in scores if record.scores and _has_interval(record.scores[0].inside_90)]
    for record in known:
        if record.horizon == "1h":
            return known, record
    return known, known[0] if known else None


def _has_interval(hits: Rate) -> bool:
    return enough(hits) and hits.low_percent is not None


def _estimated(label: str, mean: Estimate) -> Row:
    return Row(label, mean.value, percent(mean.value), mean.low, mean.high)


def rates(
    name: str, who: str, rows: Sequence[tuple[str, Rate]], source: Markup | str, chance: Rate | None = None
) -> Chart | None:
    """Draw hit rates with their intervals next to the chance level; None while too little came due of the first.

    Args:
        chance: of always naming the outcome most frequent before; not drawn where it is unknown.
    """
    _, first = rows[0]
    if not enough(first):
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
        columns=("Who", "Cases", "Right", _INTERVAL),
        rows=tuple((label, f"{rate.n:,}", share(rate), interval(rate)) for label, rate in rows),
    )
    drawn = [_rate_row(*row) for row in rows]
    return row_chart(caption, "right, %", drawn, marks=marks, tested=first.backtest)


def skills(name: str, record: ForecastScores, source: Markup | str) -> Chart | None:
    """Draw how much better than equal chances the Brier scores are; None where no skill is shown."""
    if record.brier is None or record.skill_percent.get("base_rate") is None:
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
    marks = ((0.0, "equal chances"),)
    return row_chart(caption, "better than equal chances by, %", rows, marks=marks, tested=record.hit.backtest)


def reliability(name: str, scores: MoveScores, source: Markup | str) -> Chart | None:
    """Draw the stated chance of a move against how often it came; None where no level has enough cases."""
    levels = [(level, level.hit) for level in scores.bins if level.hit is not None and level.said_percent is not None]
    if not levels:
        return None
    tested = scores.moved.backtest

    observed = "observed in the backtest, %" if tested else "observed, %"
    plane = Plane(Axis(0.0, 100.0, _FIFTHS, "stated chance of a move, %"), Axis(0.0, 100.0, _FIFTHS, observed))
    parts = [*plane.grid(), *plane.labels(), plane.path("mark", [(0.0, 0.0), (100.0, 100.0)])]
    parts += [_level(plane, level, hit, tested=tested) for level, hit in levels]

    fitting = sum(bool(level.fits) for level, _ in levels)
    count = f"{fitting} of {len(levels)}"
    finding = f"Stated chances of a move lay inside the interval of what was observed at {count} levels"
    caption = Caption(
        name=name,
        finding=finding,
        desc=(
            "A dot for each level of the stated chance of a move, as high as moves were frequent, with its 95% "
            "interval as a line. On the dashed diagonal what a chance is given to happens as often as it says."
        ),
        source=source,
        columns=("Mean chance", "Forecasts", "Moved", _INTERVAL),
        rows=tuple((percent(level.said_percent), f"{level.n:,}", share(hit), interval(hit)) for level, hit in levels),
    )
    if tested:
        caption = of_backtest(caption)
    return Chart(caption, Markup("").join(parts), HEIGHT)


def _level(plane: Plane, level: CalibrationBin, hit: Rate, *, tested: bool) -> Markup:
    """Draw what came of one level of the stated chance, with its interval."""
    stated = level.said_percent or 0.0
    observed = hit.percent or 0.0
    hollow = " tested" if tested else ""
    tip = f"stated {percent(stated)}, observed {share(hit)} of {hit.n:,}"

    dot = plane.dot(f"dot{hollow}", (stated, observed), tip, 6)
    if hit.low_percent is None or hit.high_percent is None:
        return dot
    return plane.path(f"whisker{hollow}", [(stated, hit.low_percent), (stated, hit.high_percent)]) + dot


def _brier_finding(record: ForecastScores) -> str:
    """Say in one sentence how the score compares with the base rate's."""
    base = record.baselines.get("base_rate")
    if record.brier is None or base is None:
        return "There is nothing yet to compare a score with"
    if record.brier >= base:
        return f"Always giving the base rate would have scored {base:.3f}, the brain {record.brier:.3f}: no skill shown"
    brain = f"The brain's Brier score is {record.brier:.3f}"
    return f"{brain}, always giving the base rate scores {base:.3f} (lower is better)"


def _rate_row(label: str, rate: Rate) -> Row:
    if not enough(rate):
        return Row(label, None, share(rate))
    return Row(label, rate.percent, f"{share(rate)} of {rate.n:,}", rate.low_percent, rate.high_percent)
