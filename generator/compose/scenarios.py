"""Ways in which the next hours may go: what speaks for each, and what would prove it wrong. No chances."""

from typing import Final

from generator.catalog.assets import ASSETS
from generator.catalog.counts import ASSETS_IN_WORDS, in_words
from generator.catalog.text.labels import REGIME
from generator.catalog.words import Bias, DerivativesVote, RegimeLabel, Trend
from generator.compose.coins import bias_counts, expected_move
from generator.compose.context import TickContext
from generator.compose.inputs import reading_of
from generator.contract.paid import Scenario

HOURS: Final = 4
# Where "most coins" rise or fall, fewer than a majority prove it wrong.
_FEWER: Final = f"fewer than {in_words(len(ASSETS) // 2 + 1)} of the {ASSETS_IN_WORDS} assets"


def scenarios(ctx: TickContext) -> tuple[Scenario, ...]:
    """Compose three scenarios; none without a regime."""
    if ctx.reading is None or ctx.reading.regime.label is RegimeLabel.UNKNOWN:
        return ()
    rises = _moves(ctx, "It rises", "rise", Trend.UP, DerivativesVote.BULLISH)
    falls = _moves(ctx, "It falls", "fall", Trend.DOWN, DerivativesVote.BEARISH)
    return (_continues(ctx), rises, falls)


def four_hour_move(ctx: TickContext) -> float | None:
    """Return one standard deviation of the market's move over four hours, percent."""
    move = expected_move(ctx.reading.outlook) if ctx.reading else None
    return move.hours_4_percent if move else None


def _sized(ctx: TickContext, sentence: str, factor: float) -> str:
    move = four_hour_move(ctx)
    return sentence.format(move=f"{factor * move:.2g}%" if move else "its usual range")


def _span(minutes: int) -> str:
    """Return a length of time in words, e.g. `7 hours and 55 minutes`."""
    hours, rest = divmod(minutes, 60)
    parts = [
        f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in ((hours, "hour"), (rest, "minute")) if count
    ]
    return " and ".join(parts) or "less than a minute"


def _continues(ctx: TickContext) -> Scenario:
    label = REGIME[ctx.reading.regime.label] if ctx.reading else ""
    minutes = ctx.reading.regime.dwell_minutes if ctx.reading else 0
    return Scenario(
        name="It continues",
        description=f"The regime stays as it is: {label}.",
        supported_by=(f"it has lasted for {_span(minutes)}",),
        wrong_if=_sized(
            ctx, "Another regime holds for two hours, or most assets move more than {move} in four hours.", 2
        ),
        horizon_hours=HOURS,
        expected_move_percent=four_hour_move(ctx),
    )


def _moves(ctx: TickContext, name: str, verb: str, trend: Trend, vote: DerivativesVote) -> Scenario:
    wrong = f"In four hours {_FEWER} are {trend}, or their mean is {trend} less than {{move}}."
    return Scenario(
        name=name,
        description=f"Most assets {verb} together over the next hours.",
        supported_by=_support(ctx, trend, Bias(trend.upper()), vote),
        wrong_if=_sized(ctx, wrong, 0.25),
        horizon_hours=HOURS,
        expected_move_percent=four_hour_move(ctx),
    )


def _support(ctx: TickContext, trend: Trend, bias: Bias, vote: DerivativesVote) -> tuple[str, ...]:
    reads = [read for asset in ASSETS if (read := reading_of(ctx, asset))]
    counts = (
        (sum(read.trend is trend for read in reads), f"a trend {trend} over the last 8 to 20 hours"),
        (bias_counts(ctx)[bias.value], f"a forecast {bias.lower()} for the next hour"),
        (sum(read.vote is vote for read in reads), f"{vote} derivatives"),
    )
    return tuple(
        f"{count} of {len(ASSETS)} assets {'has' if count == 1 else 'have'} {what}" for count, what in counts if count
    ) or ("nothing now",)
