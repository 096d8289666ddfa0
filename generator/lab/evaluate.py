"""Score weights on fresh simulated markets by family, beside peers, and on recorded candles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from generator.brain.weights import Weights
from generator.lab.families import FAMILIES
from generator.lab.peers import Peer, answers, hourly
from generator.lab.recorded import read_candles
from generator.lab.scores import (
    BARS_A_DAY,
    Outcomes,
    RegimeRun,
    RegimeScore,
    forward_ratio,
    join,
    score_regimes,
)
from generator.lab.simulator import Market, simulate
from generator.lab.streams import Said, listen, listen_together, outcomes, outlook_fits
from generator.market.values import BarFrame

BRAIN: Final = "this brain"
REGIME_FAMILIES: Final = tuple(family for family in FAMILIES if family != "null")
DAYS: Final = 60  # of a market; the first half is warm-up
RECORDED_WARM_DAYS: Final = 7
TRAINING_SEEDS: Final = range(1000, 2000)
_TOGETHER: Final = 16  # markets side by side
_BLOCK: Final = 96  # quarters of an hour in a day
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class RealScore:
    """Figures of one set of recorded candles."""

    name: str
    bars: int
    assets: int
    shares: tuple[float, ...]  # of the five labels
    dwell_hours: float
    ratio: float
    outcomes: tuple[Outcomes, Outcomes]
    fits: list[tuple[float, float]]


@dataclass(slots=True)
class Evaluation:
    """All that was measured.

    Args:
        seeds: of the simulated markets; days: of each, the first half is warm-up.
        runs: by reader, then family.
        outcomes: by family: 15 and 60 minutes.
        example: a market and what was said of it, for the plot.
        scores: those already worked out.
    """

    seeds: range
    digest: str
    days: int = DAYS
    runs: dict[str, dict[str, list[RegimeRun]]] = field(default_factory=dict)
    outcomes: dict[str, tuple[Outcomes, Outcomes]] = field(default_factory=dict)
    real: list[RealScore] = field(default_factory=list)
    example: tuple[Market, Said] | None = None
    scores: dict[tuple[str, str], RegimeScore] = field(default_factory=dict)

    def score(self, reader: str, family: str) -> RegimeScore:
        """Return the figures of one reader on one family, once all its runs are there."""
        if (reader, family) not in self.scores:
            self.scores[reader, family] = score_regimes(self.runs[reader][family])
        return self.scores[reader, family]


def evaluate(
    seeds: range,
    candles: Sequence[Path],
    peers: Sequence[Peer],
    weights: Weights,
    progress: Progress,
    *,
    days: int = DAYS,
) -> Evaluation:
    """Measure the brain and the peers on the same markets.

    Args:
        seeds: outside the training's 1000 to 1999.
        candles: folders of recorded 5-minute candles.
        days: of each market; the first half is warm-up.

    Raises:
        ValueError: a seed belongs to the training.
    """
    check(seeds)
    found = Evaluation(seeds, weights.digest, days)
    for family in FAMILIES:
        parts: list[tuple[Outcomes, Outcomes]] = []
        for start in range(0, len(seeds), _TOGETHER):
            markets = [simulate(family, seed, days) for seed in seeds[start : start + _TOGETHER]]
            warm = days * BARS_A_DAY // 2
            spoken = listen_together([market.frame for market in markets], warm, weights)
            for market, said in zip(markets, spoken, strict=True):
                parts.append(_market(found, family, market, said, peers))
                progress(len(parts), len(seeds), f"seeds {seeds.start}-{seeds.stop - 1}, {family}")
        found.outcomes[family] = (join([part[0] for part in parts]), join([part[1] for part in parts]))
    for number, folder in enumerate(candles, start=1):
        found.real.append(_recorded(folder.name, read_candles(folder), weights))
        progress(number, len(candles), "recorded candles")
    return found


def check(seeds: range) -> None:
    """Refuse seeds of the training.

    Raises:
        ValueError: a seed belongs to the training.
    """
    if any(seed in TRAINING_SEEDS for seed in (seeds.start, seeds.stop - 1)) or seeds.start < 1000 < seeds.stop:
        raise ValueError("seeds 1000-1999 are for training; choose others")


def _market(
    found: Evaluation, family: str, market: Market, said: Said, peers: Sequence[Peer]
) -> tuple[Outcomes, Outcomes]:
    """Keep what every reader says of one market."""
    warm = found.days * BARS_A_DAY // 2
    truth, moving = market.regime[warm:], market.moving[warm:]
    _keep(found, BRAIN, family, RegimeRun(said.label, truth, moving, said.sure))
    seen = hourly(market.frame, market.regime, warm)
    for peer in peers:
        label, sure = answers(peer, seen, len(market.regime))
        _keep(found, peer.name, family, RegimeRun(label[warm:], truth, moving, None if sure is None else sure[warm:]))
    if found.example is None:
        found.example = (market, said)
    return outcomes(market.frame, said, 0), outcomes(market.frame, said, 1)


def _keep(found: Evaluation, reader: str, family: str, run: RegimeRun) -> None:
    """Put a run where it belongs."""
    found.runs.setdefault(reader, {}).setdefault(family, []).append(run)


def _recorded(name: str, frame: BarFrame, weights: Weights) -> RealScore:
    """Return what was measured on recorded candles, a week of them as warm-up."""
    said = listen(frame, RECORDED_WARM_DAYS * BARS_A_DAY, weights)
    changes = int((np.diff(said.label) != 0).sum())
    moves = np.nan_to_num(np.diff(np.log(frame.fields["close"]), axis=0, prepend=np.nan))
    return RealScore(
        name=name,
        bars=len(frame),
        assets=len(frame.assets),
        shares=tuple(float((said.label == word).mean()) for word in range(5)),
        dwell_hours=len(said.label) / 12.0 / max(changes, 1),
        ratio=forward_ratio(moves, said.at, said.label),
        outcomes=(outcomes(frame, said, 0), outcomes(frame, said, 1)),
        fits=outlook_fits(frame, said),
    )


def interval(found: Outcomes) -> tuple[float, float]:
    """Return the 95 % interval of the skill, in blocks of a day."""
    return found.interval(_BLOCK)
