"""The readings in words: short sentences, no figures of the models."""

from dataclasses import dataclass
from typing import Final

from generator.catalog.text.labels import DERIVATIVES, FAMILY, LIQUIDITY, REGIME, STRUCTURE, VOLATILITY
from generator.catalog.words import DerivativesState, LiquidityContext, MarketStructure, RegimeLabel, VolatilityWord

NO_BARS: Final = "no price bars for this asset yet"
STALE: Final = "no price bar for this asset in the last hour"
SHORT: Final = "less than half a day of history, so there is no forecast yet"
SHORT_REGIME: Final = "less than two days of history, so the regime is a first guess"
NO_BOOK: Final = "no order book, so liquidity is unknown"
LAST_MISSING: Final = "the last price bar is missing or cannot be true, so it was left out"
CAPPED: Final = "a price jump in the last day was too large to be taken at face value and was capped"
FROZEN: Final = "the price has not moved for hours, so the source may be stuck and the regime counts for less"
NO_TRADES: Final = "no trades were reported for an hour or more, so volume is ignored"
WILD_FUNDING: Final = "the fee on futures is far from its usual size and may be a fault of the data"
NOTHING_FRESH: Final = "no asset has a fresh price bar"
SOME_MISSING: Final = "some assets have no fresh price bar"
GAPS: Final = "some bars never came, so older evidence counts for more"


def span(minutes: int) -> str:
    """Return a length of time in words, e.g. `about 3 hours`."""
    if minutes < 60:
        return "less than an hour"
    hours = round(minutes / 60)
    if hours < 48:
        return f"about {hours} hour{'s' if hours > 1 else ''}"
    return f"about {round(hours / 24)} days"


def sureness(confidence: float) -> str:
    """Return how sure the regime reading is."""
    if confidence >= 0.75:
        return "The reading is fairly sure."
    if confidence >= 0.5:
        return "The reading is more likely than not."
    return "The reading is unsure."


def pointing(up: tuple[str, ...], down: tuple[str, ...]) -> str:
    """Return which families of evidence point up and which down."""
    if not up and not down:
        return "Nothing points either way."
    sides = (("up", up), ("down", down))
    return " ".join(
        f"Pointing {way}: {listed([FAMILY[f].reading for f in families])}." for way, families in sides if families
    )


def listed(names: list[str]) -> str:
    """Return names as people list them: `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def risers(rose: int, known: int) -> str:
    """Return how many coins rose over the day."""
    return f"{rose} of {known} coins rose over the last day."


@dataclass(frozen=True, slots=True)
class MarketFacts:
    """What the market's summary is made of; None where unknown.

    Args:
        likelier: the regime that has overtaken the shown one.
        minutes: how long the regime has stood.
        confidence: of the label, 0..1.
        risers: sentence on how many rose.
        book, futures: words that most coins share.
    """

    label: RegimeLabel
    likelier: RegimeLabel | None
    minutes: int
    confidence: float
    volatility: VolatilityWord
    risers: str | None
    book: LiquidityContext | None
    futures: DerivativesState | None


def market_summary(facts: MarketFacts) -> str:
    """Return the market in a few short sentences."""
    sure = sureness(facts.confidence) if facts.likelier is None else fading(facts.likelier)
    said = [f"{REGIME[facts.label].reading}. This reading has stood for {span(facts.minutes)}.", sure]
    if facts.risers:
        said.append(facts.risers)
    if facts.volatility is not VolatilityWord.UNKNOWN:
        said.append(VOLATILITY[facts.volatility].reading)
    if facts.book:
        said.append(LIQUIDITY[facts.book].most)
    if facts.futures:
        said.append(DERIVATIVES[facts.futures].most)
    return " ".join(filter(None, said))


def fading(likelier: RegimeLabel) -> str:
    """Say that another regime has overtaken the shown one."""
    return f"It is fading: {REGIME[likelier].name} is now the likelier reading, but not yet by a clear lead."


def standing_out(volatility: VolatilityWord, liquidity: LiquidityContext, derivatives: DerivativesState) -> list[str]:
    """Return what else is worth saying of an asset: how lively it is, and a book or futures out of the ordinary."""
    said = [] if volatility is VolatilityWord.UNKNOWN else [VOLATILITY[volatility].reading]
    if LIQUIDITY[liquidity].most:
        said.append(LIQUIDITY[liquidity].reading)
    if DERIVATIVES[derivatives].most:
        said.append(DERIVATIVES[derivatives].reading)
    return said


def asset_summary(asset: str, structure: MarketStructure, said: str) -> str:
    """Return one asset in a few short sentences: its structure, then the call and what bears on it.

    Args:
        said: sentences on the call.
    """
    if structure is MarketStructure.UNKNOWN:
        return f"{asset} cannot be read now. Its price bars are missing or too old."
    return f"{asset} is {STRUCTURE[structure]}. {said}"
