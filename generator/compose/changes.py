"""What changed in words since the tick that was published before."""

from collections.abc import Mapping

from generator.catalog.assets import ASSETS
from generator.compose.coins import bias_of
from generator.compose.context import TickContext
from generator.compose.regime import regime
from generator.contract.envelope import Change


def worded(ctx: TickContext) -> dict[str, str | None]:
    """Return the facts of a tick that a reader would want to know the change of, None where unknown."""
    now = regime(ctx)
    read, live = ctx.reading is not None, ctx.arena.live
    return {
        "regime": now.label if read else None,
        "market state": now.state if read else None,
        "volatility": now.volatility if read else None,
        "breadth": f"{now.counts.up} up, {now.counts.down} down, {now.counts.flat} flat" if now.counts else None,
        **{f"forecast of {asset}": bias_of(ctx, asset) for asset in ASSETS},
        "live round": live.round_id if live else None,
    }


def changes(before: Mapping[str, str | None] | None, now: Mapping[str, str | None]) -> tuple[Change, ...] | None:
    """Return what differs.

    Args:
        before: the facts of the tick published before; None on the first after a start.
    """
    if before is None:
        return None
    return tuple(
        Change(what=what, before=was, now=now[what], text=_text(what, was, now[what]))
        for what, was in before.items()
        if was != now[what]
    )


def _text(what: str, was: str | None, now: str | None) -> str:
    if now is None:
        return f"The {what} is no longer known; it was {was}."
    return f"The {what} is {now}." if was is None else f"The {what} changed from {was} to {now}."
