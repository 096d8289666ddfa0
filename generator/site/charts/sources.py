"""Where the numbers of a drawing come from."""

from typing import Final

from markupsafe import Markup

from generator.catalog.words import SourceMode
from generator.compose.tick import Tick
from generator.site.words.format import when

DATA_FROM: Final = {
    SourceMode.LIVE: "public exchange data",
    SourceMode.RECORDED: "a recording of public exchange data",
    SourceMode.SIMULATED: "a simulated market",
}


def source_of(ctx: Tick) -> Markup:
    """Say where the numbers of a tick come from, and as of when."""
    return Markup("Source: {}, as of {}.").format(DATA_FROM[ctx.observation.mode], when(ctx.observation.market_ms))
