"""GET /api/x402-atlas-human-report.php, once paid: plain English."""

from __future__ import annotations

from typing import Final

from generator.catalog import plain
from generator.catalog.assets import ASSET_NAMES, ASSETS
from generator.catalog.glossary import GLOSSARY
from generator.catalog.products import PRODUCT_BY_ID
from generator.catalog.words import RegimeLabel, SourceMode
from generator.compose import report_parts as parts
from generator.compose.changes import moves
from generator.compose.context import TickContext
from generator.compose.paid import as_of, paid_head
from generator.compose.regime import regime
from generator.compose.scenarios import scenarios
from generator.compose.scores import score_limits
from generator.contract.paid_human_report import (
    GlossaryRow,
    HumanReport,
    Receipt,
    ReportScenario,
    X402HumanReportPaidResponse,
)

PRODUCT: Final = "x402-atlas-human-report"


def paid_human_report(ctx: TickContext) -> X402HumanReportPaidResponse:
    """Compose the plain-English report."""
    return X402HumanReportPaidResponse(
        **paid_head(ctx, PRODUCT, *score_limits(ctx.arena.hourly_record)), report=report(ctx)
    )


def report(ctx: TickContext) -> HumanReport:
    """Compose the report's parts."""
    return HumanReport(
        title=plain.REPORT_TITLE,
        verdict=verdict(ctx),
        as_of=as_of(ctx),
        what_changed=changed(ctx),
        assets=tuple(parts.report_asset(ctx, asset) for asset in ASSETS),
        derivatives=parts.futures(ctx),
        liquidity=parts.liquidity(ctx),
        scenarios=tuple(
            ReportScenario(
                name=row.name, text=f"{row.description} For it: {'; '.join(row.supported_by)}.", wrong_if=row.wrong_if
            )
            for row in scenarios(ctx)
        ),
        arena=parts.arena(ctx),
        track_record=parts.track_record(ctx, ctx.arena.hourly_record),
        evidence=parts.evidence(ctx),
        charts=(),  # drawn where the report is published, from the same tick
        glossary=tuple(GlossaryRow(word=word, meaning=meaning) for word, meaning in GLOSSARY.items()),
        limits=limits(ctx),
        receipt=Receipt(
            snapshotId=ctx.freshness.generation,
            product=PRODUCT,
            price_atomic=PRODUCT_BY_ID[PRODUCT].price_atomic,
            as_of=as_of(ctx),
        ),
    )


def verdict(ctx: TickContext) -> str:
    """Say the reading in two or three sentences."""
    now = regime(ctx)
    sure = (
        ""
        if now.confidence is None
        else (f" We call this {plain.REGIME_NAME[now.label]}, and we are {now.confidence:g} % sure of the name.")
    )
    return f"{plain.REGIME[now.label]} {plain.VOLATILITY[now.volatility]}{sure} It tells what is, not what comes next."


def changed(ctx: TickContext) -> tuple[str, ...]:
    """Say what changed over the last 24 hours."""
    now, before = regime(ctx).label, ctx.day_before.regime
    name, was = plain.REGIME_NAME[now], plain.REGIME_NAME[before or RegimeLabel.UNKNOWN]
    if now is RegimeLabel.UNKNOWN or before is None:
        said = ["How the mood of the market changed in a day is not known."]
    elif now is before:
        said = [f"The mood of the market is the same as a day ago: {name}."]
    else:
        said = [f"A day ago the market was in {was}. Now it is in {name}."]
    found = moves(ctx)
    if found:
        best, worst = max(found, key=found.__getitem__), min(found, key=found.__getitem__)
        rose = sum(moved > 0 for moved in found.values())
        said.append(f"{rose} of {len(found)} coins are up on the day.")
        said.append(f"{ASSET_NAMES[best]} did best with {found[best]:+g} %.")
        said.append(f"{ASSET_NAMES[worst]} did worst with {found[worst]:+g} %.")
    return tuple(said)


def limits(ctx: TickContext) -> tuple[str, ...]:
    """Say what the report cannot tell."""
    notice = {SourceMode.SIMULATED: (plain.MADE_UP,), SourceMode.RECORDED: (plain.REPLAYED,)}
    missing = ("Some facts are missing: the lists above say which.",) if ctx.reading is None else ()
    return (*notice.get(ctx.observation.mode, ()), *plain.LIMITS, *missing)
