"""Two oracles that read a report sentence by sentence and know nothing of how it was made: *figure* and *sense*.

Every sentence must be read by one pattern, and every figure, sign, time and count in it is worked out again from raw
closes, or from what was published at each full hour before. A complaint is a sentence; none means that all is true.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tests.words.figures import COIN, MOVED, ROUNDED, SIZE, count, fits, untrue_move
from tests.words.raw import DAY, FEWEST_COINS, HOUR, NAMES, Raw

YEAR_HOURS: Final = 365 * 24
MONTH_HOURS: Final = 720
PRICE: Final = r"\$([\d,]+(?:\.\d+)?)"
CLOCK: Final = r"(\d\d:\d\d) UTC (today|yesterday)"
COUNT: Final = r"(no|none|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[\d,]+)"
OF_100: Final = r"(all|nearly all|hardly any|\d+ in 100)"
KIND: Final = (
    r"(?:(?:moves|a move) of less than|(?:rises|falls|a rise|a fall) of between) [\d.]+%(?: either way| and [\d.]+%)"
)
SPAN: Final = r"(the last (?:year|\w+ (?:months|weeks|days)|day))"
LUCK: Final = r"(\d+) in 100 \((\d+) to (\d+)(?: allowing for luck)?"
FEWEST: Final = 30
Floats = npt.NDArray[np.float64]
Ends = tuple[float, float, float, float]  # of a range, as prices: nine times in ten, one time in two, both ends of each


class HourSaid(NamedTuple):
    """What was published at one full hour."""

    bar: int  # that closed then; -1 where none did
    word: str  # of volatility, as people read it; unknown
    expected: float  # volatility of the next four hours, NaN where unknown
    hour: tuple[float, float] | None  # Bitcoin's range for an hour, nine times in ten, as prices
    day: tuple[float, float] | None


@dataclass
class Case:
    """One moment: the closes up to now, what was published at full hours before and now, and what was traded."""

    raw: Raw
    now: datetime
    said: Sequence[HourSaid]  # oldest first, up to now
    ranges: Mapping[str, Ends]  # of Bitcoin now, by horizon
    widths: Mapping[str, float]  # by coin: upper end of its range for an hour, percent
    chance: tuple[float, float, float] | None  # that Bitcoin ends within its band, usually, and the band in dollars
    traded: Floats = field(default_factory=lambda: np.empty(0))  # in the day up to each bar, dollars
    width: float | None = None  # of Bitcoin's range for an hour over the usual one, as the first screen says it

    @property
    def bars(self) -> npt.NDArray[np.int64]:
        """The bars of the full hours of up to a year."""
        return np.array([said.bar for said in self.said[-YEAR_HOURS:]])

    @property
    def bitcoin(self) -> Floats:
        """Bitcoin's closes up to now."""
        return self.raw.closes[:, self.raw.assets.index("BTC")]

    def hourly(self, bars: int) -> Floats:
        """Return the average coin's moves over some bars up to each full hour, percent, to three digits.

        So much of a move is kept, and a count of separate days needs the same digits: a move on the border of what
        counts may shift each day chosen after it.
        """
        moves = np.where(self.bars >= 0, self.raw.series(bars)[self.bars], np.nan)
        return kept(moves)

    def usual(self, bars: int) -> float:
        """Return the median size of such moves up to full hours before now, percent."""
        sizes = np.abs(self.hourly(bars))
        before = sizes[:-1] if self.bars[-1] == self.raw.now else sizes
        return float(np.nanmedian(before))

    def at(self, clock: str, day: str) -> int:
        """Return how many bars ago a time of the last day was."""
        hour, minute = map(int, clock.split(":"))
        at = self.now.replace(hour=hour, minute=minute) - timedelta(days=day == "yesterday")
        return round((self.now - at) / timedelta(minutes=5))

    def days_of_hours(self) -> Floats:
        """Return the coins' moves over each of the last 24 hours, fractions, oldest first, (24, coins)."""
        closes = self.raw.closes[self.raw.now - DAY :: HOUR]
        out: Floats = closes[1:] / closes[:-1] - 1
        return out


def kept(moves: Floats) -> Floats:
    """Return moves, percent, as a record keeps them: fractions in half precision.

    >>> kept(np.array([-1.09213])).round(5).tolist()
    [-1.09177]
    """
    return 100 * (moves / 100).astype(np.float16).astype(np.float64)


Check = Callable[[re.Match[str], Case], list[str]]


def off(said: str, true: float, what: str, slack: float = ROUNDED) -> list[str]:
    """Complain where a size in percent is another, by more than it was rounded."""
    return [] if fits(said, true, slack) else [f"{what}: said {said}%, was {true:.3f}%"]


def price_off(said: str, true: float, what: str) -> list[str]:
    """Complain where a price is another, by more than it was rounded or a change of .005% makes of it."""
    is_true = fits(said.replace(",", ""), true, 1e-5 * true)
    return [] if is_true else [f"{what}: said ${said}, was {true:.4f}"]


def moved(match: re.Match[str], first: int, true: float, what: str) -> list[str]:
    """Complain of `up 1.2%`, `down 1.2%` or `unchanged`, in three groups from `first` on."""
    said = match.group(first, first + 1, first + 2)
    words = said[2] or f"{said[0]} {said[1]}%"
    return [f"{what}: said {words}, was {true:.3f}%"] if untrue_move(said, true) else []


def wrong(is_wrong: object, complaint: str) -> list[str]:
    """Return a complaint where there is cause for one."""
    return [complaint] if is_wrong else []


def share_off(match: re.Match[str], first: int, hits: int, n: int, what: str) -> list[str]:
    """Complain of `56 in 100 (47 to 65 allowing for luck`, in three groups, of which the cases are these."""
    percent, low, high = map(int, match.group(first, first + 1, first + 2))
    true = 100 * hits / n
    z = 1.96
    narrowest = z * math.sqrt(max(true * (100 - true), 1) / n) * 0.8
    out = wrong(not abs(percent - true) <= 0.51, f"{what}: said {percent} in 100, were {hits} of {n}")
    out += wrong(n < FEWEST, f"{what}: a share of {n} cases")
    out += wrong(not low <= percent <= high or not 0 <= low < high <= 100, f"{what}: an interval of {low} to {high}")
    out += wrong(0.5 * (high - low) < narrowest - 1, f"{what}: too narrow an interval, {low} to {high} of {n} cases")
    return out


def _coins(case: Case) -> Floats:
    """Return the day's moves of the coins that have one, as published."""
    days = case.raw.moves(DAY)
    return np.asarray(days[np.isfinite(days)].round(2))


def _day(match: re.Match[str], case: Case) -> list[str]:
    clock, day, month, _, way, size, but, rest = match.groups()
    market = case.raw.market(DAY)
    out = wrong(f"{clock} {day} {month}" != f"{case.now:%H:%M} {case.now.day} {case.now:%B}", f"the time is {case.now}")
    if way is None:
        out += wrong(not abs(market) < 0.07, f"came back, was {market:.2f}%")
    else:
        out += off(size, market, "the day") + wrong((way == "rose") != (market > 0), f"{way}, was {market:.2f}%")
    days = _coins(case)
    up = int((days > 0.1).sum())
    down = int((days < -0.1).sum())
    if rest.startswith("as many "):
        return out + wrong(up != down, f"as many up as down: {up}, {down}")
    said = len(days) if rest.startswith("all") else count(rest.split()[0])
    true, word = (up, "higher") if up > down else (down, "lower")
    out += wrong(said != true or word not in rest, f"{rest}: {up} up, {down} down")
    return out + wrong(
        (but == "but") != ((market > 0) != (up > down)), f"'{but}' of {market:.2f}%, {up} up, {down} down"
    )


def _way_was_large(case: Case, slack: float) -> bool:
    line = case.raw.line()
    wide = 100 * ((1 + line.max() / 100) / (1 + line.min() / 100) - 1)
    return abs(_largest(case)[0]) >= 5 * slack * case.usual(HOUR) or wide >= 2.5 * slack * case.usual(DAY)


def _usual_day(match: re.Match[str], case: Case) -> list[str]:
    usual = case.usual(DAY)
    times = abs(case.raw.market(DAY)) / usual
    out = off(match.group(1), usual, "a usual day", 0.02 * usual)
    kind, small = match.group(2, 3)
    if small is not None:
        low, high = {"small": (0.0, 0.52), "ordinary": (0.48, 1.33)}[small]
        out += wrong(not _way_was_large(case, 0.97), "the way there was not large")
    elif kind in {"a small one", "an ordinary one"}:
        low, high = {"a small one": (0.0, 0.52), "an ordinary one": (0.48, 1.33)}[kind]
        out += wrong(_way_was_large(case, 1.05), f"{kind}, though the way there was large")
    elif "one and a half" in kind:
        low, high = 1.27, 1.78
    else:
        days = count(kind.split()[1])
        low, high = 0.97 * days - 0.52, 1.03 * days + 0.52
    return out + wrong(not low <= times <= high, f"{match.group(0)}: {times:.2f} usual days")


def _largest(case: Case) -> tuple[float, int]:
    hours = case.raw.series(HOUR)[-(DAY - HOUR + 1) :]
    at = int(np.nan_to_num(np.abs(hours), nan=-1.0).argmax())
    return float(hours[at]), len(hours) - 1 - at


def _largest_hour(match: re.Match[str], case: Case) -> list[str]:
    clock, day, way, size, times = match.groups()
    largest, bars_ago = _largest(case)
    true = abs(largest) / case.usual(HOUR)
    out = off(size, largest, "the largest hour") + wrong((way == "rose") != (largest > 0), f"{way}: {largest:.2f}%")
    out += wrong(not abs(case.at(clock, day) - bars_ago) <= 1, f"it ended {bars_ago} bars ago")
    if times is None:
        return out + wrong(case.raw.record_days > 14.2, "no size in usual hours")
    out += wrong(case.raw.record_days < 13.9, "a usual hour of a young record")
    return out + wrong(not abs(count(times) - true) <= 0.52 + 0.03 * true, f"{times} usual hours, were {true:.2f}")


_PARTS: Final = {
    "a quarter": (0.25, 0.29), "a third": (0.29, 0.38), "two fifths": (0.38, 0.45), "half": (0.45, 0.55),
    "three fifths": (0.55, 0.63), "two thirds": (0.63, 0.7), "three quarters": (0.7, 0.78), "most": (0.78, 0.9),
    "nearly all": (0.9, 1.0),
}  # fmt: skip


def _part_of_day(match: re.Match[str], case: Case) -> list[str]:
    share = _largest(case)[0] / case.raw.market(DAY)
    low, high = _PARTS[match.group(1)]
    out = wrong((match.group(2) == "rise") != (case.raw.market(DAY) > 0), "the day went the other way")
    return out + wrong(not low - 0.02 <= share <= high + 0.02, f"{match.group(1)} of the day: {share:.3f}")


def _rest_of_day(match: re.Match[str], case: Case) -> list[str]:
    rest = 100 * ((1 + case.raw.market(DAY) / 100) / (1 + _largest(case)[0] / 100) - 1)
    return off(match.group(2), rest, "the rest") + wrong((match.group(1) == "rose") != (rest > 0), f"rest {rest:.2f}%")


def _point(case: Case, size: str, clock: str, day: str, *, top: bool) -> list[str]:
    line = case.raw.line()
    at = len(line) - 1 - case.at(clock, day)
    best = float(line.max() if top else line.min())
    out = off(size, best, "the best or worst point")
    if not 0 <= at < len(line):
        return [*out, f"{clock} {day} is not of the last day"]
    return out + wrong(not abs(line[at] - best) <= 0.02, f"at {clock} it was {line[at]:.2f}%, not {best:.2f}%")


def _points(match: re.Match[str], case: Case) -> list[str]:
    high, high_clock, high_day, low, low_clock, low_day = match.groups()
    return _point(case, high, high_clock, high_day, top=True) + _point(case, low, low_clock, low_day, top=False)


def _one_point(match: re.Match[str], case: Case) -> list[str]:
    hardly, size, word, clock, day = match.groups()
    line = case.raw.line()
    other = float(line.min() if hardly == "lower" else line.max())
    out = wrong(not abs(other) <= 0.16, f"hardly {hardly}, was {other:.2f}%") + wrong(hardly == word, "one word twice")
    return out + _point(case, size, clock, day, top=word == "higher")


def _traded_between(match: re.Match[str], case: Case) -> list[str]:
    raw = case.raw
    low, high, now = match.groups()
    day = slice(raw.now - DAY + 1, raw.now + 1)
    column = raw.assets.index("BTC")
    close = float(case.bitcoin[-1])
    out = price_off(low, min(float(np.nanmin(raw.history.low[day, column])), close), "Bitcoin's low")
    out += price_off(high, max(float(np.nanmax(raw.history.high[day, column])), close), "Bitcoin's high")
    return out + price_off(now, close, "Bitcoin")


def _best_and_worst(match: re.Match[str], case: Case) -> list[str]:
    days = _coins(case)
    best, worst = match.group(2), match.group(6)
    out = wrong(count(match.group(1)) != len(days), f"{match.group(1)} coins")
    out += moved(match, 3, case.raw.coin(best, DAY), best) + moved(match, 7, case.raw.coin(worst, DAY), worst)
    out += wrong(case.raw.coin(best, DAY) < days.max() - 0.02, f"{best} did not do best")
    return out + wrong(case.raw.coin(worst, DAY) > days.min() + 0.02, f"{worst} did not do worst")


def _together(match: re.Match[str], case: Case) -> list[str]:
    how, said, _, risk = match.groups()
    moves = np.log1p(case.days_of_hours())
    true = float(np.corrcoef(moves.T)[np.triu_indices(moves.shape[1], 1)].mean())
    words = {"moved almost as one": ("little", 0.8, 1.0), "moved mostly together": ("some", 0.5, 0.8)}
    spread, low, high = words.get(how, ("much", -1.0, 0.5))
    out = wrong(not abs(float(said) - true) <= 0.0051, f"a correlation of {true:.3f}")
    return out + wrong(spread != risk or not low - 0.001 <= true <= high + 0.001, f"{how}, {risk}: {true:.3f}")


def _trading(match: re.Match[str], case: Case) -> list[str]:
    busier, than, days, dollars, unit = match.groups()
    # Days that lie within the last 30, one by the hour.
    traded = case.traded[case.raw.now :: -HOUR][: MONTH_HOURS - 24 + 1]
    now, before = traded[0], traded[1:]
    before = before[np.isfinite(before)]
    rank = 100 * float(np.mean(before < now if busier == "busier" else before > now))
    scale = 1e9 if unit == "billion" else 1e6
    rounded = 0.0501 if unit == "billion" else 0.51
    off_by = abs(float(dollars) - now / scale)
    out = wrong(not off_by <= rounded + 0.002 * now / scale, f"{now:.4g} dollars were traded")
    out += _span(days, case) if days != "the last 30 days" else wrong(case.raw.record_days < 29.9, "under 30 days")
    if than == "at any time":
        return out + wrong(rank < 100, f"{busier} than at any time: {rank:.2f}")
    if than == "at almost any time":
        return out + wrong(not 99.2 <= rank < 100, f"{busier} than at almost any time: {rank:.2f}")
    return out + wrong(not abs(int(than.split()[0]) - rank) <= 0.7, f"{busier} than {than}: {rank:.2f}")


def _week(match: re.Match[str], case: Case) -> list[str]:
    out = moved(match, 2, case.raw.market(7 * DAY), "the week")
    if match.group(5):
        out += off(match.group(5), case.usual(7 * DAY), "a usual week", 0.02 * case.usual(7 * DAY))
    return out


def _span(words: str, case: Case) -> list[str]:
    """Complain of a record that is longer or much shorter than the one there is."""
    length = words.removeprefix("the last ").removeprefix("our record, ")
    days = case.raw.record_days
    if length in {"year", "a year"}:
        return wrong(days < 359, f"a year of {days:.0f} days")
    many, unit = length.split(" ") if " " in length else ("one", length)
    least = count("one" if many == "a" else many) * {"month": 30.4, "week": 7.0, "day": 1.0}[unit.rstrip("s")]
    most = least + {"month": 30.4, "week": 7.0, "day": 1.0}[unit.rstrip("s")]
    return wrong(not least - 1.1 <= days <= most + 3.6, f"{words}, of {days:.1f} days")


def _of_100(said: str, true: float, what: str, slack: float) -> list[str]:
    low, high = {"all": (99.9, 100.0), "nearly all": (99.4, 100.0), "hardly any": (0.0, 0.6)}.get(said, (0.0, 0.0))
    if said[0].isdigit():
        low = high = float(said.split(maxsplit=1)[0])
        low, high = low - 0.5, high + 0.5
    return wrong(not low - slack <= true <= high + slack, f"{what}: said {said}, was {true:.2f}")


def _called(match: re.Match[str], case: Case) -> list[str]:
    word, rougher, share, span = match.groups()
    before = np.array([said.expected for said in case.said[-YEAR_HOURS:] if said.bar < case.raw.now])
    before = before[np.isfinite(before)]
    now = case.said[-1].expected
    rank = 100 * float(np.mean(before < now))
    out = _span(span, case) + wrong(word != case.said[-1].word, f"called {word}, published {case.said[-1].word}")
    out += _of_100(share, rank if rougher == "rougher" else 100 - rank, f"looks {rougher}", 0.3 + 100 / len(before))
    out += wrong(
        (rougher == "rougher") != (rank >= 50) and abs(rank - 50) > 0.3 + 100 / len(before),
        f"looks {rougher} at {rank:.1f}",
    )
    # The word against what prices did: calm is not after a large hour, wild not after the quietest days.
    lately = np.abs(case.raw.series(HOUR)[-12 * HOUR :])
    rough = _rank_of_day(case)
    out += wrong(word == "calm" and np.nanmax(lately) > 4.5 * case.usual(HOUR), "calm within twelve hours of a shock")
    return out + wrong(
        word == "wild" and rough < 50 and np.nanmax(lately) < 2 * case.usual(HOUR), f"wild of {rough:.0f}"
    )


def _rank_of_day(case: Case) -> float:
    sizes = np.abs(np.diff(np.log(case.raw.closes), axis=0, prepend=np.nan)).mean(axis=1)
    total = np.concatenate(([0.0], np.cumsum(np.nan_to_num(sizes) ** 2)))
    bars = case.bars[(case.bars >= 0.76 * DAY) & (case.bars < case.raw.now)]
    swung = total[bars + 1] - total[np.maximum(bars + 1 - DAY, 0)]
    now = total[case.raw.now + 1] - total[case.raw.now + 1 - DAY]
    return 100 * float(np.mean(swung < now))


def _swung(match: re.Match[str], case: Case) -> list[str]:
    more, share = match.groups()
    rank = _rank_of_day(case)
    return _of_100(share, rank if more == "more" else 100 - rank, f"swung {more}", 1.0 + 100 / len(case.said))


def _hour_and_four(match: re.Match[str], case: Case) -> list[str]:
    hour, four = case.ranges["1h"], case.ranges["4h"]
    ends = (hour[0], hour[3], four[0], four[3])
    out = [one for said, true in zip(match.groups(), ends, strict=True) for one in price_off(said, true, "a range")]
    return out + wrong(four[0] > hour[0] or four[3] < hour[3], "four hours are narrower than one")


def _a_day_on(match: re.Match[str], case: Case) -> list[str]:
    low_90, low_50, high_50, high_90 = case.ranges["24h"]
    ends = (low_90, high_90, low_50, high_50)
    return [one for said, true in zip(match.groups(), ends, strict=True) for one in price_off(said, true, "a range")]


def _widest(match: re.Match[str], case: Case) -> list[str]:
    widest, wide, narrowest, narrow = match.groups()
    names = {name: case.widths.get(asset, math.nan) for name, asset in NAMES.items()}
    out = off(wide, names[widest], widest) + off(narrow, names[narrowest], narrowest)
    out += wrong(names[widest] < np.nanmax(list(names.values())) - 0.02, f"{widest} is not the widest")
    return out + wrong(names[narrowest] > np.nanmin(list(names.values())) + 0.02, f"{narrowest} is not the narrowest")


def _call(match: re.Match[str], case: Case) -> list[str]:
    groups = match.groupdict()
    if case.chance is None:
        return ["a call without a forecast"]
    small, usual_small, band = case.chance
    is_small = "about here" in match.group(0)
    chance, usual = (small, usual_small) if is_small else (100 - small, 100 - usual_small)
    out = wrong(not abs(int(groups["chance"]) - chance) <= 0.6, f"a chance of {chance:.1f}")
    out += wrong(not abs(float(groups["band"].replace(",", "")) / band - 1) <= 0.06, f"a band of ${band:.2f}")
    if groups.get("usual"):
        more = usual_small - small
        out += wrong(not abs(int(groups["usual"]) - usual) <= 0.6, f"usually {usual:.1f}")
        out += wrong(case.width is not None and case.width > 1.4 and more < 4.4, f"usually, under {case.width} times")
        out += wrong(case.width is not None and case.width < 0.7 and more > -4.4, f"usually, under {case.width} times")
    if "The chance that" in match.group(0):
        return out
    if "about here" in match.group(0):
        return out + wrong(small < 49.4, f"probably about here at {small:.0f}%")
    if "less likely" in match.group(0):
        return out + wrong(chance > usual - 4.4, f"less likely: {chance:.0f}, usually {usual:.0f}")
    if "An hour like most" in match.group(0):
        return out + wrong(not abs(chance - usual) <= 5.6, f"like most: {chance:.0f}, usually {usual:.0f}")
    return out + wrong(chance < usual + 4.4, f"probably: {chance:.0f}, usually {usual:.0f}")


def _held_hours(case: Case) -> list[bool]:
    """Say of each published range for an hour whether the close an hour later lay in it."""
    return _held_since(case, -1)


def _held_since(case: Case, bar: int) -> list[bool]:
    """Say likewise of those that came due after some bar; a close that is not known judges none."""
    closes = case.bitcoin
    due = [
        (said.hour, said.bar + HOUR)
        for said in case.said
        if said.hour is not None and bar < said.bar + HOUR <= case.raw.now
    ]
    return [ends[0] <= closes[end] <= ends[1] for ends, end in due if np.isfinite(closes[end])]


def _held(match: re.Match[str], case: Case) -> list[str]:
    n, hits = count(match.group(1)), count(match.group(3))
    held = _held_hours(case)
    out = wrong(abs(n - len(held)) > 1, f"{len(held)} ranges were scored")
    out += wrong(not abs(hits - sum(held)) <= 1 + n // 500, f"{sum(held)} ranges held")
    low, high = map(int, match.group(5, 6))
    promised = "too narrow" if high < 90 else "too wide" if low > 90 else "about right"
    out += share_off(match, 4, hits, n, "ranges that held")
    at_edge = 90 in {low, high}
    return out + wrong(match.group(7) != promised and not at_edge, f"{match.group(7)} of {low} to {high}")


def like_days(case: Case) -> tuple[list[int], float, float]:
    """Return the places of the hours that ended separate days like this one, and the sizes that count as like it."""
    days = case.hourly(DAY)
    # As the record has it: of a coin whose last close is up to a quarter of an hour old too.
    today = float(case.raw.line()[-1])
    usual = case.usual(DAY)
    if abs(today) >= 0.75 * usual:
        least, most = 0.67 * abs(today), 1.5 * abs(today)
        sizes = days * math.copysign(1.0, today)
    else:
        least, most = 0.0, 0.75 * usual
        sizes = np.abs(days)
    chosen: list[int] = []
    for place in range(len(days) - 24):
        is_apart = not chosen or place - chosen[-1] >= 24
        if is_apart and least <= sizes[place] <= most and np.isfinite(days[place + 24]):
            chosen.append(place)
    return chosen, least, most


def _like_kind(text: str, case: Case) -> list[str]:
    _, least, most = like_days(case)
    small = re.fullmatch(rf"(?:moves|a move) of less than {SIZE} either way", text)
    if small:
        return off(small.group(1), most, "days like this one", 0.02 * most) + wrong(least, "it was no small day")
    large = re.fullmatch(rf"(?:a )?(rise|fall)s? of between {SIZE} and {SIZE}", text)
    if large is None:
        return [f"not read: {text}"]
    out = wrong((large.group(1) == "rise") != (case.raw.market(DAY) > 0), f"{text} of {case.raw.market(DAY):.2f}%")
    return out + off(large.group(2), least, "days like this one", 0.02) + off(large.group(3), most, "such days", 0.02)


def _near(said: int, true: int, what: str) -> list[str]:
    """Complain of a count more than one off: a move halfway between two that can be kept may be kept as either."""
    return wrong(not abs(said - true) <= 1, f"{what}: said {said}, were {true}")


def _like_days(match: re.Match[str], case: Case) -> list[str]:
    return _near(count(match.group(1)), len(like_days(case)[0]), "days like this one") + _like_kind(
        match.group(2), case
    )


def _few_like_days(match: re.Match[str], case: Case) -> list[str]:
    many, noun, kind = match.groups()
    is_one = noun == "day"
    out = _near(count(many), len(like_days(case)[0]), "days like this one") + _like_kind(kind, case)
    out += wrong(not 0 < count(many) < FEWEST, f"{many} days are not few")
    return out + wrong(is_one != (many == "one") or is_one != kind.startswith("a "), f"{many} {noun}, {kind}")


def _no_like_days(match: re.Match[str], case: Case) -> list[str]:
    return _near(0, len(like_days(case)[0]), "days like this one") + _like_kind(match.group(1), case)


def _next_days(case: Case) -> Floats:
    out: Floats = case.hourly(DAY)[[place + 24 for place in like_days(case)[0]]]
    return out


def _in_100(said: int, hits: int, n: int, what: str) -> list[str]:
    """Complain of a share in 100 that is not of so many of the days, or of one more or fewer of them."""
    is_near = any(abs(said - 100 * hits / days) <= 0.51 for days in (n - 1, n, n + 1) if days > 0)
    return wrong(not is_near, f"{said} in 100 {what}: {hits} of {n}")


def _rose(match: re.Match[str], case: Case) -> list[str]:
    came = _next_days(case)
    days = case.hourly(DAY)
    after = days[24:][np.isfinite(days[:-24]) & np.isfinite(days[24:])]
    hits = count(match.group(2))
    out = _near(hits, int((came > 0).sum()), "days that rose")
    out += _in_100(int(match.group(3)), hits, len(came), "rose")
    out += _interval(match, 3, len(came))
    return out + wrong(
        abs(int(match.group(6)) - 100 * np.mean(after > 0)) > 0.8, f"any day: {100 * np.mean(after > 0):.1f}"
    )


def _interval(match: re.Match[str], first: int, n: int) -> list[str]:
    """Complain of an interval that is not about Wilson's, of a share in three groups."""
    percent, low, high = map(int, match.group(first, first + 1, first + 2))
    share = percent / 100
    z2 = 1.96**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = 1.96 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    out = wrong(n < FEWEST - 1, f"a share of {n} cases")
    is_near = abs(low - 100 * (centre - half)) < 2.1 and abs(high - 100 * (centre + half)) < 2.1
    return out + wrong(
        not is_near, f"{low} to {high}, by Wilson {100 * (centre - half):.1f} to {100 * (centre + half):.1f}"
    )


def _size_carried(match: re.Match[str], case: Case) -> list[str]:
    came = _next_days(case)
    days = case.hourly(DAY)
    usual = case.usual(DAY)
    hits = count(match.group("hits"))
    after = days[24:][np.isfinite(days[:-24]) & np.isfinite(days[24:])]
    base = 100 * float(np.mean(np.abs(after) > usual))
    first = match.re.groupindex["hits"] + 1
    low, high = map(int, match.group(first + 1, first + 2))
    out = _near(hits, int((np.abs(came) > usual).sum()), "days that moved more")
    out += _in_100(int(match.group(first)), hits, len(came), "moved more")
    out += _interval(match, first, len(came))
    if "livelier than most" in match.group(0):
        return out + wrong(low < base - 1.2, f"livelier: {low} to {high}, any {base:.1f}")
    if "quieter than most" in match.group(0):
        return out + wrong(high > base + 1.2, f"quieter: {low} to {high}, any {base:.1f}")
    return out + wrong(low > base + 1.2 or high < base - 1.2, f"neither: {low} to {high}, any {base:.1f}")


def spells(case: Case) -> tuple[int | None, list[int]]:
    """Return for how many full hours the word has been shown, None where its beginning was not seen, and such spells.

    Those are others of that word, from a change to it to a change from it.
    """
    words = [said.word for said in case.said[-YEAR_HOURS:]]
    now = words[-1]
    runs: list[list[str]] = []
    for word in words:
        if runs and runs[-1][0] == word:
            runs[-1].append(word)
        else:
            runs.append([word])
    age = len(runs[-1]) if len(runs) > 1 and runs[-2][0] != "unknown" else None
    ended = [
        len(run)
        for before, run, after in zip(runs, runs[1:], runs[2:], strict=False)
        if run[0] == now and "unknown" not in {before[0], after[0]}
    ]
    return age, ended


def _spell(match: re.Match[str], case: Case) -> list[str]:
    groups = match.groupdict()
    age, ended = spells(case)
    if age is None:
        return ["a spell whose beginning was not seen"]
    said = groups["age"]
    out = wrong(groups["word"] != case.said[-1].word, f"{groups['word']}, published {case.said[-1].word}")
    if said == "less than an hour":
        out += wrong(age >= 1, f"less than an hour: {age} hours")
    else:
        many, unit = said.removeprefix("about ").split(" ")
        hours = (1 if many == "an" else count(many)) * (24 if unit.startswith("day") else 1)
        out += wrong(not abs(hours - age) <= (13 if unit.startswith("day") else 1), f"{said}: {age} hours")
    older = [hours for hours in ended if hours >= age]
    longer = [hours for hours in older if hours >= age + 12]
    if groups.get("more"):
        out += wrong(count(groups["older"]) != len(older), f"{len(older)} as old")
        out += wrong(count(groups["more"]) != len(longer), f"{len(longer)} twelve hours longer")
        return out + share_off(match, match.re.groupindex["more"] + 1, len(longer), len(older), "spells")
    if groups.get("all"):
        out += wrong(count(groups["all"]) != len(ended), f"{len(ended)} on record")
        left = 0 if groups["left"] is None else count(groups["left"])
        return out + wrong(left != len(older) or len(ended) < FEWEST, f"{len(older)} of {len(ended)} as old")
    return out + wrong(count(groups["few"]) != len(ended) or len(ended) >= FEWEST, f"{len(ended)} on record")


def _yesterday(match: re.Match[str], case: Case) -> list[str]:
    low, high, clock, day, price, place = match.groups()
    due = case.raw.now - case.at(clock, day)
    given = [said.day for said in case.said if said.bar == due - DAY]
    if not given or given[0] is None:
        return [f"no range was given for {clock}"]
    close = float(case.bitcoin[due])
    true = "above" if close > given[0][1] else "inside" if close >= given[0][0] else "below"
    out = price_off(low, given[0][0], "yesterday's range") + price_off(high, given[0][1], "yesterday's range")
    return out + price_off(price, close, "Bitcoin then") + wrong(place != true, f"{place}, was {true}")


def _day_held(match: re.Match[str], case: Case) -> list[str]:
    of, held, should = match.groups()
    held_in = _held_since(case, case.raw.now - DAY)
    out = wrong(count(of) != len(held_in), f"{len(held_in)} ranges came due")
    out += wrong(count(held) != sum(held_in), f"{sum(held_in)} held")
    return out + wrong(abs(count(should) - 0.9 * len(held_in)) > 0.51, f"about {should} of {len(held_in)} should")


def _too_few(_: re.Match[str], case: Case) -> list[str]:
    held = _held_since(case, case.raw.now - DAY)
    return wrong(len(held) < 24 or sum(held) > 19, f"too few: {sum(held)} of {len(held)}")


def _triumph(_: re.Match[str], case: Case) -> list[str]:
    held = _held_since(case, case.raw.now - DAY)
    return wrong(sum(held) < 24, f"all of them: {sum(held)} of {len(held)}")


def _in_groups(match: re.Match[str], case: Case) -> list[str]:
    sizes = np.abs(case.hourly(HOUR))
    usual = case.usual(HOUR)
    at = np.flatnonzero((sizes[:-1] >= 4 * usual) & np.isfinite(sizes[1:]))
    hits = int((sizes[at + 1] > usual).sum())
    out = _near(count(match.group(1)), hits, "larger again") + _near(count(match.group(2)), len(at), "large hours")
    out += share_off(match, 3, count(match.group(1)), count(match.group(2)), "large hours")
    return out + wrong(int(match.group(4)) <= 50, "an interval that holds one half")


def _path(match: re.Match[str], case: Case) -> list[str]:
    travelled = 100 * float(np.abs(case.days_of_hours().mean(axis=1)).sum())
    return off(match.group(1), travelled, "travelled") + off(match.group(2), case.raw.market(DAY), "the day")


def _from_calm(match: re.Match[str], case: Case) -> list[str]:
    sizes = np.nan_to_num(np.abs(case.hourly(HOUR)), nan=-1.0)
    words = [said.word for said in case.said[-YEAR_HOURS:]]
    picked: list[int] = []
    for place in np.argsort(-sizes, kind="stable").tolist():
        is_apart = all(abs(place - other) >= 24 for other in picked)
        if place and words[place - 1] != "unknown" and is_apart and len(picked) < 10:
            picked.append(place)
    calm = sum(words[place - 1] in {"calm", "normal"} for place in picked)
    return wrong(abs(count(match.group(2)) - calm) > 1 or count(match.group(1)) != 10, f"{calm} of {len(picked)}")


def _one_coin(match: re.Match[str], case: Case) -> list[str]:
    name = match.group(1)
    days = case.raw.moves(DAY)
    others = np.delete(days, case.raw.assets.index(NAMES[name]))
    out = moved(match, 3, float(others.mean()), "without it") + moved(match, 7, float(days.mean()), "all")
    farthest = np.abs(days - days.mean()).max()
    out += wrong(abs(case.raw.coin(name, DAY) - days.mean()) < 0.9 * farthest, f"{name} is not the farthest")
    return out + wrong(count(match.group(2)) != len(others) or count(match.group(6)) != len(days), "the coins")


def _last_days(match: re.Match[str], case: Case) -> list[str]:
    near, usual, smaller, larger = match.groups()
    sizes = np.abs(case.hourly(DAY)[::-24][:30])
    middle = case.usual(DAY)
    counts = (
        (np.abs(sizes - middle) <= 0.25 * middle).sum(),
        (sizes < 0.75 * middle).sum(),
        (sizes > 1.25 * middle).sum(),
    )
    out = off(usual, middle, "the usual", 0.02 * middle)
    for said, true in zip((near, smaller, larger), counts, strict=True):
        if said is not None:
            out += wrong(not abs(count(said) - int(true)) <= 1, f"days: said {said}, were {true}")
    return out


def _not_bets(match: re.Match[str], case: Case) -> list[str]:
    coins = np.isfinite(case.raw.moves(DAY))
    moves = np.log1p(case.days_of_hours()[:, coins])
    out = wrong({count(said) for said in match.group(1, 2, 3)} != {coins.sum()}, f"{coins.sum()} coins have a day")
    if coins.sum() < FEWEST_COINS:
        return [*out, "an average of too few coins"]
    share = 100 * float(moves.mean(axis=1).std() / moves.std(axis=0).mean())
    swing, away = map(int, match.group(4, 5))
    return out + wrong(not abs(swing - share) <= 0.6 or swing + away != 100, f"{share:.1f}% as much")


def _stretch(match: re.Match[str], case: Case) -> list[str]:
    now = float(case.bitcoin[-1])
    widths = [100 * (case.ranges[horizon][3] / now - 1) for horizon in ("1h", "4h")]
    return off(match.group(1), widths[0], "an hour") + off(match.group(2), widths[1], "four hours")


def _fine(_match: re.Match[str], _case: Case) -> list[str]:
    return []


def _short_record(match: re.Match[str], case: Case) -> list[str]:
    return _span(match.group(1), case) + wrong(case.raw.record_days >= 31.2, f"{case.raw.record_days:.0f} days")


_AGE: Final = r"(?P<age>less than an hour|about \w+ (?:hours?|days))"
_WORD: Final = r"(?P<word>calm|normal|rough|wild)"
_SPELL: Final = rf"The market has been {_WORD} for {_AGE}"
_CHANCES: Final = r"(?P<chance>\d+)%"
_BAND: Final = r"\$(?P<band>[\d,]+(?:\.\d+)?)"


def _reads(check: Check, *pattern: str) -> tuple[re.Pattern[str], Check]:
    return re.compile("".join(pattern)), check


SENTENCES: Final = (
    _reads(
        _day,
        r"In the 24 hours to (\d\d:\d\d) UTC on (\d+) (\w+) (the average coin|Bitcoin) ",
        rf"(?:came back to where it was|(rose|fell) {SIZE}), (and|but) ([^.]+)\.",
    ),
    _reads(
        _usual_day,
        rf"A usual day is a move of {SIZE}, up or down \(half of the days on record moved more\), so ",
        r"(?:this was ([^,.]+)|the net change is (small|ordinary), though the way there was not)\.",
    ),
    _reads(
        _largest_hour,
        rf"The largest hour ended at {CLOCK}: (?:the average coin|Bitcoin) (rose|fell) {SIZE}",
        rf"(?:, about {COUNT} times as far as in a usual hour)?\.",
    ),
    _reads(
        _part_of_day,
        r"That one hour accounted for ([\w ]+) of the day's (rise|fall)\.",
    ),
    _reads(
        _rest_of_day,
        rf"Over the other 23 hours, taken together, it (rose|fell) {SIZE}\.",
    ),
    _reads(
        _points,
        rf"Compared with a day ago it was {SIZE} higher at best \({CLOCK}\) and {SIZE} lower at worst \({CLOCK}\)\.",
    ),
    _reads(
        _one_point,
        rf"Compared with a day ago it was hardly (higher|lower) at any time, and {SIZE} (higher|lower) at ",
        rf"(?:best|worst) \({CLOCK}\)\.",
    ),
    _reads(
        _traded_between,
        rf"Bitcoin traded between {PRICE} and {PRICE} and is at {PRICE}\.",
    ),
    _reads(
        _best_and_worst,
        rf"Of the {COUNT}, {COIN} did best, {MOVED}, and {COIN} worst, {MOVED}\.",
    ),
    _reads(
        _together,
        r"Hour by hour the coins (moved almost as one|moved mostly together|went largely their own ways) ",
        r"\(correlation (-?\d\.\d\d); 1 would be in step\), so holding all (\w+) instead of one spread ",
        r"(little|some|much) of the risk\.",
    ),
    _reads(
        _trading,
        r"Trading was (busier|quieter) than (at any time|at almost any time|\d+ in 100 times) in ",
        r"(the last [\w ]+): \$([\d.]+) (billion|million) of these coins changed hands in a day\.",
    ),
    _reads(
        _week,
        rf"Over seven days (the average coin|Bitcoin) is {MOVED}(?:; a usual week is a move of {SIZE})?\.",
    ),
    _reads(
        _called,
        r"We call this market (calm|normal|rough|wild): the next four hours look (rougher|quieter) than ",
        rf"{OF_100} hours of {SPAN} did\.",
    ),
    _reads(
        _swung,
        rf"The last 24 hours themselves swung (more|less) than {OF_100} days of that time\.",
    ),
    _reads(
        _hour_and_four,
        rf"Nine times in ten Bitcoin should end the next hour between {PRICE} and {PRICE}, and the next four hours ",
        rf"between {PRICE} and {PRICE}\.",
    ),
    _reads(
        _a_day_on,
        rf"For a day from now that range is {PRICE} to {PRICE}; one time in two Bitcoin should end between {PRICE} ",
        rf"and {PRICE}\.",
    ),
    _reads(
        _call,
        rf"Bitcoin will probably be about here in an hour: within {_BAND} either way ",
        rf"\({_CHANCES}(?:; usually (?P<usual>\d+)%)?\)\.",
    ),
    _reads(
        _call,
        rf"The chance that Bitcoin ends the next hour more than {_BAND} from here, either way, is {_CHANCES}\.",
    ),
    _reads(
        _call,
        rf"Bitcoin will (?:probably|almost surely) end the next hour more than {_BAND} from here",
        rf"(?:, up or down alike)? \({_CHANCES}; usually (?P<usual>\d+)%\)\.",
    ),
    _reads(
        _call,
        rf"Bitcoin is less likely than usual to end the next hour more than {_BAND} from here ",
        rf"\({_CHANCES}; usually (?P<usual>\d+)%\)\.",
    ),
    _reads(
        _call,
        rf"An hour like most: the chance that Bitcoin ends it more than {_BAND} from here, either way, is {_CHANCES} ",
        r"\(usually (?P<usual>\d+)%\)\.",
    ),
    _reads(
        _widest,
        rf"Of all coins {COIN} has the widest range for the hour, {SIZE} either way, ",
        rf"and {COIN} the narrowest, {SIZE}\.",
    ),
    _reads(
        _fine,
        r"We do not say which way it will go: nothing we have scored shows that anyone here knows\.",
    ),
    _reads(
        _held,
        rf"Of the {COUNT} one-hour ranges (scored so far|in our backtest), for all coins ",
        rf"together, {COUNT} held: {LUCK}\)",
        r"\. We promise 90, so they were (too narrow|about right|too wide)\.",
    ),
    _reads(
        _short_record,
        r"Our record, ([\w ]+) long, is too short to say what usually follows such a day, and we do not guess\.",
    ),
    _reads(
        _like_days,
        rf"Our record holds {COUNT} separate days like this one, with ({KIND})\.",
    ),
    _reads(
        _no_like_days,
        rf"Our record holds no other day like this one, with ({KIND}), so it cannot show what usually follows\.",
    ),
    _reads(
        _few_like_days,
        rf"Our record holds only {COUNT} (day|separate days) like this one, with ({KIND}): too few to say ",
        r"what usually follows, ",
        r"and we do not guess\.",
    ),
    _reads(
        _rose,
        rf"A day later (the average coin|Bitcoin) was higher after {COUNT} of them, {LUCK}\), against (\d+) in 100 ",
        r"after any day\.",
    ),
    _reads(
        _fine,
        r"That difference may well be luck, so it says nothing about tomorrow\.",
    ),
    _reads(
        _fine,
        r"That is more than luck easily gives, but luck alone makes one in twenty such counts look like this, so we ",
        r"do not build on it\.",
    ),
    _reads(
        _size_carried,
        r"(?:What did carry over is size|Nor was the next day clearly livelier or quieter): ",
        rf"(?P<hits>\d+) of (?:those next days|them), {LUCK}\), moved more than a usual day",
        r"(?:, so they were (?:livelier|quieter) than most)?\.",
    ),
    _reads(
        _spell,
        rf"{_SPELL}; of (?P<older>\d+) \w+ spells that lasted as long, (?P<more>\d+) lasted ",
        rf"twelve hours more, {LUCK}\)\.",
    ),
    _reads(
        _spell,
        rf"{_SPELL}, longer than (?:any|all but (?P<left>\w+)) of the (?P<all>\d+) \w+ spells on record: ",
        r"(?:how much longer it may last we cannot say|too few to say how much longer it may last)\.",
    ),
    _reads(
        _spell,
        rf"{_SPELL}\. To say how long that may last we need 30 such spells on record, and there ",
        r"(?:is|are) (?P<few>\w+)\.",
    ),
    _reads(
        _yesterday,
        rf"A day ahead, (?:we|our backtest) expected Bitcoin between {PRICE} and {PRICE} at {CLOCK}, nine times in ",
        rf"ten; it was at {PRICE}, (inside|above|below) that range\.",
    ),
    _reads(
        _day_held,
        rf"Of the day's {COUNT} one-hour ranges, {COUNT} held; about {COUNT} should have\.",
    ),
    _reads(
        _too_few,
        r"Too few: a range knows how wild the market has been, not what is about to happen\.",
    ),
    _reads(
        _triumph,
        r"All of them is hardly a triumph: on a quiet day wide ranges look good too\.",
    ),
    _reads(
        _in_groups,
        r"Big hours come in groups: after an hour of four times the usual size or more, the next ",
        r"was again larger than ",
        rf"usual (\d+) times out of (\d+), {LUCK}, on \d+ days\); after any hour it is 50, by the meaning of 'usual'\.",
    ),
    _reads(
        _path,
        rf"The change of a day hides its path: hour by hour the average coin travelled {SIZE} in ",
        rf"all, and ended {SIZE} ",
        r"from where it began\.",
    ),
    _reads(
        _from_calm,
        rf"Calm is how things are, not what comes: of the {COUNT} largest hours on record \(at least a day apart\) ",
        rf"{COUNT} began while we called the market calm or normal\.",
    ),
    _reads(
        _one_coin,
        rf"An average can be one coin: without {COIN} the other {COUNT} are {MOVED} on average; with it all {COUNT} ",
        rf"are {MOVED}\.",
    ),
    _reads(
        _fine,
        r"A row of days proves little: if each day were the toss of a coin, three in a row would go the same way one ",
        r"time in four\.",
    ),
    _reads(
        _last_days,
        rf"Usual is the middle, not the rule: of the last 30 days (?:only )?{COUNT} moved within ",
        r"a quarter of the usual ",
        rf"{SIZE}(?:; {COUNT} moved less and {COUNT} more)?\.",
    ),
    _reads(
        _not_bets,
        r"(\w+) coins are not (\w+) bets: hour by hour the average of all (\w+) swung (\d+)% as ",
        r"much as one coin alone, ",
        r"so mixing them took away (\d+)% of the roughness\.",
    ),
    _reads(
        _stretch,
        r"Time does not stretch a range evenly: four hours go about twice as far as one, not four times\. Today that ",
        rf"is {SIZE} either way for the hour and {SIZE} for four\.",
    ),
    _reads(
        _fine,
        r"(?:If your own range for each of these hours had held, how wide would it have been on a quiet day",
        r"|If you had looked at the price only once a day, what would you have seen of this one",
        r"|How could you tell, before it ends, that a calm is about to end",
        r"|Which would you rather be given: the average, the middle coin, or the one that moved most",
        r"|How many days in a row would you need before calling it more than luck, and did you choose that number ",
        r"before you looked|Ten of your 90% ranges in a row have held: were they good, or too wide)\?",
    ),
)
_NEVER: Final = re.compile(r"\b(trend|because|will rise|will fall|buy|sell|target|stop)\b", re.IGNORECASE)


def report_complaints(texts: Mapping[str, str], case: Case) -> list[str]:
    """Return what is untrue in a report's parts, by their name; what is not read is a complaint."""
    out = []
    for part, text in texts.items():
        rest = text
        while rest:
            rest, found = _read(rest, case)
            out += [f"{part}: {complaint}" for complaint in found]
        out += wrong(_NEVER.search(text), f"{part}: a word that is never said")
    return out


def _read(text: str, case: Case) -> tuple[str, list[str]]:
    """Return what is left after the first sentence, and what is untrue in it."""
    for pattern, check in SENTENCES:
        match = pattern.match(text)
        if match is None:
            continue
        try:
            found = check(match, case)
        except (ValueError, KeyError) as fault:
            found = [f"no figure, word or time of a report: {fault}"]
        return text[match.end() :].lstrip(), [f"{match.group(0)} [{one}]" for one in found]
    return "", [f"not read: {text!r}"]
