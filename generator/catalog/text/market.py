"""The market and each asset in sentences: functions of the published facts and of nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from generator.catalog.assets import ASSET_NAMES
from generator.catalog.counts import in_words
from generator.catalog.text.labels import EXPECTED, REGIME
from generator.catalog.thresholds import BROAD_SHARE, FLAT_PERCENT
from generator.catalog.words import Bias, MarketStructure, RegimeLabel, Trend, VolatilityWord

LONGEST_HEADLINE: Final = 140
LIKELY: Final = 50.0  # percent from which a regime is stated as a fact
EXTREME_RANK: Final = 95.0  # of the week's hours
_MOVES: Final = 25.0  # percent for flat, below which a move is called likely
_EDGE: Final = 2.0  # percentage points above its base rate from which a side stands out
NEAR: Final = 0.9  # of the week's range: near its top
_HIGH_VOLUME: Final = 1.5  # of the week's mean day
_LOW_VOLUME: Final = 0.6
_FEWEST: Final = 3  # assets of which a move is called broad
_TOGETHER: Final = 0.8  # mean correlation from which assets are said to move together
_SIDES: Final = ("Down", "", "Up")  # of the chances of an asset
_LEADS: Final[dict[RegimeLabel, str]] = {
    RegimeLabel.RISK_ON: "Risk-on",
    RegimeLabel.RISK_OFF: "Risk-off",
    RegimeLabel.RANGE: "Range-bound",
    RegimeLabel.HIGH_VOLATILITY: "High volatility",
}
_SMALL_DAYS: Final = 0.5  # usual days' moves below which a mean change is small
_SHARES: Final = (
    (0.64, "Three fifths"),
    (0.71, "Two thirds"),
    (0.78, "Three quarters"),
    (0.88, "Most"),
    (0.97, "Nearly all"),
)


@dataclass(frozen=True, slots=True)
class PublishedMarket:
    """What is said of the market, as published; None and empty where unknown."""

    label: RegimeLabel = RegimeLabel.UNKNOWN  # the regime shown
    confidence: float | None = None  # of the regime, percent
    chances: Mapping[RegimeLabel, float] = field(default_factory=dict)  # of the four regimes, percent
    since: str | None = None  # when the regime began, e.g. `14:05 UTC`
    trend: Trend = Trend.UNKNOWN
    volatility: VolatilityWord = VolatilityWord.UNKNOWN
    changes: Mapping[str, float] = field(default_factory=dict)  # by asset, over 24 hours, percent
    up: int = 0  # how many of them rose
    down: int = 0
    flat: int = 0
    usual_day: float | None = None  # root mean square of a day's mean change over the days before, percent
    since_hour: int | None = None  # most of the mean change came since this hour (UTC)
    since_share: float | None = None  # and this is the share of it
    risk_score: float | None = None  # rank of the expected volatility in its week, 0..100
    hour_rank: float | None = None  # of the last hour's realised volatility in its week, 0..100
    volume_ratio: float | None = None  # the last day's volume over the week's mean day
    correlation: float | None = None  # mean over the pairs of assets, of hourly moves over the day
    hour_range: tuple[float, float] | None = None  # 90% range of Bitcoin's next hour, percent
    futures: str = ""  # what most assets' futures show, as a sentence; empty where nothing stands out
    missing: str = ""  # why there is no regime

    @property
    def known(self) -> int:
        """How many assets have a known change."""
        return self.up + self.down + self.flat

    @property
    def mean(self) -> float | None:
        """Mean change over 24 hours, percent."""
        if not self.changes:
            return None
        return sum(self.changes.values()) / len(self.changes)

    @property
    def broad(self) -> int:
        """1 where at least four fifths of the assets are up on the day, -1 where they are down, else 0."""
        if self.known < _FEWEST:
            return 0
        if self.up >= BROAD_SHARE * self.known:
            return 1
        return -1 if self.down >= BROAD_SHARE * self.known else 0

    @property
    def usual_days(self) -> float | None:
        """Size of the mean change in usual days."""
        if self.mean is None or not self.usual_day:
            return None
        return abs(self.mean) / self.usual_day

    @property
    def asserted(self) -> bool:
        """Whether the regime is stated as a fact."""
        named = self.label not in (RegimeLabel.TRANSITION, RegimeLabel.UNKNOWN)
        return named and self.confidence is not None and self.confidence >= LIKELY

    @property
    def likeliest(self) -> RegimeLabel:
        """The regime with the highest chance; there must be chances."""
        return max(self.chances, key=lambda label: self.chances[label])

    @property
    def forbidden(self) -> bool:
        """Whether the likeliest regime is not named, because prices contradict it."""
        return self.label is RegimeLabel.TRANSITION and self.chances[self.likeliest] >= LIKELY


def signed(value: float, decimals: int = 1) -> str:
    """Write a change in percent with its sign, e.g. `+0.3%`; nothing is never minus nothing."""
    text = f"{value:+.{decimals}f}"
    if float(text) == 0.0:
        text = text.lstrip("+-")
    return f"{text}%"


def headline(facts: PublishedMarket) -> str:
    """Return one true sentence of at most 140 characters, the fullest that fits."""
    if not facts.chances and not facts.changes:
        return f"The regime is unknown: {facts.missing or 'price changes are not known'}."

    lead = _lead(facts)
    move = _move(facts)
    bare = move if move and not lead.startswith("Mixed") else lead
    full, short = _moved(facts)

    longer = [f"{lead}: {full}.", f"{lead}: {short}."]
    if facts.volatility is VolatilityWord.EXTREME:
        longer.insert(0, f"{lead}: {full}; volatility is extreme for the week.")
    for text in longer:
        if len(text) <= LONGEST_HEADLINE:
            return text
    return f"{bare}: {short}."


def summary(facts: PublishedMarket) -> str:
    """Return the headline and what a reader should know with it, in a few sentences."""
    sentences = [
        headline(facts),
        _size(facts),
        _range(facts),
        _volatility(facts),
        _regime(facts),
        _volume(facts),
        _together(facts),
        facts.futures,
        _ending(facts),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _together(facts: PublishedMarket) -> str:
    if facts.correlation is None or facts.correlation < _TOGETHER:
        return ""
    return "The assets are moving closely together."


def _ending(facts: PublishedMarket) -> str:
    if facts.broad:
        return "Whether it will continue is not known."
    return "Which way prices will move next is not known."


def _lead(facts: PublishedMarket) -> str:
    """Name the regime, or the move where it is broad or large."""
    move = _move(facts)
    if facts.asserted:
        return move or _LEADS[facts.label]
    if not facts.chances and not move:
        return "The regime is unknown"
    if not facts.chances:
        return f"{move}, regime unknown"

    if facts.forbidden:
        favoured = f"{REGIME[facts.likeliest]} ({facts.chances[facts.likeliest]:.0f}%)"
        return f"{move or 'No clear regime'}, though the model favours {favoured}"

    mixed = f"Mixed ({_two(facts)})"
    if move:
        mixed += f", {_lower(move)}"
    return mixed


def _lower(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


def _whole(chance: float) -> int:
    """Round a chance, but never across an even one: 49.96% is not 50%."""
    return min(round(chance), 49) if chance < LIKELY else round(chance)


def _two(facts: PublishedMarket) -> str:
    """Name the two likeliest regimes with their chances."""
    first, second = sorted(facts.chances, key=lambda label: -facts.chances[label])[:2]
    return ", ".join(f"{REGIME[label]} {_whole(facts.chances[label])}%" for label in (first, second))


def _move(facts: PublishedMarket) -> str:
    """Name a broad or large rise or fall, empty where it is neither."""
    days = facts.usual_days
    mean = facts.mean
    large = days is not None and days >= 1.0
    if mean is None or not (facts.broad or large):
        return ""

    word = "rise" if (facts.broad or mean) > 0 else "fall"
    if not facts.broad:
        return f"A large average {word}"
    if days is not None and days < _SMALL_DAYS:
        return f"A broad but small {word}"
    if not large:
        return f"A broad {word}"

    # Fast: most of it came within the last hours.
    size = "large" if facts.since_share is None else "fast"
    return f"A broad, {size} {word}"


def _moved(facts: PublishedMarket) -> tuple[str, str]:
    """Say how many assets are up and down, and by how much: in full, and shorter."""
    if not facts.changes:
        unknown = "price changes are not known"
        return unknown, unknown
    if not facts.broad:
        counts = f"{_counted(facts)} on the day, {signed(facts.mean or 0.0)} on average"
        return counts, counts

    rising = facts.broad > 0
    count = facts.up if rising else facts.down
    whole = count == facts.known
    who = f"all {in_words(count)}" if whole else f"{in_words(count)} of {in_words(facts.known)}"
    moved = f"{who} assets are {'up' if rising else 'down'} on the day"

    # Where all move one way, the one that moved least bounds the rest.
    ends = sorted(facts.changes, key=lambda asset: facts.changes[asset], reverse=rising)
    most = _named_change(facts, ends[0], "most")
    least = _named_change(facts, ends[-1], "least")
    short = f"{moved}, {most}"
    if not whole:
        return short, short
    return f"{moved}, {least}, {most}", short


def _counted(facts: PublishedMarket) -> str:
    """Count the assets that are up, down and flat, e.g. `three assets are up, two down and two flat`."""
    counts = [(count, way) for count, way in ((facts.up, "up"), (facts.down, "down"), (facts.flat, "flat")) if count]
    (first, way), *others = counts
    assets = "asset is" if first == 1 else "assets are"
    opening = f"{in_words(first)} {assets} {way}"
    return listed([opening, *(f"{in_words(count)} {word}" for count, word in others)])


def _named_change(facts: PublishedMarket, asset: str, rank: str) -> str:
    """Return an asset, its rank and its change, e.g. `Bitcoin most (+3.2%)`."""
    return f"{ASSET_NAMES.get(asset, asset)} {rank} ({signed(facts.changes[asset])})"


def _size(facts: PublishedMarket) -> str:
    """Say how large the mean change is, and since when most of it came."""
    mean = facts.mean
    days = facts.usual_days
    if mean is None or days is None or days < _SMALL_DAYS:
        return ""

    word = "rise" if mean > 0 else "fall"
    size = f"The average {word} of {abs(mean):.1f}% is {_times(days)} a usual day's move of the week before."
    if facts.since_hour is None or facts.since_share is None:
        return size

    part = next((name for limit, name in _SHARES if facts.since_share < limit), "All")
    return f"{size} {part} of it has come since {facts.since_hour:02d}:00 UTC."


def _times(days: float) -> str:
    return "about" if 0.85 <= days < 1.15 else f"{days:.1f} times"


def _range(facts: PublishedMarket) -> str:
    if facts.hour_range is None:
        return ""
    low, high = facts.hour_range
    return f"Nine times in ten, Bitcoin should end the next hour between {signed(low, 2)} and {signed(high, 2)}."


def _volatility(facts: PublishedMarket) -> str:
    """Say how far prices moved in the last hour where that is extreme, and what is expected."""
    sentences = []
    if facts.hour_rank is not None and facts.hour_rank >= EXTREME_RANK:
        rank = min(int(facts.hour_rank), 99)
        sentences.append(f"In the past hour prices moved more than in {rank} of 100 hours of the past week.")
    if facts.volatility is not VolatilityWord.UNKNOWN:
        sentences.append(EXPECTED[facts.volatility])
    return " ".join(sentences)


def _regime(facts: PublishedMarket) -> str:
    """Name the regime with its chance and its beginning."""
    if not facts.chances:
        # Without changes either, the headline has said so.
        return f"The regime is unknown: {facts.missing}." if facts.missing and facts.changes else ""
    if facts.asserted:
        since = f" since {facts.since}" if facts.since else ""
        return f"Regime: {REGIME[facts.label]}{since}, probability {facts.confidence:.1f}%."
    if facts.forbidden:
        return f"The model favours {REGIME[facts.likeliest]}, but prices have not moved that way."
    return "No regime is more likely than not." if facts.chances[facts.likeliest] < LIKELY else ""


def _volume(facts: PublishedMarket) -> str:
    ratio = facts.volume_ratio
    if ratio is None or _LOW_VOLUME < ratio < _HIGH_VOLUME:
        return ""
    return f"Trading volume over the last day was {ratio:.1f} times the week's daily average."


def listed(parts: Sequence[str], word: str = "and") -> str:
    """Write names as people list them: `a, b and c`."""
    *first, last = parts
    if not first:
        return last
    return f"{', '.join(first)} {word} {last}"


@dataclass(frozen=True, slots=True)
class PublishedAsset:
    """What is said of one asset, as published; None where unknown."""

    asset: str
    change: float | None = None  # over 24 hours, percent
    usual_day: float | None = None  # root mean square of a day's move, percent
    structure: MarketStructure = MarketStructure.UNKNOWN
    place: float | None = None  # between the week's low, 0, and its high, 1
    hour_range: tuple[float, float] | None = None  # 90% range of the next hour, percent
    forecast: Bias | None = None  # the direction shown; None without one
    chances: tuple[float, float, float] | None = None  # of down, flat and up over the next hour, percent
    base: tuple[float, float, float] | None = None  # their base rates
    points: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())  # families of evidence that point up and down, in words
    notes: tuple[str, ...] = ()  # what its order book and its futures show, as sentences
    missing: str = ""  # why there is no forecast


def asset_summary(facts: PublishedAsset) -> str:
    """Return one asset in a few sentences: what it did, how far it may move, which way."""
    sentences = [_past(facts), _asset_range(facts), direction(facts), *facts.notes]
    return " ".join(sentence for sentence in sentences if sentence)


def _asset_range(facts: PublishedAsset) -> str:
    if facts.hour_range is None:
        return ""
    low, high = facts.hour_range
    return f"Nine times in ten, it should end the next hour between {signed(low, 2)} and {signed(high, 2)}."


def _past(facts: PublishedAsset) -> str:
    """Say what the price did over the day, and where that left it."""
    name = ASSET_NAMES.get(facts.asset, facts.asset)
    change = facts.change
    if change is None:
        return f"How {name} moved over the last day is not known."

    did = "is flat"
    if abs(change) > FLAT_PERCENT:
        did = f"is {'up' if change > 0 else 'down'} {abs(change):.1f}%"
    return f"{name} {did} on the day{_where(facts)}."


def _where(facts: PublishedAsset) -> str:
    """Say where the price is within its last day or week, or how its trend goes; empty where nothing stands out."""
    shape = facts.structure
    if shape is MarketStructure.BREAKOUT:
        return " and above its high of the previous 24 hours"
    if shape is MarketStructure.BREAKDOWN:
        return " and below its low of the previous 24 hours"
    if shape in (MarketStructure.UPTREND, MarketStructure.DOWNTREND):
        return _within_trend(facts)

    if facts.place is not None and (facts.place >= NEAR or facts.place <= 1.0 - NEAR):
        end = "top" if facts.place >= NEAR else "bottom"
        return f", near the {end} of its range of the week"

    quiet = facts.usual_day is not None and abs(facts.change or 0.0) < 0.5 * facts.usual_day
    return " and without a clear trend" if quiet and shape is MarketStructure.RANGE else ""


def _within_trend(facts: PublishedAsset) -> str:
    """Name the trend, joined by `and` to a change over the day that goes its way, by `but` to any other."""
    change = facts.change or 0.0
    if facts.structure is MarketStructure.UPTREND:
        joined = " and" if change > FLAT_PERCENT else ", but"
        return f"{joined} in an uptrend over the last 8 to 20 hours"
    joined = " and" if change < -FLAT_PERCENT else ", but"
    return f"{joined} in a downtrend over the last 8 to 20 hours"


def direction(facts: PublishedAsset) -> str:
    """Say which way the next hour may go: the three chances, and what they rest on where one side is favoured."""
    if facts.forecast is None or facts.chances is None or facts.base is None:
        return f"There is no forecast of direction: {facts.missing}." if facts.missing else ""
    if facts.forecast is Bias.FLAT:
        return _no_direction(facts, facts.chances)

    down, _, up = facts.chances
    usual_down, _, usual_up = facts.base
    pointing_up, pointing_down = facts.points
    if facts.forecast is Bias.UP:
        outcome = f"A move up is the likeliest of three outcomes: {up:.1f}%, usually {usual_up:.1f}%"
        return f"{outcome}{_backing(pointing_up, pointing_down)}."
    outcome = f"A move down is the likeliest of three outcomes: {down:.1f}%, usually {usual_down:.1f}%"
    return f"{outcome}{_backing(pointing_down, pointing_up)}."


def _no_direction(facts: PublishedAsset, chances: tuple[float, float, float]) -> str:
    """Say that no direction is forecast, and why where one side leads."""
    down, flat, up = chances
    leader = ahead(facts)
    if leader:
        opening = f"{leader} has the largest chance, but too little backs it"
    elif flat < _MOVES:
        opening = "A move is likely, but no direction stands out"
    else:
        opening = "No direction stands out"
    return f"{opening}: up {up:.1f}%, flat {flat:.1f}%, down {down:.1f}%."


def _backing(backing: tuple[str, ...], against: tuple[str, ...]) -> str:
    """Name the evidence for a direction; empty where it does not prevail.

    A direction is kept for a quarter of an hour, in which the evidence may turn.
    """
    if len(backing) <= len(against):
        return ""
    return f"; {listed(backing)} {'points' if len(backing) == 1 else 'point'} that way"


def ahead(facts: PublishedAsset) -> str:
    """Return the side with the largest chance where that is clearly above its base rate, empty where none is."""
    if facts.chances is None:
        return ""
    largest = max(facts.chances)
    place = facts.chances.index(largest)
    usual = facts.base[place] if facts.base else 0.0
    return _SIDES[place] if largest >= usual + _EDGE else ""


def brain_summary(facts: PublishedMarket, up: int, down: int, flat: int) -> str:
    """Return the market's summary with the directions of the next hour counted."""
    known = up + down + flat
    if not known:
        return summary(facts)
    if not up and not down:
        return f"{summary(facts)} No asset has a clear direction for the next hour."

    sides = [f"{way} for {in_words(count)}" for count, way in ((up, "up"), (down, "down")) if count]
    others = f"; none stands out for the other {in_words(flat)}" if flat else ""
    return f"{summary(facts)} The forecast for the next hour is {listed(sides)} of {in_words(known)} assets{others}."
