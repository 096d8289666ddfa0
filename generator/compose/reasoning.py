"""GET /api/reasoning.php, and one static file per asset."""

from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.text.answers import DEVELOPER_NOTE, NO_FORECAST, NOTHING_CLAIMED
from generator.catalog.words import Prediction
from generator.compose.coins import forecast_of, weighed
from generator.compose.context import TickContext
from generator.compose.envelope import notice
from generator.compose.facts import asset_sentence
from generator.compose.inputs import asset_limitations, forecast_reason, reading_of
from generator.contract.reasoning import Reason, Reasoning, ReasoningResponse


def reasoning(ctx: TickContext, asset: str = DEFAULT_ASSET) -> ReasoningResponse:
    """Compose the evidence behind one asset's prediction."""
    limits = list(asset_limitations(ctx, asset))
    if forecast_of(ctx, asset) is None:
        limits.append(NO_FORECAST.format(reason=forecast_reason(ctx, asset)))
    return ReasoningResponse(
        **notice(ctx, ENDPOINT_BY_ID["reasoning"], *limits),
        asset=asset,
        reasoning=reasoning_block(ctx, asset),
        supported_assets=ASSETS,
        developer_note=DEVELOPER_NOTE,
    )


def reasoning_block(ctx: TickContext, asset: str) -> Reasoning:
    """Compose prediction, chances and reasons."""
    read, forecast = reading_of(ctx, asset), forecast_of(ctx, asset)
    evidence = read.evidence if read else ()
    nothing = NOTHING_CLAIMED.format(reason=forecast_reason(ctx, asset))
    return Reasoning(
        prediction=forecast.prediction if forecast else Prediction.NEUTRAL,
        **weighed(ctx, asset),
        brain_silent=forecast is None,
        summary=asset_sentence(ctx, asset) if forecast else nothing,
        reason_points=tuple(f"{row.points or row.side}: {row.text}" for row in evidence),
        reasons=tuple(Reason.of(row, bears_on_call=row.side) for row in evidence),
        horizon_minutes=forecast.horizon_minutes if forecast else None,
    )
