"""Scores of forecasts: three-class Brier, log score, hit rate with its interval, baselines, calibration bins.

Sums are integers of scaled numbers, so that adding cases one by one and adding them all at once, in any order, give
exactly the same scores.

They are computed from numbers as published, so a reader gets the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from generator.arena.blocks import Cell, bin_of, bins_of
from generator.arena.moves import MoveSums
from generator.arena.rates import rate, shared
from generator.arena.scoring import E8, E9, UNIFORM_BRIER, Ratio, brier_e8, log_e9, mean, skill_percent
from generator.brain.forecast import Forecast
from generator.catalog.formats import probabilities
from generator.catalog.words import PREDICTION_OF_CALL, Call, Prediction
from generator.values.chances import MoveChance, Probabilities
from generator.values.hours import PredictionMade
from generator.values.rounds import Round, Triple, move_chance
from generator.values.scores import BeforeCalls, EarlierChancesRecord, ForecastScores, Rate

BIN_EDGES: Final = (0.0, 35.0, 40.0, 45.0, 50.0, 60.0, 100.0)

ORDER: Final = (Prediction.BEARISH, Prediction.NEUTRAL, Prediction.BULLISH)  # of every triple: down, neutral, up


def published_triple(chances: Probabilities) -> Triple:
    """Return three chances as published: down, neutral, up; raise ValueError where they are none."""
    down, neutral, up = probabilities((chances.down, chances.neutral, chances.up))
    return down, neutral, up


def published_move(forecast: Forecast) -> MoveChance | None:
    """Return the chance of a move beyond the band and its base rate as published."""
    return move_chance(published_triple(forecast.probabilities), published_triple(forecast.base_rate))


def chance_of(chances: Triple, word: Prediction) -> float:
    """Return the chance that a triple gives to one word, 0..1.

    >>> chance_of((0.2, 0.3, 0.5), Prediction.BULLISH)
    0.5
    """
    return chances[ORDER.index(word)]


def confidence_percent(chances: Triple, call: Call) -> float | None:
    """Return the chance of the called outcome in percent, one decimal; None without a call.

    >>> confidence_percent((0.2, 0.3333, 0.4667), Call.UP)
    46.7
    """
    if call is Call.NONE:
        return None
    return round(100 * chance_of(chances, PREDICTION_OF_CALL[call]), 1)


def brier(chances: Triple, outcome: Prediction) -> float:
    """Return the three-class Brier score of chances as published, 0 (certain and right) .. 2 (certain and wrong).

    >>> brier((0.0, 0.0, 1.0), Prediction.BULLISH), brier((1.0, 0.0, 0.0), Prediction.BULLISH)
    (0.0, 2.0)
    """
    return brier_e8(chances, ORDER.index(outcome)) / E8


Case = Round | PredictionMade


@dataclass(frozen=True, slots=True)
class HitSums:
    """Counts over calls and whether they came true; immutable."""

    total: Ratio = field(default_factory=Ratio)
    by_call: Mapping[Call, Ratio] = field(default_factory=dict)
    base_hits: int = 0  # of always naming the outcome that was most frequent before
    bins: Mapping[int, Cell] = field(default_factory=dict)  # by the published confidence
    last_ms: int = 0  # start of the last of them

    def plus(self, cases: Sequence[tuple[Call, Case]]) -> HitSums:
        """Add the calls of forecasts that came due together."""
        if not cases:
            return self

        hits = [int(case.outcome is PREDICTION_OF_CALL[call]) for call, case in cases]
        by_call = dict(self.by_call)
        for kind in Call:
            of_kind = [hit for hit, (call, _) in zip(hits, cases, strict=True) if call is kind]
            if of_kind:
                by_call[kind] = by_call.get(kind, Ratio()).plus(sum(of_kind), len(of_kind))

        return HitSums(
            total=self.total.plus(sum(hits), len(hits)),
            by_call=by_call,
            base_hits=self.base_hits + sum(_usual_came(case) for _, case in cases),
            bins=self._binned(cases, hits),
            last_ms=max(self.last_ms, *(case.start_ms for _, case in cases)),
        )

    def _binned(self, cases: Sequence[tuple[Call, Case]], hits: Sequence[int]) -> Mapping[int, Cell]:
        by_bin: dict[int, list[tuple[int, int]]] = {}
        for (call, case), hit in zip(cases, hits, strict=True):
            confidence = confidence_percent(case.probabilities, call) if case.probabilities else None
            if confidence is not None:
                by_bin.setdefault(bin_of(BIN_EDGES, confidence), []).append((round(100 * confidence), hit))

        bins = dict(self.bins)
        for index, members in by_bin.items():
            chances, right = zip(*members, strict=True)
            bins[index] = bins.get(index, Cell()).plus(sum(chances), sum(right), len(members))
        return bins


KINDS: Final = (Call.UP, Call.SMALL_MOVE, Call.DOWN)  # what can come true
# What the word of a forecast from before calls was scored as.
SCORED_AS: Final = {Prediction.BULLISH: Call.UP, Prediction.BEARISH: Call.DOWN, Prediction.NEUTRAL: Call.SMALL_MOVE}


@dataclass(frozen=True, slots=True)
class Sums:
    """Running sums over the cases of one kind; immutable, so that a rolled-back tick leaves them as they were."""

    predictions: int = 0
    void: int = 0
    resolved: int = 0
    brier_e8: int = 0
    log_e9: int = 0
    base_rate_e8: int = 0
    persistence_e8: int = 0
    calls: HitSums = field(default_factory=HitSums)
    before: HitSums = field(default_factory=HitSums)  # of forecasts from before calls, by the word they had
    move: MoveSums = field(default_factory=MoveSums)
    kind: str | None = None  # of the chances; another kind starts at nothing, and what was before is `earlier`
    earlier: Sums | None = None

    def of_kind(self, kind: str | None, change: Callable[[Sums], Sums]) -> Sums:
        """Change the sums of a kind of chances: these, those of an earlier kind, or new ones before which these are."""
        if kind == self.kind:
            return change(self)
        if not (self.predictions or self.resolved or self.earlier):
            return change(replace(self, kind=kind))
        if kind is None or (self.earlier is not None and self.earlier.has(kind)):
            return replace(self, earlier=(self.earlier or Sums()).of_kind(kind, change))
        return change(Sums(kind=kind, earlier=self))

    def has(self, kind: str) -> bool:
        """Return whether these sums, or earlier ones, are of a kind."""
        return self.kind == kind or (self.earlier is not None and self.earlier.has(kind))

    def scored(self) -> Sums:
        """Return the sums of the newest kind of which something came due; these where nothing did.

        A kind is known from when it is sealed, but a log gives it only with the outcome: what is logged goes by this.
        """
        sums: Sums | None = self
        while sums is not None and not sums.resolved:
            sums = sums.earlier
        return sums or self

    def words_before_calls(self) -> HitSums:
        """Return the sums of forecasts from before calls, whatever kinds of chances came since."""
        if self.before.total.below or self.earlier is None:
            return self.before
        return self.earlier.words_before_calls()

    def counted(self, case: Case, sign: int = 1) -> Sums:
        """Count a forecast that is there (sign 1), or is no more as it was (sign -1); one without chances is none."""
        if case.probabilities is None:
            return self
        return self.of_kind(case.chances_kind, partial(Sums._counted, case=case, sign=sign))

    def _counted(self, case: Case, sign: int) -> Sums:
        is_void = case.outcome is None and case.void_reason is not None
        return replace(self, predictions=self.predictions + sign, void=self.void + (sign if is_void else 0))

    def ended(self, cases: Iterable[Case]) -> Sums:
        """Score forecasts that came due together, in one tick; those of one hour move together."""
        sums = self
        by_kind: dict[str | None, list[Case]] = {}
        for case in cases:
            by_kind.setdefault(case.chances_kind, []).append(case)
        for kind, of_kind in by_kind.items():
            sums = sums.of_kind(kind, partial(Sums._ended, cases=of_kind))
        return sums

    def _ended(self, cases: Iterable[Case]) -> Sums:
        scored = [
            (case, case.outcome, case.probabilities, case.base_rate)
            for case in cases
            if case.outcome is not None and case.probabilities is not None and case.base_rate is not None
        ]
        calls: list[tuple[Call, Case]] = []
        from_before: list[tuple[Call, Case]] = []
        for case, *_ in scored:
            if case.call is None and case.prediction is not None:
                from_before.append((SCORED_AS[case.prediction], case))
            elif case.call in KINDS:
                calls.append((case.call, case))

        return replace(
            self,
            resolved=self.resolved + len(scored),
            brier_e8=self.brier_e8 + sum(brier_e8(chances, ORDER.index(outcome)) for _, outcome, chances, _ in scored),
            log_e9=self.log_e9 + sum(log_e9(chance_of(chances, outcome)) for _, outcome, chances, _ in scored),
            base_rate_e8=self.base_rate_e8
            + sum(brier_e8(base, ORDER.index(outcome)) for _, outcome, _, base in scored),
            persistence_e8=self.persistence_e8
            + sum(_persistence_e8(case.previous, outcome) for case, outcome, *_ in scored),
            calls=self.calls.plus(calls),
            before=self.before.plus(from_before),
            move=self.move.plus([case for case, *_ in scored if case.call is not None]),
        )


def _usual_came(case: Case) -> int:
    """Return 1 where the outcome that was most frequent before came, else 0."""
    if case.base_rate is None:
        return 0
    most_frequent = ORDER[case.base_rate.index(max(case.base_rate))]
    return int(most_frequent == case.outcome)


def _persistence_e8(previous: Prediction | None, outcome: Prediction) -> int:
    """Brier of saying with certainty what came true last; even chances when nothing came true yet."""
    if previous is None:
        return round(UNIFORM_BRIER * E8)
    return 0 if previous == outcome else 2 * E8


def track_record(kind: str, sums: Sums, *, warm_up: int = 0, backtest: bool = False) -> ForecastScores:
    """Work out the scores from the sums, which are of live play or of the `backtest`.

    Scores have 4 decimals; skill is computed from those, in percent with one decimal.

    Args:
        warm_up: how many more came due in the backtest, where the sums are of live play.
    """
    n = sums.resolved
    calls = sums.calls
    score = mean(sums.brier_e8, E8, n)
    baselines = {
        "uniform": round(UNIFORM_BRIER, 4) if n else None,
        "base_rate": mean(sums.base_rate_e8, E8, n),
        "persistence": mean(sums.persistence_e8, E8, n),
    }

    return ForecastScores(
        kind=kind,
        predictions=sums.predictions,
        resolved=n,
        void=sums.void,
        warm_up=warm_up,
        hit=calls.total.rate(backtest=backtest),
        by_call=_by_call(calls, backtest=backtest),
        no_calls=n - calls.total.below - sums.before.total.below,
        brier=score,
        log_score=mean(sums.log_e9, E9, n),
        chance=rate(calls.base_hits, calls.total.below, backtest=backtest),
        baselines=baselines,
        skill_percent={
            name: skill_percent(score, baseline) if sums.move.shows_skill else None
            for name, baseline in baselines.items()
        },
        bins=bins_of(BIN_EDGES, calls.bins, backtest=backtest),
        move=sums.move.scores(backtest=backtest),
        before_calls=_before_calls(sums.words_before_calls(), backtest=backtest),
        chances_kind=sums.kind,
        earlier=tuple(_earlier(sums.earlier, backtest=backtest)),
    )


def _earlier(sums: Sums | None, *, backtest: bool) -> Iterator[EarlierChancesRecord]:
    while sums is not None:
        score = mean(sums.brier_e8, E8, sums.resolved)
        usual = mean(sums.base_rate_e8, E8, sums.resolved)

        yield EarlierChancesRecord(
            kind=sums.kind,
            predictions=sums.predictions,
            resolved=sums.resolved,
            brier=score,
            brier_baseline=usual,
            skill_percent=skill_percent(score, usual) if sums.move.shows_skill else None,
            hit=shared(sums.calls.total.rate(backtest=backtest)),
        )
        sums = sums.earlier


def _by_call(hits: HitSums, *, backtest: bool) -> dict[Call, Rate]:
    """Return how often each kind of call came true, in a fixed order, also of kinds that never were."""
    return {call: hits.by_call.get(call, Ratio()).rate(backtest=backtest) for call in KINDS}


def _before_calls(hits: HitSums, *, backtest: bool) -> BeforeCalls | None:
    if not hits.total.below:
        return None
    return BeforeCalls(
        hit=hits.total.rate(backtest=backtest),
        by_word=_by_call(hits, backtest=backtest),
        chance=rate(hits.base_hits, hits.total.below, backtest=backtest),
        last_ms=hits.last_ms,
    )
