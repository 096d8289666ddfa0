"""Score weights on fresh simulated markets by family, next to peers, and on recorded candles."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from generator.brain.weights import Weights
from generator.catalog.assets import ASSETS
from generator.errors import SourceError
from generator.lab.peers import Peer, answers, hourly
from generator.lab.scores import BARS_A_DAY, Outcomes, RegimeRun, RegimeScore, forward_ratio, join, score_regimes
from generator.lab.simulator import FAMILIES, Market, simulate
from generator.lab.trace import outcomes, outlook_fits, trace
from generator.market.bars import BAR_MS, BarFrame
from generator.market.recorded.recording import load_recording

BRAIN: Final = "this brain"
REGIME_FAMILIES: Final = tuple(family for family in FAMILIES if family != "null")
DAYS: Final = 60  # of a market; the first half is warm-up
RECORDED_WARM_DAYS: Final = 7
TRAINING_SEEDS: Final = range(1000, 2000)
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class RecordedScore:
    """Figures of one set of recorded candles."""

    name: str
    assets: int
    shares: tuple[float, ...]  # of the five labels
    dwell_hours: float
    ratio: float
    outcomes: tuple[Outcomes, Outcomes]
    fits: list[tuple[float, float]]


@dataclass(slots=True)
class Evaluation:
    """All figures of one span of seeds.

    Args:
        seeds: of the simulated markets; days: of each, the first half is warm-up.
        scores: by model, then family.
        outcomes: by family: 15 and 60 minutes.
    """

    seeds: range
    digest: str
    days: int = DAYS
    scores: dict[str, dict[str, RegimeScore]] = field(default_factory=dict)
    outcomes: dict[str, tuple[Outcomes, Outcomes]] = field(default_factory=dict)
    recorded: list[RecordedScore] = field(default_factory=list)


def evaluate(
    seeds: range,
    candles: Mapping[str, BarFrame],
    peers: Sequence[Peer],
    weights: Weights,
    progress: Progress,
    *,
    days: int = DAYS,
) -> Evaluation:
    """Measure the brain and the peers on the same markets.

    Args:
        seeds: outside the training's 1000 to 1999.
        candles: sets of recorded 5-minute candles by name.
        days: of each market; the first half is warm-up.

    Raises:
        ValueError: a seed belongs to the training.
    """
    check(seeds)
    found = Evaluation(seeds, weights.digest, days)
    for family in FAMILIES:
        runs: dict[str, list[RegimeRun]] = {}
        parts = []
        for seed in seeds:
            parts.append(_market(simulate(family, seed, days), peers, weights, runs))
            progress(len(parts), len(seeds), f"seeds {seeds.start}-{seeds.stop - 1}, {family}")
        found.outcomes[family] = (join([part[0] for part in parts]), join([part[1] for part in parts]))
        for name, every in runs.items():
            found.scores.setdefault(name, {})[family] = score_regimes(every)
    for number, (name, frame) in enumerate(candles.items(), start=1):
        found.recorded.append(_recorded(name, frame, weights))
        progress(number, len(candles), "recorded candles")
    return found


def check(seeds: range) -> None:
    """Refuse seeds of the training.

    Raises:
        ValueError: a seed belongs to the training.
    """
    if any(seed in TRAINING_SEEDS for seed in (seeds.start, seeds.stop - 1)) or seeds.start < 1000 < seeds.stop:
        raise ValueError("seeds 1000-1999 are for training; choose others")


def read_candles(folder: Path) -> BarFrame:
    """Read a folder of recorded 5-minute candles; only the assets that it holds.

    Raises:
        SourceError: the folder holds no candles, or candles of another length.
    """
    frame = load_recording([folder], tuple(sorted(ASSETS))).frame
    if frame.interval_ms != BAR_MS:
        raise SourceError(f"{folder} holds candles of {frame.interval_ms // 60_000} minutes; expected 5")
    held = [column for column in range(len(frame.assets)) if np.isfinite(frame.fields["close"][:, column]).any()]
    fields = {name: values[:, held] for name, values in frame.fields.items()}
    return BarFrame(tuple(frame.assets[column] for column in held), frame.t, fields)


def _market(
    market: Market, peers: Sequence[Peer], weights: Weights, runs: dict[str, list[RegimeRun]]
) -> tuple[Outcomes, Outcomes]:
    """Add every model's run of one market to `runs`; return the brain's forecasts."""
    warm = len(market.regime) // 2
    seen = trace(market.frame, warm, weights)
    truth, moving = market.regime[warm:], market.moving[warm:]
    runs.setdefault(BRAIN, []).append(RegimeRun(seen.label, truth, moving, seen.confidence))
    hours = hourly(market.frame, market.regime, warm)
    for peer in peers:
        label, confidence = answers(peer, hours, len(market.regime))
        known = None if confidence is None else confidence[warm:]
        runs.setdefault(peer.name, []).append(RegimeRun(label[warm:], truth, moving, known))
    return outcomes(market.frame, seen, 0), outcomes(market.frame, seen, 1)


def _recorded(name: str, frame: BarFrame, weights: Weights) -> RecordedScore:
    """Return the figures of recorded candles, a week of them (of less, the first half) as warm-up."""
    week = RECORDED_WARM_DAYS * BARS_A_DAY
    seen = trace(frame, week if len(frame) > week else len(frame) // 2, weights)
    changes = int((np.diff(seen.label) != 0).sum())
    moves = np.nan_to_num(np.diff(np.log(frame.fields["close"]), axis=0, prepend=np.nan))
    return RecordedScore(
        name=name,
        assets=len(frame.assets),
        shares=tuple(float((seen.label == word).mean()) for word in range(5)),
        dwell_hours=len(seen.label) / 12.0 / max(changes, 1),
        ratio=forward_ratio(moves, seen.at, seen.label),
        outcomes=(outcomes(frame, seen, 0), outcomes(frame, seen, 1)),
        fits=outlook_fits(frame, seen),
    )
