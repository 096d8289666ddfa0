"""Score the packaged weights: fresh simulated markets by family, and recorded candles."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from generator.brain.direction import outcomes_of
from generator.brain.engine import Engine
from generator.brain.training.dataset import Progress
from generator.brain.training.families import FAMILIES
from generator.brain.training.recorded import read_candles
from generator.brain.training.simulator import DAY, Market, simulate
from generator.brain.weights import Weights
from generator.market.values import BarFrame, FloatArray

EVERY: Final = 3  # bars between scored rows
_STRESSED: Final = (1, 3)
_CLAIMS: Final = (0, 1)
_HEAD: Final = (
    "| family | balanced accuracy | stressed/calm | ECE | switches a day | mean dwell h | claimed bias % "
    "| skill 15 min % | skill 60 min % | Arena ECE 60 min |"
)


@dataclass(slots=True)
class Run:
    """What an engine said over one market, every third bar after the warm-up."""

    label: list[float] = field(default_factory=list)
    confidence: list[float] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    chance: list[FloatArray] = field(default_factory=list)  # (2 horizons, 3, assets)
    base: list[FloatArray] = field(default_factory=list)
    sigma: list[FloatArray] = field(default_factory=list)  # (3, assets)


def stream(frame: BarFrame, warm_up: int) -> Run:
    """Feed a market bar by bar and keep what was said."""
    engine, run = Engine(Weights.load(), frame.assets), Run()
    for start in range(0, len(frame), EVERY):
        engine.advance(frame.rows(start, start + EVERY))
        if start < warm_up or engine.t_ms is None:
            continue
        run.at.append(min(start + EVERY, len(frame)) - 1)
        run.label.append(float(engine.filter.label[-1]))
        run.confidence.append(float(engine.filter.confidence()[-1]))
        mixed = [engine.direction.mixed(h, engine.inputs()) for h in range(2)]
        run.chance.append(np.stack([chance for chance, _ in mixed]))
        run.base.append(np.stack([base for _, base in mixed]))
        run.sigma.append(engine.volatility.sigma(engine.t_ms)[:2])
    return run


def evaluate(seeds: Iterable[int], candles: Path | None, progress: Progress) -> str:
    """Return the tables as Markdown."""
    chosen = tuple(seeds)
    lines = [
        f"Seeds {chosen[0]}-{chosen[-1]}, 60 days each, half of it warm-up.",
        "",
        _HEAD,
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    done, total = 0, len(chosen) * len(FAMILIES)
    for family in FAMILIES:
        scores = []
        for seed in chosen:
            market = simulate(family, seed)
            scores.append((market, stream(market.frame, 30 * DAY)))
            done += 1
            progress(done - 1, total)
        lines.append(_family_row(family, scores))
    lines += ["", f"Time: {_per_bar():.2f} ms a bar fed and read, seven assets (mean)."]
    if candles is not None:
        lines += ["", *_real(read_candles(candles))]
    return "\n".join(lines) + "\n"


def _family_row(family: str, scores: Sequence[tuple[Market, Run]]) -> str:
    """Return one row of the table."""
    shown = np.concatenate([run.label for _, run in scores])
    truth = np.concatenate([market.regime[run.at] for market, run in scores])
    counted = np.concatenate([~market.moving[run.at] for market, run in scores])
    sure = np.concatenate([run.confidence for _, run in scores])
    switches = sum(int((np.diff(run.label) != 0).sum()) for _, run in scores) / (len(shown) * EVERY / DAY)
    claimed = 100.0 * float(np.isin(shown, _CLAIMS).mean())
    direction = [skill([(market.frame, run) for market, run in scores], h) for h in range(2)]
    if family == "null":
        regime = "- | - | -"
    else:
        stressed = balanced(
            np.isin(shown, _STRESSED)[counted].astype(float), np.isin(truth, _STRESSED)[counted].astype(int)
        )
        regime = (
            f"{balanced(shown[counted], truth[counted]):.3f} | {stressed:.3f} | "
            f"{calibration_error(sure[counted], (shown == truth)[counted]):.3f}"
        )
    return (
        f"| {family} | {regime} | {switches:.2f} | {24.0 / max(switches, 1e-9):.1f} | {claimed:.0f} "
        f"| {direction[0][0]:+.3f} | {direction[1][0]:+.3f} | {direction[1][1]:.4f} |"
    )


def balanced(shown: FloatArray, truth: np.ndarray) -> float:
    """Return the mean over true classes of the share that was shown right."""
    return float(np.mean([(shown[truth == c] == c).mean() for c in np.unique(truth)]))


def calibration_error(sure: FloatArray, right: np.ndarray, bins: int = 15) -> float:
    """Return the expected calibration error over equal bins of confidence."""
    which = np.minimum((sure * bins).astype(int), bins - 1)
    parts = [(which == b) for b in range(bins) if (which == b).any()]
    return float(sum(abs(right[p].mean() - sure[p].mean()) * p.mean() for p in parts))


def skill(runs: Sequence[tuple[BarFrame, Run]], horizon: int) -> tuple[float, float]:
    """Return the log-loss skill against the causal base rate in percent, and the ECE of the likeliest class."""
    bars = (3, 12)[horizon]
    chances, bases, outcomes = [], [], []
    for frame, run in runs:
        close = np.log(frame.fields["close"])
        at = np.array(run.at)
        fits = at + bars < len(close)
        moves = close[at[fits] + bars] - close[at[fits]]
        known = np.isfinite(moves)
        outcomes.append(outcomes_of(moves[known], np.stack(run.sigma)[fits][:, horizon][known]))
        chances.append(np.stack(run.chance)[fits][:, horizon].transpose(0, 2, 1)[known])
        bases.append(np.stack(run.base)[fits][:, horizon].transpose(0, 2, 1)[known])
    chance, base, came = np.concatenate(chances), np.concatenate(bases), np.concatenate(outcomes)
    rows = np.arange(len(came))
    loss, usual = (-np.log(np.maximum(p[rows, came], 0.01)).mean() for p in (chance, base))
    top = chance.argmax(axis=1)
    return 100.0 * (1.0 - loss / usual), calibration_error(chance[rows, top], came == top)


def _per_bar() -> float:
    """Return the mean time of one bar fed and read, in ms."""
    market = simulate("base", 49_999, 3)
    engine = Engine(Weights.load(), market.frame.assets)
    engine.update(market.frame.rows(0, 2 * DAY))
    begun = time.process_time()
    for row in range(2 * DAY, 3 * DAY):
        engine.update(market.frame.rows(row, row + 1))
    return 1000.0 * (time.process_time() - begun) / DAY


def _real(frame: BarFrame) -> list[str]:
    """Return what was measured on recorded candles, a week of them as warm-up."""
    run = stream(frame, 7 * DAY)
    shown, at = np.array(run.label), np.array(run.at)
    names = ("risk_on", "risk_off", "range", "high_volatility", "transition")
    shares = ", ".join(f"{name} {100.0 * (shown == i).mean():.0f} %" for i, name in enumerate(names))
    switches = (np.diff(shown) != 0).sum() / (len(shown) * EVERY / DAY)
    moves = np.nan_to_num(np.diff(np.log(frame.fields["close"]), axis=0, prepend=np.nan))
    shown, at = shown[at < len(frame) - 48], at[at < len(frame) - 48]
    ahead = np.array([np.sqrt((moves[i + 1 : i + 49] ** 2).mean()) for i in at])
    ratio = ahead[shown == 3].mean() / ahead[shown == 2].mean() if (shown == 3).any() and (shown == 2).any() else np.nan
    near, far = (skill([(frame, run)], h) for h in range(2))
    return [
        f"Recorded: {len(frame)} bars of {len(frame.assets)} assets, the first week not scored.",
        f"Labels: {shares}. Mean dwell {24.0 / max(switches, 1e-9):.1f} h.",
        f"Volatility of the next 4 h, high_volatility over range: {ratio:.2f}.",
        f"Arena skill: 15 min {near[0]:+.3f} % (ECE {near[1]:.4f}), 60 min {far[0]:+.3f} % (ECE {far[1]:.4f}).",
        *_volatility_fit(frame),
    ]


def _volatility_fit(frame: BarFrame) -> list[str]:
    """Return the outlook's R2 beside that of a 2-hour EWMA."""
    engine = Engine(Weights.load(), frame.assets)
    slow, said = [], []
    for row in range(len(frame)):
        engine.advance(frame.rows(row, row + 1))
        slow.append(engine.volatility.slow[0].copy())
        level = engine.volatility.levels()[1].mean()
        said.append([*engine.volatility.outlook(int(frame.t[row])).mean(axis=1), level])
    span = np.nan_to_num(np.log(frame.fields["high"] / frame.fields["low"]) ** 2) / (4.0 * np.log(2.0))
    moved = np.nan_to_num(np.diff(np.log(frame.fields["close"]), axis=0, prepend=np.nan)) ** 2
    total = np.cumsum(0.5 * (moved + span), axis=0)
    whole = np.cumsum(np.isnan(frame.fields["close"]).any(axis=1))
    at = np.arange(7 * DAY, len(frame) - 48)
    at = at[whole[at + 48] == whole[at - 1]]  # where no bar of the horizon is missing
    parts = []
    for column, (name, bars) in enumerate((("15 min", 3), ("1 h", 12), ("4 h", 48))):
        came = (0.5 * (np.log((total[at + bars] - total[at]) / bars) - np.array(slow)[at])).mean(axis=1)
        fits = [1.0 - ((came - np.array(said)[at, c]) ** 2).mean() / came.var() for c in (column, 3)]
        parts.append(f"{name} {fits[0]:.3f} ({fits[1]:.3f})")
    return ["Volatility R2, in brackets a 2-hour EWMA: " + ", ".join(parts) + "."]
