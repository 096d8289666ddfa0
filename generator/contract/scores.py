"""Track records: every score with its count."""

from pydantic import Field

from generator.contract.base import Body

KIND = "What the confidence next to it measures."


class Rate(Body):
    """A share of cases with its Wilson 95% interval."""

    n: int = Field(description="Cases.")
    percent: float | None = Field(description="Share, percent 0..100; null without cases.")
    low_percent: float | None = Field(description="Lower end of the 95% interval, percent.")
    high_percent: float | None = Field(description="Upper end of the 95% interval, percent.")


class CalibrationBin(Body):
    """One bin of published confidence against what came true."""

    low_percent: float = Field(description="Lower edge of the published confidence, percent.")
    high_percent: float = Field(description="Upper edge, percent.")
    n: int = Field(description="Resolved forecasts in the bin.")
    hit: Rate | None = Field(description="How often the shown word came true; null below 30 cases.")
    note: str | None = Field(description="Why there is no rate; null where there is one.")


class Baseline(Body):
    """A simple forecaster that the record is judged against."""

    name: str = Field(description="uniform, base_rate (trailing frequencies) or persistence (the last outcome).")
    n: int = Field(description="Resolved forecasts that it was scored on.")
    brier: float | None = Field(description="Its three-class Brier score, 0..2, lower is better.")
    skill_percent: float | None = Field(description="1 - Brier / its Brier, in percent; above 0 is better than it.")


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
    hit_rate_percent: float | None = Field(description="How often the shown word came true, percent.")
    hit_rate_low_percent: float | None = Field(description="Lower end of its Wilson 95% interval, percent.")
    hit_rate_high_percent: float | None = Field(description="Upper end of its Wilson 95% interval, percent.")
    brier: float | None = Field(
        description="Three-class Brier score, 0..2, lower is better; a uniform guess has 0.667."
    )
    log_score: float | None = Field(
        description="Mean negative log of the chance given to the outcome, clamped at 0.01."
    )
    baseline: str = Field(description="Which baseline brier_baseline and skill_percent refer to.")
    brier_baseline: float | None = Field(description="Brier score of that baseline.")
    skill_percent: float | None = Field(description="1 - brier / brier_baseline, in percent.")
    baselines: tuple[Baseline, ...] = Field(description="All baselines.")
    calibration: tuple[CalibrationBin, ...] = Field(description="Published confidence against what came true.")
    statement: str = Field(description="What the record shows, in one plain sentence.")


class Probabilities(Body):
    """Chances of the three outcomes of a forecast."""

    down: float = Field(description="Chance of a fall beyond the neutral band, 0..1.")
    neutral: float = Field(description="Chance of a move within the neutral band, 0..1.")
    up: float = Field(description="Chance of a rise beyond the neutral band, 0..1.")
