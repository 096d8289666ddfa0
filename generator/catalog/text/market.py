"""The market and each asset in sentences: functions of the published facts and of nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from generator.catalog.assets import ASSET_NAMES
from generator.catalog.counts import in_words
from generator.catalog.text.labels import EXPECTED, REGIME
from generator.catalog.words import Bias, MarketStructure, RegimeLabel, Trend, VolatilityWord

LONGEST_HEADLINE: Final = 140
BROAD: Final = 0.8  # of the assets on one side: a broad rise or fall
LIKELY: Final = 50.0  # percent from which a regime is stated as a fact
EXTREME_RANK: Final = 95.0  # of the week's hours
FLAT: Final = 0.1  # percent: a smaller change over the day is neither a rise nor a fall
_MOVES: Final = 25.0  # percent for flat, below which a move is called likely
_EDGE: Final = 2.0  # percentage points above its base rate from which a side stands out
NEAR: Final = 0.9  # of the week's range: near its top
_HIGH_VOLUME, _LOW_VOLUME = 1.5, 0.6
_TOGETHER: Final = 0.8
_LEADS: Final[dict[RegimeLabel, str]] = {
    RegimeLabel.RISK_ON: "Risk-on",
    RegimeLabel.RISK_OFF: "Risk-off",
    RegimeLabel.RANGE: "Range-bound",
    RegimeLabel.HIGH_VOLATILITY: "High volatility",
}
_SHARES: Final = (
    (0.64, "Three fifths"),
    (0.71, "Two thirds"),
    (0.78, "Three quarters"),
    (0.88, "Most"),
    (0.97, "Nearly all"),
)


@dataclass(frozen=True, slots=True)
class Facts:
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
        return sum(self.changes.values()) / len(self.changes) if self.changes else None

    @property
    def broad(self) -> int:
        """1 where at least four fifths of the assets are up on the day, -1 where they are down, else 0."""
        if self.known < 3:
            return 0
        return int(self.up >= BROAD * self.known) - int(self.down >= BROAD * self.known)

    @property
    def usual_days(self) -> float | None:
        """Size of the mean change in usual days."""
        return abs(self.mean) / self.usual_day if self.mean is not None and self.usual_day else None

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
    return f"{text.lstrip('+-') if float(text) == 0.0 else text}%"


def headline(facts: Facts) -> str:
    """Return one true sentence of at most 140 characters, the fullest that fits."""
    if not facts.chances and not facts.changes:
        return f"The regime is unknown: {facts.missing or 'price changes are not known'}."
    lead = _lead(facts)
    loud = "; volatility is extreme for the week" if facts.volatility is VolatilityWord.EXTREME else ""
    full, short = _moved(facts)
    move = _move(facts)
    bare = move if move and not lead.startswith("Mixed") else lead
    every = (f"{lead}: {full}{loud}.", f"{lead}: {full}.", f"{lead}: {short}.", f"{bare}: {short}.")
    return next((text for text in every if len(text) <= LONGEST_HEADLINE), every[-1])


def summary(facts: Facts) -> str:
    """Return the headline and what a reader should know with it, in a few sentences."""
    said = [headline(facts), _size(facts), _range(facts), _volatility(facts), _regime(facts), _volume(facts)]
    if facts.correlation is not None and facts.correlation >= _TOGETHER:
        said.append("The assets are moving closely together.")
    ending = (
        "Whether it will continue is not known." if facts.broad else "Which way prices will move next is not known."
    )
    return " ".join(filter(None, (*said, facts.futures, ending)))


def _lead(facts: Facts) -> str:
    """Name the regime, or the move where it is broad or large."""
    move = _move(facts)
    if facts.asserted:
        return move or _LEADS[facts.label]
    if not facts.chances:
        return f"{move}, regime unknown" if move else "The regime is unknown"
    if facts.forbidden:
        return f"{move or 'No clear regime'}, though the model favours {REGIME[facts.likeliest]} ({facts.chances[facts.likeliest]:.0f}%)"
    return f"Mixed ({_two(facts)}), {_lower(move)}" if move else f"Mixed ({_two(facts)})"


def _lower(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


def _whole(chance: float) -> int:
    """Round a chance, but never across an even one: 49.96% is not 50%."""
    return min(round(chance), 49) if chance < LIKELY else round(chance)


def _two(facts: Facts) -> str:
    """Name the two likeliest regimes with their chances."""
    first, second = sorted(facts.chances, key=lambda label: -facts.chances[label])[:2]
    return ", ".join(f"{REGIME[one]} {_whole(facts.chances[one])}%" for one in (first, second))


def _move(facts: Facts) -> str:
    """Name a broad or large rise or fall, empty where it is neither."""
    days, mean = facts.usual_days, facts.mean
    if mean is None or not (facts.broad or (days is not None and days >= 1.0)):
        return ""
    word = "rise" if (facts.broad or mean) > 0 else "fall"
    if not facts.broad:
        return f"A large average {word}"
    if days is None or 0.5 <= days < 1.0:
        return f"A broad {word}"
    if days < 0.5:
        return f"A broad but small {word}"
    return f"A broad, {'large' if facts.since_share is None else 'fast'} {word}"


def _moved(facts: Facts) -> tuple[str, str]:
    """Say how many assets are up and down, and by how much: in full, and shorter."""
    if not facts.changes:
        return ("price changes are not known",) * 2
    if not facts.broad:
        (first, way), *rest = [
            (count, way) for count, way in ((facts.up, "up"), (facts.down, "down"), (facts.flat, "flat")) if count
        ]
        opening = f"{in_words(first)} {'asset is' if first == 1 else 'assets are'} {way}"
        shown = listed([opening, *(f"{in_words(count)} {word}" for count, word in rest)])
        return (f"{shown} on the day, {signed(facts.mean or 0.0)} on average",) * 2
    ends = sorted(facts.changes, key=lambda asset: facts.changes[asset], reverse=facts.broad > 0)
    most, least = (f"{ASSET_NAMES.get(one, one)} {{}} ({signed(facts.changes[one])})" for one in (ends[0], ends[-1]))
    count, way = (facts.up, "up") if facts.broad > 0 else (facts.down, "down")
    whole = count == facts.known
    who = f"all {in_words(count)}" if whole else f"{in_words(count)} of {in_words(facts.known)}"
    short = f"{who} assets are {way} on the day, {most.format('most')}"
    return (
        f"{who} assets are {way} on the day, {least.format('least')}, {most.format('most')}" if whole else short
    ), short


def _size(facts: Facts) -> str:
    """Say how large the mean change is, and since when most of it came."""
    if facts.mean is None or facts.usual_days is None or facts.usual_days < 0.5:
        return ""
    word, days = ("rise" if facts.mean > 0 else "fall"), facts.usual_days
    size = f"The average {word} of {abs(facts.mean):.1f}% is {_times(days)} a usual day's move of the week before."
    if facts.since_hour is None or facts.since_share is None:
        return size
    part = next((name for limit, name in _SHARES if facts.since_share < limit), "All")
    return f"{size} {part} of it has come since {facts.since_hour:02d}:00 UTC."


def _times(days: float) -> str:
    return "about" if 0.85 <= days < 1.15 else f"{days:.1f} times"


def _range(facts: Facts) -> str:
    if facts.hour_range is None:
        return ""
    low, high = facts.hour_range
    return f"Nine times in ten, Bitcoin should end the next hour between {signed(low, 2)} and {signed(high, 2)}."


def _volatility(facts: Facts) -> str:
    said = [] if facts.volatility is VolatilityWord.UNKNOWN else [EXPECTED[facts.volatility]]
    if facts.hour_rank is not None and facts.hour_rank >= EXTREME_RANK:
        rank = min(int(facts.hour_rank), 99)
        said.insert(0, f"In the past hour prices moved more than in {rank} of 100 hours of the past week.")
    return " ".join(said)


def _regime(facts: Facts) -> str:
    """Name the regime with its chance and its beginning."""
    if not facts.chances:
        return f"The regime is unknown: {facts.missing}." if facts.missing and facts.changes else ""
    if facts.asserted:
        since = f" since {facts.since}" if facts.since else ""
        return f"Regime: {REGIME[facts.label]}{since}, probability {facts.confidence:.1f}%."
    if facts.forbidden:
        return f"The model favours {REGIME[facts.likeliest]}, but prices have not moved that way."
    return "No regime is more likely than not." if facts.chances[facts.likeliest] < LIKELY else ""


def _volume(facts: Facts) -> str:
    ratio = facts.volume_ratio
    if ratio is None or _LOW_VOLUME < ratio < _HIGH_VOLUME:
        return ""
    return f"Trading volume over the last day was {ratio:.1f} times the week's daily average."


def listed(parts: Sequence[str], word: str = "and") -> str:
    """Write names as people list them: `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {word} {parts[-1]}"


@dataclass(frozen=True, slots=True)
class AssetFacts:
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


def asset_summary(facts: AssetFacts) -> str:
    """Return one asset in a few sentences: what it did, how far it may move, which way."""
    moved = ""
    if facts.hour_range is not None:
        low, high = (signed(one, 2) for one in facts.hour_range)
        moved = f"Nine times in ten, it should end the next hour between {low} and {high}."
    return " ".join(filter(None, (_past(facts), moved, direction(facts), *facts.notes)))


def _past(facts: AssetFacts) -> str:
    name = ASSET_NAMES.get(facts.asset, facts.asset)
    if facts.change is None:
        return f"How {name} moved over the last day is not known."
    small = abs(facts.change) <= FLAT
    did = "is flat" if small else f"is {'up' if facts.change > 0 else 'down'} {abs(facts.change):.1f}%"
    return f"{name} {did} on the day{_where(facts)}."


def _where(facts: AssetFacts) -> str:
    """Say where the price is within its last day or week, or how its trend goes."""
    shape, change = facts.structure, facts.change or 0.0
    if shape is MarketStructure.BREAKOUT:
        return " and above its high of the previous 24 hours"
    if shape is MarketStructure.BREAKDOWN:
        return " and below its low of the previous 24 hours"
    if shape in (MarketStructure.UPTREND, MarketStructure.DOWNTREND):
        up = shape is MarketStructure.UPTREND
        joined = " and" if up == (change > FLAT) and abs(change) > FLAT else ", but"
        return f"{joined} in {'an uptrend' if up else 'a downtrend'} over the last 8 to 20 hours"
    if facts.place is not None and (facts.place >= NEAR or facts.place <= 1.0 - NEAR):
        return f", near the {'top' if facts.place >= NEAR else 'bottom'} of its range of the week"
    quiet = facts.usual_day is not None and abs(change) < 0.5 * facts.usual_day
    return " and without a clear trend" if quiet and shape is MarketStructure.RANGE else ""


def direction(facts: AssetFacts) -> str:
    """Say which way the next hour may go: the three chances, and what they rest on where one side is favoured."""
    if facts.forecast is None or facts.chances is None or facts.base is None:
        return f"There is no forecast of direction: {facts.missing}." if facts.missing else ""
    down, flat, up = facts.chances
    if facts.forecast is Bias.FLAT:
        said = "A move is likely, but no direction stands out" if flat < _MOVES else "No direction stands out"
        if leader := ahead(facts):
            said = f"{leader} has the largest chance, but too little backs it"
        return f"{said}: up {up:.1f}%, flat {flat:.1f}%, down {down:.1f}%."
    at, side = (2, 0) if facts.forecast is Bias.UP else (0, 1)
    backing, against = facts.points[side], facts.points[1 - side]
    # A direction is kept for a quarter of an hour, in which the evidence may turn.
    rests = (
        f"; {listed(backing)} {'points' if len(backing) == 1 else 'point'} that way"
        if len(backing) > len(against)
        else ""
    )
    word, chance, usual = facts.forecast.value.lower(), facts.chances[at], facts.base[at]
    return f"A move {word} is the likeliest of three outcomes: {chance:.1f}%, usually {usual:.1f}%{rests}."


def ahead(facts: AssetFacts) -> str:
    """Return the side with the largest chance where that is clearly above its base rate, empty where none is."""
    chances, base = facts.chances or (0.0,) * 3, facts.base or (0.0,) * 3
    at = chances.index(max(chances))
    return ("Down", "", "Up")[at] if chances[at] >= base[at] + _EDGE else ""


def brain_summary(facts: Facts, up: int, down: int, flat: int) -> str:
    """Return the market's summary with the directions of the next hour counted."""
    known = up + down + flat
    if not known:
        return summary(facts)
    if not up and not down:
        said = "No asset has a clear direction for the next hour."
    else:
        sides = [f"{way} for {in_words(count)}" for count, way in ((up, "up"), (down, "down")) if count]
        rest = f"; none stands out for the other {in_words(flat)}" if flat else ""
        said = f"The forecast for the next hour is {listed(sides)} of {in_words(known)} assets{rest}."
    return f"{summary(facts)} {said}"
