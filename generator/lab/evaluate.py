"""Measure our brain, peers and any entrant on the same fresh simulated markets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from generator.brain.weights import Weights
from generator.catalog.assets import ASSETS
from generator.errors import SourceError
from generator.lab.entrant import Entrant
from generator.lab.peers import Peer, answers, hourly
from generator.lab.scores import Outcomes, RegimeRun, join
from generator.lab.simulator import FAMILIES, Market, simulate
from generator.lab.trace import Ours, Trace, outcomes, trace
from generator.market.bars import BAR_MS, BarFrame
from generator.market.recorded.recording import load_recording

OURS: Final = "this brain"
DAYS: Final = 60  # of a market; the first half is warm-up
TRAINING_SEEDS: Final = range(1000, 2000)
Progress = Callable[[int, int, str], None]
Reader = Callable[[BarFrame, int], Trace]


@dataclass(slots=True)
class Evaluation:
    """What every model said of one span of seeds.

    Args:
        seeds: of the simulated markets; days: of each, the first half is warm-up.
        runs: by model, then family.
        outcomes: of the hour's forecasts, by model, then family.
    """

    seeds: range
    digest: str
    days: int = DAYS
    runs: dict[str, dict[str, list[RegimeRun]]] = field(default_factory=dict)
    outcomes: dict[str, dict[str, Outcomes]] = field(default_factory=dict)


def evaluate(
    seeds: range,
    weights: Weights,
    progress: Progress,
    *,
    peers: Sequence[Peer],
    entrants: Sequence[str] = (),
    days: int = DAYS,
) -> Evaluation:
    """Measure our brain, the peers and the entrants on the same markets.

    Args:
        seeds: outside the training's 1000 to 1999.
        entrants: commands that read as `emi read` does.
        days: of each market; the first half is warm-up.

    Raises:
        ValueError: a seed belongs to the training.
        EntrantError: an entrant died or answered garbage.
    """
    check(seeds)
    found, readers = Evaluation(seeds, weights.digest, days), _readers(entrants, weights)
    for family in FAMILIES:
        came: dict[str, list[Outcomes]] = {}
        for number, seed in enumerate(seeds, start=1):
            for model, run in _market(simulate(family, seed, days), peers, readers, came).items():
                found.runs.setdefault(model, {}).setdefault(family, []).append(run)
            progress(number, len(seeds), f"seeds {seeds.start}-{seeds.stop - 1}, {family}")
        for model, parts in came.items():
            found.outcomes.setdefault(model, {})[family] = join(parts)
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


def _readers(entrants: Sequence[str], weights: Weights) -> dict[str, Reader]:
    """Return what reads a market from its frame and warm-up, by model."""

    def of(command: str) -> Reader:
        def run(frame: BarFrame, warm: int) -> Trace:
            with Entrant(command) as program:
                return trace(frame, warm, program)

        return run

    ours: Reader = lambda frame, warm: trace(frame, warm, Ours(weights, frame.assets))  # noqa: E731
    return {OURS: ours} | {f"`{command}`": of(command) for command in entrants}


def _market(
    market: Market, peers: Sequence[Peer], readers: Mapping[str, Reader], came: dict[str, list[Outcomes]]
) -> dict[str, RegimeRun]:
    """Return every model's run of one market; add what came of the hour's forecasts."""
    warm = len(market.regime) // 2
    truth, moving = market.regime[warm:], market.moving[warm:]
    hours = hourly(market.frame, market.regime, warm)
    runs = {}
    for model, said in readers.items():
        seen = said(market.frame, warm)
        runs[model] = RegimeRun(seen.label, truth, moving, seen.chances)
        came.setdefault(model, []).append(outcomes(market.frame, seen))
    for peer in peers:
        runs[peer.name] = RegimeRun(answers(peer, hours, len(market.regime))[warm:], truth, moving)
    return runs
