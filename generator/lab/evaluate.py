"""Measure our brain, peers and any entrant on the same fresh simulated markets."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from generator.brain.weights import Weights
from generator.catalog.assets import ASSETS
from generator.catalog.durations import MINUTE_MS
from generator.errors import SourceError
from generator.lab.entrant import entrant
from generator.lab.peers import answers, hourly
from generator.lab.progress import tracked
from generator.lab.scores import Outcomes, RegimeRun, join
from generator.lab.simulator import FAMILIES, simulate
from generator.lab.trace import BarAnswer, ours, outcomes, trace
from generator.market.bars import BAR_MS, BarFrame
from generator.market.recorded.recording import load_recording

OURS: Final = "this brain"
TRAINING_SEEDS: Final = range(1000, 2000)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What every model said of one span of seeds."""

    seeds: range
    digest: str
    days: int  # of each market, the first half is warm-up
    runs: dict[str, dict[str, list[RegimeRun]]]  # by model, then family
    outcomes: dict[str, dict[str, Outcomes]]  # of the hour's forecasts, by model, then family


def evaluate(seeds: range, weights: Weights, *, peers: Sequence[str], entrants: Sequence[str], days: int) -> Evaluation:
    """Measure our brain, the peers and the entrants on the same markets.

    Args:
        seeds: outside the training's, see `check`.
        peers: names in `PEERS`; entrants: commands that read as `emi read` does.
        days: of each market; the first half is warm-up.

    Raises:
        EntrantError: an entrant died or answered garbage.
    """
    readers: dict[str, Callable[[BarFrame, int], Iterator[BarAnswer]]] = {OURS: partial(ours, weights)}
    readers |= {f"`{command}`": partial(entrant, command) for command in entrants}

    runs: dict[str, dict[str, list[RegimeRun]]] = defaultdict(lambda: defaultdict(list))
    forecasts: dict[str, dict[str, list[Outcomes]]] = defaultdict(lambda: defaultdict(list))
    for family, seed in tracked(list(itertools.product(FAMILIES, seeds)), f"seeds {seeds.start}-{seeds.stop - 1}"):
        market = simulate(family, seed, days)
        warm = len(market.regime) // 2
        truth = market.regime[warm:]
        moving = market.moving[warm:]
        for model, reader in readers.items():
            answered = trace(reader(market.frame, warm), warm)
            runs[model][family].append(RegimeRun(answered.label, truth, moving, answered.chances, answered.side))
            forecasts[model][family].append(outcomes(market.frame, answered))

        hours = hourly(market.frame, market.regime, warm)
        for peer in peers:
            label = answers(peer, hours, len(market.regime))[warm:]
            runs[peer][family].append(RegimeRun(label, truth, moving))

    joined = {model: {family: join(parts) for family, parts in each.items()} for model, each in forecasts.items()}
    return Evaluation(seeds=seeds, digest=weights.digest, days=days, runs=runs, outcomes=joined)


def check(seeds: range) -> None:
    """Raise ValueError where a seed belongs to the training."""
    edges = (seeds.start, seeds.stop - 1)
    if any(seed in TRAINING_SEEDS for seed in edges) or seeds.start < 1000 < seeds.stop:
        raise ValueError("seeds 1000-1999 are for training; choose others")


def read_candles(folder: Path) -> BarFrame:
    """Read a folder of recorded 5-minute candles, only the assets that it holds; raise SourceError on others."""
    frame = load_recording([folder], tuple(sorted(ASSETS))).frame
    if frame.interval_ms != BAR_MS:
        raise SourceError(f"{folder} holds candles of {frame.interval_ms // MINUTE_MS} minutes; expected 5")
    held = np.flatnonzero(np.isfinite(frame.fields["close"]).any(axis=0)).tolist()
    fields = {name: values[:, held] for name, values in frame.fields.items()}
    return BarFrame(tuple(frame.assets[column] for column in held), frame.t, fields)
