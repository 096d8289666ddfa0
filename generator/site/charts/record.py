"""The charts of the track record: confidence against what came true, rates, scores, and the record as it grew."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from generator.arena.scores import BIN_CASES, wilson
from generator.arena.values import Bin, Rate, TrackRecord
from generator.site.charts.plot import Axis, Caption, Chart, Plot, Row, nice_ticks, row_chart
from generator.site.format import UNKNOWN, moment, percent

GUESS_PERCENT: Final = 100 / 3
BASELINE_NAMES: Final = {
    "brain": "The brain",
    "base_rate": "Base rate",
    "uniform": "Equal chances",
    "persistence": "Last outcome",
}
_HEIGHT: Final = 380
_INTERVAL: Final = "95% interval"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One forecast that came due: when (wall ms), of what, what was said, what came true."""

    at_ms: int
    name: str
    said: str
    came: str

    @property
    def hit(self) -> bool:
        """Whether the word came true."""
        return self.said == self.came


def enough(bins: Iterable[Bin]) -> tuple[Bin, ...]:
    """Return the bins that have cases enough for a rate."""
    return tuple(part for part in bins if part.hit is not None and part.n >= BIN_CASES)


def fits(part: Bin) -> bool:
    """Return whether a bin's confidence lies within the interval of what came true."""
    hit = part.hit
    if hit is None or hit.low_percent is None or hit.high_percent is None:
        return False
    return hit.low_percent <= part.high_percent and part.low_percent <= hit.high_percent


def reliability(name: str, bins: Sequence[Bin], source: Markup | str) -> Chart | None:
    """Draw how often each level of confidence came true; None while no level has cases enough."""
    known = enough(bins)
    if not known:
        return None
    low, high = _round_down(min(part.low_percent for part in known), known), _round_up(known)
    ticks = tuple((tick, f"{tick:g}") for tick in nice_ticks(low, high, 6))
    plot = Plot(
        Axis(low, high, ticks, "confidence that was given, %"),
        Axis(low, high, ticks, "came true, %"),
        _HEIGHT,
    )
    marks = [_bin(plot, part) for part in known]
    inner = Markup("").join(
        [plot.frame(), plot.span("mark", (low, low), (high, high)), _diagonal_note(plot, low, high), *marks]
    )
    return Chart(Caption(name, _reliability_finding(known), _RELIABILITY, source, *_bin_table(bins)), inner, _HEIGHT)


_RELIABILITY: Final = (
    "Each level of confidence with at least 30 forecasts is a dot at how often it came true, with its 95% interval as "
    "an upright line. On the dashed diagonal the confidence equals the share that came true."
)


def rates(name: str, who: str, rows: Sequence[tuple[str, Rate]], source: Markup | str) -> Chart | None:
    """Draw hit rates with their intervals next to a blind guess.

    Args:
        name: for element ids.
        who: whose rate the first row is, for the finding.
        rows: (short label, rate).
        source: for the line under it.

    Returns:
        The chart, or None when nothing came due.
    """
    known = [(label, rate) for label, rate in rows if rate.percent is not None]
    if not known:
        return None
    first = known[0][1]
    drawn = [_rate_row(label, rate) for label, rate in rows]
    highs = [rate.high_percent or 0.0 for _, rate in known]
    ticks = tuple((float(tick), str(tick)) for tick in (0, 20, 40, 60, 80, 100) if tick <= max(60.0, *highs) + 20)
    axis = Axis(0.0, ticks[-1][0], ticks, "came true, %")
    caption = Caption(
        name,
        f"{who}: {percent(first.percent)} of {first.n:,} right; a blind guess gets {percent(GUESS_PERCENT)}",
        "A dot for each rate with its 95% interval as a line. The upright dashed line is a blind guess among three.",
        source,
        ("Who", "Cases", "Came true", _INTERVAL),
        tuple((label, f"{rate.n:,}", percent(rate.percent), interval(rate)) for label, rate in rows),
    )
    return row_chart(caption, axis, drawn, mark=(GUESS_PERCENT, "blind guess"))


def briers(name: str, record: TrackRecord, source: Markup | str) -> Chart | None:
    """Draw the Brier score next to those of simple rules; None when nothing came due."""
    if record.brier is None:
        return None
    scores = {"brain": record.brier, **record.baselines}
    rows = [
        Row(BASELINE_NAMES.get(key, key), value, UNKNOWN if value is None else f"{value:.4f}")
        for key, value in sorted(scores.items(), key=lambda item: (item[1] is None, item[1] or 0.0))
    ]
    highest = max(value for value in scores.values() if value is not None)
    top = 2.0 if highest > 1 else 1.0
    axis = Axis(
        0.0, top, tuple((tick, f"{tick:g}") for tick in nice_ticks(0.0, top, 5)), "Brier score, lower is better"
    )
    return row_chart(
        Caption(
            name,
            brier_finding(record),
            "A dot for the Brier score of the brain and of each simple rule, over the same forecasts.",
            source,
            ("Who", "Brier score", "The brain is better by"),
            tuple((row.label, row.text, _skill(record, row.label)) for row in rows),
        ),
        axis,
        rows,
    )


def brier_finding(record: TrackRecord) -> str:
    """Say in one sentence how the score compares with the base rate's."""
    base = record.baselines.get("base_rate")
    if record.brier is None or base is None:
        return "There is nothing yet to compare a score with"
    if record.brier >= base:
        return f"Always giving the base rate would have scored {base:.3f}, the brain {record.brier:.3f}: no skill shown"
    return f"The brain's Brier score is {record.brier:.3f}, always giving the base rate scores {base:.3f} (lower is better)"


def curve(name: str, outcomes: Sequence[Outcome], source: Markup | str) -> Chart | None:
    """Draw the hit rate as it grew, with its band, and a tick for each forecast, hits above and misses below.

    Args:
        name: for element ids.
        outcomes: oldest first; several may have come due at one time.
        source: for the line under it.

    Returns:
        The chart, or None below 30 outcomes.
    """
    if len(outcomes) < BIN_CASES:
        return None
    steps = _steps(outcomes)
    shown = [step for step in steps if step[1].n >= BIN_CASES] or [steps[-1]]
    start, end = outcomes[0].at_ms, max(outcomes[-1].at_ms, outcomes[0].at_ms + 1)
    plot = Plot(
        Axis(start, end, _dates(start, end), "when it came due, UTC"),
        Axis(0.0, 100.0, tuple((tick, f"{tick:g}") for tick in (0.0, 25.0, 50.0, 75.0, 100.0)), "came true so far, %"),
        _HEIGHT,
    )
    band = [(at, rate.low_percent or 0.0) for at, rate in shown]
    band += [(at, rate.high_percent or 0.0) for at, rate in reversed(shown)]
    line = [(at, rate.percent or 0.0) for at, rate in shown]
    last = shown[-1][1]
    inner = Markup("").join(
        [
            plot.frame(),
            plot.path("band", band, closed=True),
            plot.span("mark", (start, GUESS_PERCENT), (end, GUESS_PERCENT)),
            plot.note("axis", (start, GUESS_PERCENT - 7), "blind guess"),
            plot.note("axis", (end, 76), "a stroke for each hit", "end"),
            plot.note("axis", (end, 21), "a stroke for each miss", "end"),
            plot.path("line", line),
            *_tips(plot, shown),
            _rug(plot, outcomes),
        ]
    )
    caption = Caption(
        name,
        f"{percent(last.percent)} of {last.n:,} forecasts came true ({_INTERVAL} {interval(last)})",
        "A line of the hit rate so far with its 95% band, over time. Short strokes at the top are hits, at the bottom "
        "misses, one for each forecast.",
        source,
        ("Up to", "Forecasts", "Came true", _INTERVAL),
        tuple((_when(at), f"{rate.n:,}", percent(rate.percent), interval(rate)) for at, rate in _some(shown, 12)),
    )
    return Chart(caption, inner, _HEIGHT)


def interval(rate: Rate) -> str:
    """Write the interval of a rate."""
    if rate.low_percent is None or rate.high_percent is None:
        return UNKNOWN
    return f"{rate.low_percent:.1f} to {percent(rate.high_percent)}"


def _rate_row(label: str, rate: Rate) -> Row:
    if rate.percent is None:
        return Row(label, None, "nothing came due yet")
    return Row(label, rate.percent, f"{percent(rate.percent)} of {rate.n:,}", rate.low_percent, rate.high_percent)


def _bin(plot: Plot, part: Bin) -> Markup:
    hit = part.hit
    assert hit is not None
    assert hit.percent is not None
    middle = (part.low_percent + min(part.high_percent, plot.x.high)) / 2
    tip = f"Said {part.low_percent:g} to {part.high_percent:g}%: came true {percent(hit.percent)} of {hit.n:,}"
    return Markup("").join(
        [
            plot.span("whisker", (middle, hit.low_percent or 0.0), (middle, hit.high_percent or 0.0)),
            plot.dot("dot", (middle, hit.percent), tip, 6),
        ]
    )


def _diagonal_note(plot: Plot, low: float, high: float) -> Markup:
    return plot.note("axis", (high, high - (high - low) * 0.24), "perfectly calibrated", "end")


def _reliability_finding(known: Sequence[Bin]) -> str:
    most = max(known, key=lambda part: part.n)
    assert most.hit is not None
    caption = (
        f"Said {most.low_percent:g} to {most.high_percent:g}%: "
        f"came true {percent(most.hit.percent)} of {most.n:,} times"
    )
    right = sum(fits(part) for part in known)
    if len(known) == 1:
        return f"{caption}, which {'fits' if right else 'does not fit'} within chance"
    return f"{caption}; {right} of {len(known)} levels fit what happened within chance"


def _bin_table(bins: Sequence[Bin]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    rows = []
    for part in bins:
        caption = part.hit if part.n >= BIN_CASES else None
        few = "too few for a rate" if caption is None else percent(caption.percent)
        rows.append(
            (
                f"{part.low_percent:g} to {part.high_percent:g}%",
                f"{part.n:,}",
                few,
                "" if caption is None else interval(caption),
            )
        )
    return ("Confidence", "Cases", "Came true", _INTERVAL), tuple(rows)


def _round_down(low: float, known: Sequence[Bin]) -> float:
    lows = [part.hit.low_percent for part in known if part.hit is not None and part.hit.low_percent is not None]
    return max(0.0, 10 * (min(low, *lows) // 10))


def _round_up(known: Sequence[Bin]) -> float:
    highs = [part.hit.high_percent for part in known if part.hit is not None and part.hit.high_percent is not None]
    return min(100.0, 10 * (max(*highs, *(part.high_percent for part in known)) // 10 + 1))


def _skill(record: TrackRecord, label: str) -> str:
    key = next((key for key, name in BASELINE_NAMES.items() if name == label), "")
    value = record.skill_percent.get(key)
    return "" if value is None else percent(value)


def _steps(outcomes: Sequence[Outcome]) -> list[tuple[int, Rate]]:
    """Return (time, rate of all up to then) after each time at which something came due."""
    steps: list[tuple[int, Rate]] = []
    hits = 0
    for n, outcome in enumerate(outcomes, start=1):
        hits += outcome.hit
        if n == len(outcomes) or outcomes[n].at_ms != outcome.at_ms:
            steps.append((outcome.at_ms, wilson(hits, n)))
    return steps


def _tips(plot: Plot, shown: Sequence[tuple[int, Rate]]) -> list[Markup]:
    return [
        plot.dot(
            "end" if at == shown[-1][0] else "unseen",
            (at, rate.percent or 0.0),
            f"{_when(at)}: {percent(rate.percent)} of {rate.n:,} came true ({interval(rate)})",
        )
        for at, rate in _some(shown, 40)
    ]


def _rug(plot: Plot, outcomes: Sequence[Outcome]) -> Markup:
    """One stroke for each forecast; those of one time lie side by side, two units apart."""
    strokes: dict[bool, list[str]] = {True: [], False: []}
    top, bottom = plot.at(plot.x.low, 100.0)[1], plot.at(plot.x.low, 0.0)[1]
    seen: dict[tuple[int, bool], int] = {}
    for outcome in outcomes:
        same = seen[outcome.at_ms, outcome.hit] = seen.get((outcome.at_ms, outcome.hit), 0) + 1
        x = plot.at(outcome.at_ms, 0.0)[0]
        y = top + 7 * (same - 1) if outcome.hit else bottom - 7 * same
        strokes[outcome.hit].append(f"M{x:.0f} {y:.0f}v5")
    shape = Markup('<path class="{}" d="{}"/>')
    return shape.format("hits", "".join(strokes[True])) + shape.format("misses", "".join(strokes[False]))


def _some(steps: Sequence[tuple[int, Rate]], most: int) -> list[tuple[int, Rate]]:
    """Every k-th, counted from the newest."""
    k = -(-len(steps) // most)
    return list(steps[::-1][::k][::-1])


def _dates(start: int, end: int) -> tuple[tuple[float, str], ...]:
    """Label at most six midnights, or quarters of a day where there are too few."""
    day = 86_400_000
    days = (end - start) / day
    step = day // 4 if days < 1.5 else day * max(1, -(-round(days) // 5))
    form = "%H:%M" if step < day else "%d %b"
    first = -(-start // step) * step
    return tuple((float(at), moment(at).strftime(form)) for at in range(first, end + 1, step))


def _when(at: int) -> str:
    return f"{moment(at):%d %b %H:%M} UTC".lstrip("0")
