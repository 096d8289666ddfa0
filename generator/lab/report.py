"""The measured part of `docs/brain.md`: tables with the bars and the peers, and the plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from generator.lab.evaluate import BRAIN, REGIME_FAMILIES, Evaluation, RealScore, interval
from generator.lab.plots import bars_plot, reliability_plot, timeline_plot
from generator.lab.scores import BARS_A_DAY, Outcomes, reliability

BEGIN: Final = "<!-- measured: begin -->"
END: Final = "<!-- measured: end -->"
PLOTS: Final = "brain"
_EXAMPLE_DAYS: Final = 12
_OVERLAP: Final = (1, 4)  # forecasts of 15 and of 60 minutes, one each quarter of an hour
_BRACKETS: Final = (
    "In brackets: the ECE that a perfectly calibrated reader with the same confidences gets by chance, where what is "
    "said over one stay of its label comes true as one."
)
_SPANS: Final = (
    "In brackets: the ECE that a perfectly calibrated forecaster gets by chance, from every outcome for itself to all "
    "assets and overlapping hours as one; then what 95 % of the latter stay below."
)


def tables(found: Evaluation, missing: Sequence[str] = ()) -> str:
    """Return all tables as Markdown.

    Args:
        missing: peers that could not be run.
    """
    seeds = f"{found.seeds.start}-{found.seeds.stop - 1}"
    spoken = f"{found.days} days a market, the first {found.days // 2} are warm-up"
    lines = [f"Seeds {seeds}, weights `{found.digest[:12]}`, {spoken}.", "", *_bars(found)]
    lines += ["", f"Every reader on the same markets. {_BRACKETS}", "", *_readers(found)]
    lines += [f"Not run, because the library is not installed: {name}." for name in missing]
    lines += ["", f"Forecasts of the Arena against the causal base rate. {_SPANS}", "", *_forecasts(found)]
    if found.real:
        lines += ["", "Recorded candles, the first week as warm-up, brackets as above:", "", *_recorded(found.real)]
    return "\n".join(lines) + "\n"


def _bars(found: Evaluation) -> list[str]:
    """Return the table of bars."""
    own = {family: found.score(BRAIN, family) for family in REGIME_FAMILIES}
    best = _best(found)
    means = {
        name: np.mean([getattr(s, name) for s in own.values()]) for name in ("accuracy", "stressed", "false_a_day")
    }
    worst = max(s.error or 0.0 for s in own.values())
    dwell = float(np.mean([s.dwell_hours for s in own.values()]))
    delay = float(np.median([s.delay_hours for s in own.values()]))
    claimed = found.score(BRAIN, "null").claimed
    null = min(part.skill() for part in found.outcomes["null"])
    error = max(part.error() for pair in found.outcomes.values() for part in pair)
    rows = [
        ("balanced accuracy, mean of four families", f"{means['accuracy']:.3f}", ">= 0.72", means["accuracy"] >= 0.72),
        ("... over the best peer", f"{means['accuracy'] / best:.2f} x {best:.3f}", "", None),
        ("stressed against calm", f"{means['stressed']:.3f}", ">= 0.88", means["stressed"] >= 0.88),
        ("median detection delay", f"{delay:.1f} h", "<= 4 h", delay <= 4.0),
        ("false switches a day", f"{means['false_a_day']:.2f}", "<= 1", means["false_a_day"] <= 1.0),
        ("mean dwell", f"{dwell:.1f} h", ">= 10 h", dwell >= 10.0),
        ("confidence ECE, worst family", f"{worst:.3f}", "<= 0.06", worst <= 0.06),
        ("driftless: share of time with a claimed bias", f"{claimed:.2f}", "<= 0.40", claimed <= 0.40),
        ("Arena skill, driftless, worse horizon", f"{null:+.3f} %", ">= -0.02 %", null >= -0.02),
        ("Arena ECE, worst family and horizon", f"{error:.4f}", "<= 0.01", error <= 0.01),
        *(row for real in found.real for row in _real_bars(real)),
    ]
    told = {True: "yes", False: "**no**", None: ""}
    return [
        "| measure | measured | bar | reached |",
        "|---|---|---|---|",
        *(f"| {name} | {value} | {bar} | {told[None if ok is None else bool(ok)]} |" for name, value, bar, ok in rows),
    ]


def _best(found: Evaluation) -> float:
    """Return the balanced accuracy of the best peer, mean of the families."""
    peers = [reader for reader in found.runs if reader != BRAIN]
    means = [np.mean([found.score(reader, family).accuracy for family in REGIME_FAMILIES]) for reader in peers]
    return float(max(means, default=math.nan))


def _real_bars(real: RealScore) -> list[tuple[str, str, str, bool]]:
    """Return the rows of one set of candles."""
    low, high = min(real.shares[:4]), max(real.shares[:4])
    skills = [part.skill() for part in real.outcomes]
    errors = [part.error() for part in real.outcomes]
    ahead = min(own - usual for own, usual in real.fits[1:])
    name = real.name
    return [
        (f"{name}: every label's share", f"{100 * low:.0f}-{100 * high:.0f} %", "5-60 %", low >= 0.05 and high <= 0.6),
        (f"{name}: dwell", f"{real.dwell_hours:.1f} h", ">= 5 h", real.dwell_hours >= 5.0),
        (f"{name}: 4 h volatility, high over range", f"{real.ratio:.2f}", ">= 1.5", real.ratio >= 1.5),
        (f"{name}: outlook R2 over EWMA, worse of 1 h and 4 h", f"{ahead:+.3f}", ">= +0.06", ahead >= 0.06),
        (f"{name}: Arena skill, worse horizon", f"{min(skills):+.3f} %", ">= -0.05 %", min(skills) >= -0.05),
        (f"{name}: Arena ECE, worse horizon", f"{max(errors):.4f}", "<= 0.01", max(errors) <= 0.01),
    ]


def _readers(found: Evaluation) -> list[str]:
    """Return one row for each family and reader."""
    lines = [
        (
            "| family | reader | balanced accuracy | stressed/calm | ECE | delay h | missed % | false a day | dwell h "
            "| claimed % |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for family in (*REGIME_FAMILIES, "null"):
        for reader in found.runs:
            s = found.score(reader, family)
            error = "-"
            if s.error is not None and s.chance is not None and family != "null":
                error = f"{s.error:.3f} ({s.chance.mean:.3f})"
            delay = "never" if s.delay_hours > 1e6 else f"{s.delay_hours:.1f}".replace("nan", "-")
            regime = (
                f"{s.accuracy:.3f} | {s.stressed:.3f} | {error} | {delay} | {100 * s.missed:.0f} | {s.false_a_day:.2f}"
            )
            if family == "null":
                regime = " | ".join("-" * 6)
            lines.append(f"| {family} | {reader} | {regime} | {s.dwell_hours:.1f} | {100 * s.claimed:.0f} |")
    return lines


def _forecasts(found: Evaluation) -> list[str]:
    """Return skill and calibration of the Arena on simulated markets."""
    rows = [
        f"| {family} | {near.skill():+.3f} | {far.skill():+.3f} | {_error(near, 0)} | {_error(far, 1)} |"
        for family, (near, far) in found.outcomes.items()
    ]
    head = "| family | skill 15 min % | skill 60 min % | ECE 15 min | ECE 60 min |"
    return [head, "|---|---|---|---|---|", *rows]


def _error(part: Outcomes, horizon: int) -> str:
    """Return a calibration error beside what chance gives."""
    alone, together = part.error_by_chance(_OVERLAP[horizon])
    return f"{part.error():.4f} ({alone.mean:.4f}-{together.mean:.4f}, < {together.high:.4f})"


def _recorded(sets: Sequence[RealScore]) -> list[str]:
    """Return what was measured on recorded candles."""
    lines = [
        (
            "| set | labels: on / off / range / high / transition % | dwell h | 4 h volatility, high over range "
            "| R2 of the outlook: 15 min, 1 h, 4 h (2-hour EWMA) | Arena skill 15 min % (95 %) | Arena skill 60 min % (95 %) "
            "| Arena ECE 15 / 60 |"
        ),
        "|---|---|---|---|---|---|---|---|",
    ]
    for real in sets:
        shares = " / ".join(f"{100 * share:.0f}" for share in real.shares)
        fits = ", ".join(f"{own:.3f}" for own, _ in real.fits)
        usual = ", ".join(f"{other:.3f}" for _, other in real.fits)
        skills = [f"{part.skill():+.3f} ({', '.join(f'{v:+.3f}' for v in interval(part))})" for part in real.outcomes]
        errors = " / ".join(_error(part, horizon) for horizon, part in enumerate(real.outcomes))
        lines.append(
            f"| {real.name}, {real.assets} assets | {shares} | {real.dwell_hours:.1f} | {real.ratio:.2f} "
            f"| {fits} ({usual}) | {skills[0]} | {skills[1]} | {errors} |"
        )
    return lines


def plots(found: Evaluation) -> dict[str, str]:
    """Return the plots by file name."""
    accuracy = {reader: [found.score(reader, family).accuracy for family in REGIME_FAMILIES] for reader in found.runs}
    drawn = {
        "reliability.svg": reliability_plot("Confidence in the regime", _curves(found)),
        "accuracy.svg": bars_plot("Balanced accuracy by family, % (chance: 25)", REGIME_FAMILIES, accuracy),
    }
    if found.example:
        market, said = found.example
        part = slice(0, _EXAMPLE_DAYS * BARS_A_DAY)
        rows = {"truth": market.regime[said.at][part], "shown": said.label[part]}
        title = f"Regime, family base, seed {found.seeds.start}"
        drawn["timeline.svg"] = timeline_plot(title, rows, BARS_A_DAY)
    return drawn


def _curves(found: Evaluation) -> dict[str, list[tuple[float, float, float]]]:
    """Return the reliability of the brain by family."""
    curves = {}
    for family in REGIME_FAMILIES:
        runs = found.runs[BRAIN][family]
        sure = np.concatenate([run.sure[~run.moving] for run in runs if run.sure is not None])
        right = np.concatenate([(run.shown == run.truth)[~run.moving] for run in runs])
        curves[family] = reliability(sure, right)
    return curves


def write(path: Path, text: str, drawn: dict[str, str]) -> None:
    """Put the tables between the marks of a page, and the plots into a folder beside it.

    Raises:
        ValueError: the page has no marks.
    """
    page = path.read_text(encoding="utf-8")
    if BEGIN not in page or END not in page:
        raise ValueError(f"{path} has no place for the figures: {BEGIN} and {END}")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    folder = path.parent / PLOTS
    folder.mkdir(exist_ok=True)
    for name, svg in drawn.items():
        (folder / name).write_text(svg, encoding="utf-8")
    images = "\n".join(f"![{name.split('.')[0]}]({PLOTS}/{name})" for name in drawn)
    path.write_text(f"{before}{BEGIN}\n\n{text}\n{images}\n\n{END}{after}", encoding="utf-8")
