"""What changed over the last 24 hours."""

from __future__ import annotations

from generator.catalog.assets import ASSETS
from generator.catalog.formats import change, percent, share
from generator.catalog.text.answers import NO_DAY_BEFORE
from generator.compose.context import TickContext
from generator.compose.inputs import missing_reason, observed
from generator.compose.regime import regime
from generator.contract.paid import Change


def moves(ctx: TickContext) -> dict[str, float]:
    """Return the published changes over 24 hours of the assets that have one."""
    found = {asset: change(observed(ctx, asset).change_24h_percent) for asset in ASSETS}
    return {asset: moved for asset, moved in found.items() if moved is not None}


def what_changed(ctx: TickContext) -> tuple[Change, ...]:
    """List the changes of regime, confidence, risk and prices."""
    return (_regime(ctx), *_figures(ctx), *_movers(ctx))


def change_limits(ctx: TickContext) -> tuple[str, ...]:
    """Say that the day before is not known, where it is not."""
    return (NO_DAY_BEFORE,) if ctx.day_before.regime is None else ()


def _regime(ctx: TickContext) -> Change:
    before, now = ctx.day_before.regime, regime(ctx).label
    known = None if ctx.reading is None else now.value
    return Change(what="regime", before=before and before.value, now=known, text=_regime_text(ctx))


def _regime_text(ctx: TickContext) -> str:
    before = ctx.day_before.regime
    if ctx.reading is None:
        return f"The regime is not known now: {missing_reason(ctx)}."
    word = ctx.reading.regime.label.replace("_", " ")
    if before is None:
        return f"The regime is {word}; what it was 24 hours ago is not known."
    if before is ctx.reading.regime.label:
        return f"The regime is {word}, as it was 24 hours ago."
    return f"The regime went from {before.replace('_', ' ')} to {word}."


def _figures(ctx: TickContext) -> list[Change]:
    now, before = regime(ctx), ctx.day_before
    pairs = (
        ("regime confidence", share(before.confidence), now.confidence),
        ("risk score", percent(before.risk_score), now.risk_score),
    )
    return [Change(what=what, before=was, now=is_now, text=_moved(what, was, is_now)) for what, was, is_now in pairs]


def _moved(what: str, was: float | None, is_now: float | None) -> str:
    if was is None or is_now is None:
        return f"How the {what} moved is not known."
    word = "rose" if is_now > was else "fell"
    return f"The {what} {word} from {was:g} to {is_now:g}." if is_now != was else f"The {what} stayed at {is_now:g}."


def _movers(ctx: TickContext) -> list[Change]:
    found = moves(ctx)
    if not found:
        return []
    best, worst = max(found, key=found.__getitem__), min(found, key=found.__getitem__)
    return [
        Change(
            what="strongest asset",
            before=None,
            now=best,
            text=f"{best} moved {found[best]:+g} % in 24 hours, the highest of all.",
        ),
        Change(
            what="weakest asset",
            before=None,
            now=worst,
            text=f"{worst} moved {found[worst]:+g} % in 24 hours, the lowest of all.",
        ),
    ]
