"""Track records: every score with its count."""

from pydantic import Field

from generator.contract.base import Body, Percent, Score

KIND = "What the confidence next to it measures."


class Rate(Body):
    """A share of cases with its Wilson 95% interval."""

    n: int = Field(description="Cases.")
    percent: Percent = Field(description="Share, percent 0..100; null without cases.")
    low_percent: Percent = Field(description="Lower end of the 95% interval, percent.")
    high_percent: Percent = Field(description="Upper end of the 95% interval, percent.")


class Estimate(Body):
    """A value with its 95% interval."""

    value: float = Field(description="The value.")
    low: float | None = Field(description="Lower end of the 95% interval; null while there is too little for one.")
    high: float | None = Field(description="Upper end of the 95% interval; null likewise.")


class RangeScore(Body):
    """How the ranges of one forecaster did over one horizon."""

    name: str = Field(
        description="brain, or a simple rule: last_hour and last_day take sigma from the moves of that time, ewma from an "
        "exponentially weighted mean; their ranges are normal quantiles."
    )
    n: int = Field(description="Moves that it was scored on.")
    inside_50_percent: Estimate = Field(description="Share of moves inside the 50% range, percent; 50 is right.")
    inside_90_percent: Estimate = Field(description="Share of moves inside the 90% range, percent; 90 is right.")
    pinball: float = Field(
        description="Mean pinball loss of the quantiles .05, .25, .75 and .95 of the move in percent; lower is better."
    )
    qlike: float = Field(description="Mean of ln(sigma^2) + move^2 / sigma^2, in percent; lower is better.")
    pinball_saved_percent: Estimate | None = Field(
        description="By how many percent the brain's pinball loss is below this one's; null for the brain itself."
    )
    qlike_saved: Estimate | None = Field(
        description="This one's QLIKE minus the brain's, above 0 the brain is better; null for the brain itself."
    )


class HorizonScores(Body):
    """How the ranges over one horizon did."""

    horizon: str = Field(description="15m, 1h, 4h or 24h, from the start of an hour.")
    resolved: int = Field(description="Moves that are known.")
    void: int = Field(description="Moves that no tick saw the end of; not scored.")
    blocks: int = Field(
        description="Blocks of 4 hours (for 24h: of a day) that the moves fall into; an interval leaves out one whole "
        "block at a time and takes 10 of them."
    )
    scores: tuple[RangeScore, ...] = Field(description="The brain first, then the simple rules, on the same moves.")
    statement: str = Field(description="What is shown, and what is not, in plain words.")


class HowFar(Body):
    """Ranges stored before each hour against the moves that came."""

    resolved: int = Field(description="Moves that are known, all horizons together.")
    warm_up: int = Field(description="How many more were made by backtest before the start; counted apart.")
    horizons: tuple[HorizonScores, ...] = Field(description="By horizon.")
    statement: str = Field(description="What the record shows over one hour, in plain words.")


class HowFarSummary(Body):
    """The ranges over one hour in short; statistics has every horizon and the simple rules."""

    n: int = Field(description="Moves over one hour that are known.")
    inside_50_percent: Estimate | None = Field(description="Share of them inside the 50% range, percent; 50 is right.")
    inside_90_percent: Estimate | None = Field(description="Share of them inside the 90% range, percent; 90 is right.")
    statement: str = Field(description="What is shown, and what is not, in plain words.")


class CalibrationBin(Body):
    """One bin of published confidence against what came true."""

    low_percent: float = Field(description="Lower edge of the published confidence, percent.")
    high_percent: float = Field(description="Upper edge, percent.")
    n: int = Field(description="Resolved forecasts in the bin.")
    said_percent: float | None = Field(description="Mean confidence of its forecasts, percent; null without any.")
    hit: Rate | None = Field(description="How often the shown word came true; null below 30 cases.")
    fits: bool | None = Field(description="Whether said_percent lies within the interval of hit; null without a rate.")
    note: str | None = Field(description="Why there is no rate; null where there is one.")


class Baseline(Body):
    """A simple forecaster that the record is judged against."""

    name: str = Field(description="uniform, base_rate (trailing frequencies) or persistence (the last outcome).")
    n: int = Field(description="Resolved forecasts that it was scored on.")
    brier: Score = Field(description="Its three-class Brier score, 0..2, lower is better.")
    skill_percent: Percent = Field(description="1 - Brier / its Brier, in percent; above 0 is better than it.")


class TrackRecord(Body):
    """Scores of resolved forecasts of one kind."""

    kind: str = Field(description="hourly: one forecast an asset an hour; arena: the rounds.")
    predictions: int = Field(description="Forecasts made.")
    resolved: int = Field(description="Forecasts whose outcome is known.")
    void: int = Field(description="Forecasts that could not be resolved and are not scored.")
    warm_up: int = Field(
        description="How many more were made by backtest before the start; counted apart, not in resolved."
    )
    n: int = Field(description="Cases behind the hit rate.")
    hit_rate_percent: Percent = Field(description="How often the shown word came true, percent.")
    hit_rate_low_percent: Percent = Field(
        description="Lower end of its Wilson 95% interval, percent; forecasts of the same hour are not taken as independent."
    )
    hit_rate_high_percent: Percent = Field(description="Upper end of it, percent.")
    chance_percent: float | None = Field(
        description="Hit rate of always naming the outcome that was most frequent before; the chance level."
    )
    brier: Score = Field(description="Three-class Brier score, 0..2, lower is better; a uniform guess has 0.667.")
    log_score: Score = Field(description="Mean negative log of the chance given to the outcome, clamped at 0.01.")
    baseline: str = Field(description="Which baseline brier_baseline and skill_percent refer to.")
    brier_baseline: Score = Field(description="Brier score of that baseline.")
    skill_percent: Percent = Field(description="1 - brier / brier_baseline, in percent.")
    baselines: tuple[Baseline, ...] = Field(description="All baselines.")
    calibration: tuple[CalibrationBin, ...] = Field(description="Published confidence against what came true.")
    statement: str = Field(description="What the record shows, in one plain sentence.")


class Performance(TrackRecord):
    """Scores of the brain's forecasts: which way, and first of all how far."""

    how_far: HowFarSummary = Field(description="How far prices would move: the ranges over one hour, scored.")


class Probabilities(Body):
    """Chances of the three outcomes of a forecast."""

    down: float = Field(description="Chance of a fall beyond the neutral band, 0..1.")
    neutral: float = Field(description="Chance of a move within the neutral band, 0..1.")
    up: float = Field(description="Chance of a rise beyond the neutral band, 0..1.")
