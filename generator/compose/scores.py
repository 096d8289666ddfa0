"""Track records as published, each with a plain sentence."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from pydantic import Field

from generator.arena.rates import ENOUGH, enough, in_full, in_words, share, shared
from generator.arena.scoring import ENOUGH_BLOCKS
from generator.catalog.counts import listed, quantity
from generator.catalog.formats import iso
from generator.catalog.horizons import HORIZONS, HOUR
from generator.catalog.text.answers import NO_ROUND_COUNTS, NO_ROUND_ENDED, NO_SCORES
from generator.catalog.words import Call
from generator.compose.body import Body, Percent, Score
from generator.values.scores import (
    NO_ROUNDS,
    BeforeCalls,
    CalibrationBin,
    EarlierChancesRecord,
    Estimate,
    ForecastScores,
    HorizonRecord,
    MoveScores,
    RangeForecastScore,
    Rate,
)
from generator.values.view import ArenaView

KIND = "What the confidence next to it measures."


class RangeScore(Body):
    """How the ranges of one forecaster did over one horizon."""

    name: str = Field(
        description="brain, or a simple rule with normal quantiles: last_hour and last_day take sigma from the moves "
        "of that time, ewma from their exponentially weighted mean."
    )
    n: int = Field(description="Moves that it was scored on.")
    inside_50_percent: Estimate | None = Field(
        description="Moves inside the 50% range, percent; 50 is right; null below 30."
    )
    inside_90_percent: Estimate | None = Field(
        description="Moves inside the 90% range, percent; 90 is right; null below 30."
    )
    pinball: float = Field(
        description="Mean pinball loss of the quantiles .05, .25, .75 and .95 of the move in percent; lower is better."
    )
    qlike: float = Field(description="Mean of ln(sigma^2) + move^2 / sigma^2, in percent; lower is better.")
    pinball_saved_percent: Estimate | None = Field(
        description="By how many percent the brain's pinball loss is below this one's; null for the brain."
    )
    qlike_saved: Estimate | None = Field(
        description="This one's QLIKE minus the brain's, above 0 the brain is better; null for the brain."
    )


class HorizonScores(Body):
    """How the ranges over one horizon did."""

    horizon: str = Field(description="15m, 1h, 4h or 24h, from the start of an hour.")
    resolved: int = Field(description="Moves that are known.")
    void: int = Field(description="Moves that no tick saw the end of; not scored.")
    blocks: int = Field(
        description="Blocks of 4 hours (24h: of a day) with such moves; an interval leaves out one at a time, needs 10."
    )
    scores: tuple[RangeScore, ...] = Field(description="The brain first, then the simple rules, on the same moves.")
    statement: str = Field(description="How many of its ranges held, in plain words.")


class HowFar(Body):
    """Ranges stored before each hour against the moves of the hour."""

    resolved: int = Field(description="Moves that are known, all horizons together.")
    warm_up: int = Field(description="Further ones made by backtest before the start; counted apart.")
    horizons: tuple[HorizonScores, ...] = Field(description="By horizon.")
    statement: str = Field(description="How the ranges over one hour compare with simple rules, in plain words.")


class HowFarSummary(Body):
    """The ranges over one hour in short; statistics has every horizon and the simple rules."""

    n: int = Field(description="Moves over one hour that are known.")
    inside_50_percent: Estimate | None = Field(description="Share of them inside the 50% range, percent; 50 is right.")
    inside_90_percent: Estimate | None = Field(description="Share of them inside the 90% range, percent; 90 is right.")
    statement: str = Field(description="How many held, in plain words; statistics says how simple rules did.")


class Baseline(Body):
    """A simple forecaster that the record is judged against."""

    name: str = Field(description="uniform, base_rate (trailing frequencies) or persistence (the last outcome).")
    n: int = Field(description="Resolved forecasts that it was scored on.")
    brier: Score = Field(description="Its three-class Brier score, 0..2, lower is better.")
    skill_percent: Percent = Field(
        description="1 - Brier / its Brier, in percent; above 0 is better than it. Null likewise."
    )


class MoveRecord(Body):
    """Whether prices moved beyond the band, against the chances that were stored: the second skill after how far."""

    n: int = Field(description="Forecasts that were scored, with and without a call.")
    said_percent: Percent = Field(description="Mean chance of a move, percent.")
    base_percent: Percent = Field(description="Mean base rate of a move, percent.")
    moved: Rate = Field(description="How often the price ended outside the band.")
    two_class_brier: Score = Field(description="Brier score of move or no move, 0..1, lower is better.")
    two_class_brier_baseline: Score = Field(description="That of always giving the base rate.")
    two_class_log_score: Score = Field(description="Mean negative log of the chance given to what happened.")
    two_class_log_score_baseline: Score = Field(description="That of always giving the base rate.")
    brier_skill_percent: Estimate | None = Field(
        description="1 - Brier / that of the base rate, percent; null likewise."
    )
    log_skill_percent: Estimate | None = Field(description="The same by the log score, percent.")
    calibration: tuple[CalibrationBin, ...] = Field(
        description="Stated chance of a move against how often it happened."
    )
    statement: str = Field(description="What is shown, and what is not, in plain words.")


class BeforeCallsRecord(Body):
    """Forecasts that were stored before calls existed, scored as they were then: FLAT as a small move."""

    before: str = Field(description="Start of the last of them, ISO 8601 UTC.")
    hit: Rate = Field(description="How often the word was right.")
    by_word: dict[str, Rate] = Field(description="The same by word: up, small_move (FLAT) and down.")
    chance_percent: Percent = Field(description="Hit rate of always naming the outcome most frequent before, percent.")


class TrackRecord(Body):
    """Scores of resolved forecasts of one kind."""

    kind: str = Field(description="hourly: one forecast an asset an hour; arena: the rounds.")
    predictions: int = Field(description="Forecasts made.")
    resolved: int = Field(description="Forecasts whose outcome is known.")
    void: int = Field(description="Forecasts that could not be resolved and are not scored.")
    warm_up: int = Field(description="How many more a backtest made before the start; not in resolved.")
    n: int = Field(description="Calls behind the hit rate.")
    no_calls: int = Field(description="Resolved forecasts without a call.")
    by_call: dict[str, Rate] = Field(description="Hit rate of each call: up, small_move and down.")
    hit_rate_percent: Percent = Field(description="How often calls were right; null below 30 calls.")
    hit_rate_low_percent: Percent = Field(
        description="Lower end of its Wilson 95% interval, percent; one hour's forecasts are not independent."
    )
    hit_rate_high_percent: Percent = Field(description="Upper end of it, percent.")
    chance_percent: float | None = Field(
        description="That of always naming the outcome most frequent before; null likewise."
    )
    brier: Score = Field(description="Three-class Brier score of all, 0..2, lower is better.")
    log_score: Score = Field(description="Mean negative log of the outcome's chance, clamped at 0.01.")
    baseline: str = Field(description="Which baseline brier_baseline and skill_percent refer to.")
    brier_baseline: Score = Field(description="Brier score of that baseline.")
    skill_percent: Percent = Field(description="1 - brier / brier_baseline, in percent; null below ten days or moves.")
    baselines: tuple[Baseline, ...] = Field(description="All baselines.")
    calibration: tuple[CalibrationBin, ...] = Field(
        description="Published confidence of calls against how often they were right."
    )
    move: MoveRecord = Field(description="Whether prices moved: all forecasts, scored.")
    before_calls: BeforeCallsRecord | None = Field(
        description="Forecasts from before calls existed, as scored then; null where there are none."
    )
    chances_kind: str | None = Field(
        description="How the chances of all that is scored here were made: law, from the kept law of moves over their "
        "expected size; null where none was made since that is stored."
    )
    earlier_chances: tuple[EarlierChancesRecord, ...] = Field(
        description="What was made in another way before, the newest first; it stays in the record."
    )
    statement: str = Field(description="What the record shows, in one plain sentence.")


class Performance(TrackRecord):
    """Scores of the brain's forecasts: which way, and first of all how far."""

    how_far: HowFarSummary = Field(description="How far prices would move: the ranges over one hour, scored.")


BASELINE: Final = "base_rate"
CALLED: Final = (Call.UP, Call.SMALL_MOVE, Call.DOWN)
OVER: Final = " for {horizon}"
OVER_AN_HOUR: Final = OVER.format(horizon=HORIZONS[HOUR].words)
NO_MOVES: Final = "No range for {horizon} has been judged yet."
TOO_SHORT: Final = "Of fewer than ten days, or ten moves, no skill is shown."
RULE_WORDS: Final = {"last_hour": "the last hour", "last_day": "the last day", "ewma": "EWMA"}


def track_record(record: ForecastScores) -> TrackRecord:
    """Publish a track record; the baseline that skill refers to leads the others."""
    names = dict.fromkeys((BASELINE, *record.baselines))

    return TrackRecord(
        kind=record.kind,
        predictions=record.predictions,
        resolved=record.resolved,
        void=record.void,
        warm_up=record.warm_up,
        n=record.hit.n,
        no_calls=record.no_calls,
        by_call=_by_call(record.by_call),
        hit_rate_percent=shared(record.hit).percent,
        hit_rate_low_percent=shared(record.hit).low_percent,
        hit_rate_high_percent=shared(record.hit).high_percent,
        chance_percent=shared(record.chance).percent,
        brier=record.brier,
        log_score=record.log_score,
        baseline=BASELINE,
        brier_baseline=record.baselines.get(BASELINE),
        skill_percent=record.skill_percent.get(BASELINE),
        baselines=tuple(_baseline(record, name) for name in names),
        calibration=record.bins,
        move=move_record(record.move),
        before_calls=_before_calls(record.before_calls),
        chances_kind=record.chances_kind,
        earlier_chances=record.earlier,
        statement=statement(record),
    )


def _by_call(rates: Mapping[Call, Rate]) -> dict[str, Rate]:
    return {call.value: shared(rates.get(call, NO_ROUNDS)) for call in CALLED}


def _before_calls(before: BeforeCalls | None) -> BeforeCallsRecord | None:
    if before is None:
        return None
    return BeforeCallsRecord(
        before=iso(before.last_ms),
        hit=shared(before.hit),
        by_word=_by_call(before.by_word),
        chance_percent=shared(before.chance).percent,
    )


def move_record(scores: MoveScores) -> MoveRecord:
    """Publish whether prices moved, against the chances that were stored."""
    return MoveRecord(
        n=scores.n,
        said_percent=scores.said_percent,
        base_percent=scores.base_percent,
        moved=shared(scores.moved),
        two_class_brier=scores.brier,
        two_class_brier_baseline=scores.base_rate_brier,
        two_class_log_score=scores.log_score,
        two_class_log_score_baseline=scores.base_rate_log_score,
        brier_skill_percent=scores.skill_percent,
        log_skill_percent=scores.log_skill_percent,
        calibration=scores.bins,
        statement=move_statement(scores),
    )


def move_statement(scores: MoveScores) -> str:
    """Say in plain words what the chances of a move were worth."""
    if not scores.n:
        return "No chance of a move has been scored yet."
    if scores.n < ENOUGH:
        return f"Only {scores.n} chances of a move have been scored: too few to tell."

    skill = scores.skill_percent
    if skill is None or skill.low is None or skill.high is None:
        return TOO_SHORT

    # An interval that holds zero decides nothing either way.
    verdict = "No better or worse than the base rate"
    if skill.low > 0:
        verdict = "Better than the base rate"
    elif skill.high < 0:
        verdict = "Worse than the base rate"
    interval = f"95% interval {skill.low:g} to {skill.high:g}%"
    return f"{verdict}: Brier skill {skill.value:g}% ({interval})."


def _baseline(record: ForecastScores, name: str) -> Baseline:
    return Baseline(
        name=name,
        n=record.resolved,
        brier=record.baselines.get(name),
        skill_percent=record.skill_percent.get(name),
    )


def score_limits(*records: ForecastScores, rounds_ended: int = 0) -> tuple[str, ...]:
    """Say that scores are null where nothing that counts has resolved yet, though `rounds_ended` are over."""
    limits = []
    for record in records:
        if record.resolved:
            continue
        if record.kind != "arena":
            limits.append(NO_SCORES)
        elif rounds_ended:
            limits.append(NO_ROUND_COUNTS.format(ended=rounds_ended))
        else:
            limits.append(NO_ROUND_ENDED)

    return tuple(limits)


def looks_better(record: ForecastScores) -> bool:
    """Return whether calls look better than guessing: enough of them, better than the base rate and than chance.

    Chance is always naming the outcome that was most frequent before.
    """
    skill = record.skill_percent.get(BASELINE)
    low = record.hit.low_percent
    chance = record.chance.percent
    if record.hit.n < ENOUGH or skill is None or low is None or chance is None:
        return False
    return skill > 0 and low > chance


def statement(record: ForecastScores) -> str:
    """Say in plain words what a record shows."""
    if not record.resolved:
        return "No forecast has been scored yet."
    if record.resolved < ENOUGH:
        have = "forecast has" if record.resolved == 1 else "forecasts have"
        return f"Only {record.resolved} {have} resolved: no skill is shown, it is too few to tell."

    figures = _call_figures(record)
    if looks_better(record):
        return f"More than chance so far: {figures}. That promises nothing of the next forecast."
    return f"No skill is shown: {figures}."


def _call_figures(record: ForecastScores) -> str:
    """Say how often calls were right, against the outcome that was most frequent before."""
    calls = record.hit
    if not calls.n:
        return f"none of {record.resolved} forecasts made a call"
    if calls.n < ENOUGH:
        return f"only {quantity(calls.n, 'call')} could be judged, too few for a rate"

    usual = f"always naming the commonest outcome, {share(record.chance)}"
    return f"of {calls.n} calls {in_words(calls)} were right; {usual}"


def counted_apart(warm_up: int) -> str:
    """Say how many more there are of before the start."""
    return f" A backtest before the start made {warm_up}, counted apart." if warm_up else ""


def how_far(view: ArenaView) -> HowFar:
    """Publish the scores of the ranges over every horizon."""
    hour = hour_of(view.how_far)

    return HowFar(
        resolved=sum(scores.resolved for scores in view.how_far),
        warm_up=sum(scores.resolved for scores in _backtested(view)),
        horizons=tuple(_horizon_scores(scores) for scores in view.how_far),
        statement=against(hour) if hour and comparable(hour) else hour_statement(view),
    )


def _backtested(view: ArenaView) -> tuple[HorizonRecord, ...]:
    return view.backtest.how_far if view.backtest else ()


def _horizon_scores(row: HorizonRecord) -> HorizonScores:
    return HorizonScores(
        horizon=row.horizon,
        resolved=row.resolved,
        void=row.void,
        blocks=row.blocks,
        scores=tuple(_range_score(score, row.resolved) for score in row.scores),
        statement=held_statement(row),
    )


def _range_score(score: RangeForecastScore, n: int) -> RangeScore:
    """Publish how one forecaster did on `n` moves; raise ValueError where there was none to score it on."""
    if score.pinball is None or score.qlike is None:
        raise ValueError(f"{score.name}: a score without a move")

    return RangeScore(
        name=score.name,
        n=n,
        inside_50_percent=_share(score.inside_50),
        inside_90_percent=_share(score.inside_90),
        pinball=score.pinball,
        qlike=score.qlike,
        pinball_saved_percent=score.pinball_saved,
        qlike_saved=score.qlike_saved,
    )


def _share(rate: Rate) -> Estimate | None:
    if rate.percent is None or not enough(rate):
        return None
    return Estimate(value=rate.percent, low=rate.low_percent, high=rate.high_percent)


def performance(view: ArenaView) -> Performance:
    """Publish the record of the hourly forecasts: how far in short, and which way; arguments as for `track_record`."""
    record = track_record(view.hourly_record)
    return Performance(**record.as_fields(), how_far=_how_far_summary(view))


def _how_far_summary(view: ArenaView) -> HowFarSummary:
    hour = hour_of(view.how_far)
    statement = held_statement(hour, OVER_AN_HOUR) if hour else _none_yet(view)
    if hour is None or not hour.scores:
        resolved = hour.resolved if hour else 0
        return HowFarSummary(n=resolved, inside_50_percent=None, inside_90_percent=None, statement=statement)

    brain = hour.scores[0]
    return HowFarSummary(
        n=hour.resolved,
        inside_50_percent=_share(brain.inside_50),
        inside_90_percent=_share(brain.inside_90),
        statement=statement,
    )


def hour_of(scores: Iterable[HorizonRecord]) -> HorizonRecord | None:
    """Return the scores over one hour, the first figure of the record; None before the first move."""
    return next((row for row in scores if row.horizon == HOUR), None)


def hour_statement(view: ArenaView) -> str:
    """Say what the ranges over one hour were worth so far; before the first, what a backtest has of them."""
    hour = hour_of(view.how_far)
    if hour:
        return far_statement(hour)
    return _none_yet(view)


def _none_yet(view: ArenaView) -> str:
    """Say that no move over one hour is known yet, and what a backtest has of them."""
    backtested = hour_of(_backtested(view))
    return NO_MOVES.format(horizon=HORIZONS[HOUR].words) + counted_apart(backtested.resolved if backtested else 0)


def far_statement(row: HorizonRecord) -> str:
    """Say how many ranges over one horizon held, and how that compares with simple rules."""
    held = held_statement(row, OVER.format(horizon=HORIZONS[row.horizon].words))
    return f"{held} {against(row)}" if comparable(row) else held


def held_statement(row: HorizonRecord, over: str = "") -> str:
    """Say how many ranges held: how many moves ended inside their 90% range; of few, that they are too few.

    Args:
        over: the horizon in words, ` for 1 hour`, where nothing next to the sentence names it.
    """
    if not row.resolved:
        return NO_MOVES.format(horizon=HORIZONS[row.horizon].words)
    if not comparable(row):
        return f"Only {quantity(row.resolved, 'range')}{over} could be judged, all of a short time: too few to tell."

    inside = row.scores[0].inside_90
    if not over:
        return f"{in_full(inside)} held; 90% should."
    return f"Of {row.resolved} ranges{over} {in_words(inside)} held; 90% should."


def comparable(row: HorizonRecord) -> bool:
    """Return whether there are moves of a time long enough to compare forecasters."""
    return row.resolved > 0 and row.blocks >= ENOUGH_BLOCKS


def against(row: HorizonRecord) -> str:
    """Say how the ranges compare with those of the simple rules; better is better by both losses."""
    rules = row.scores[1:]
    names: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for rule in rules:
        names[compared(rule)].append(RULE_WORDS[rule.name])

    if len(names["better"]) == len(rules):
        return "The ranges scored better than those from the last hour, the last day and EWMA."

    clauses = []
    decided = [f"{word} than those from {listed(names[word])}" for word in ("better", "worse") if names[word]]
    if decided:
        clauses.append(f"the ranges scored {' and '.join(decided)}")
    if names["open"]:
        clauses.append(f"against {listed(names['open'])} the difference could be chance")
    text = "; ".join(clauses)
    return f"{text[0].upper()}{text[1:]}."


def compared(score: RangeForecastScore) -> Literal["better", "worse", "open"]:
    """Judge the brain against a simple rule by pinball loss and QLIKE: better by both, worse by one, or open."""
    losses = (score.pinball_saved, score.qlike_saved)

    if any(loss is not None and loss.high is not None and loss.high < 0 for loss in losses):
        return "worse"
    if all(loss is not None and loss.low is not None and loss.low > 0 for loss in losses):
        return "better"
    return "open"
