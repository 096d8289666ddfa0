"""Two oracles that read a headline and know nothing of how it was made: *figure* and *sense*.

They take the text apart into claims, leave no character of it unread, and hold each claim against raw closes with code
of their own. A complaint is a sentence; none means that the headline is true of the line that is drawn under it.
"""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

HOUR: Final = 12  # bars
DAY: Final = 288
WORDS: Final = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
NAMES: Final = {
    "Bitcoin": "BTC",
    "Ether": "ETH",
    "XRP": "XRP",
    "Solana": "SOL",
    "Algorand": "ALGO",
    "Stellar Lumens": "XLM",
    "Hedera": "HBAR",
}
MINUS: Final = "\N{MINUS SIGN}"
LONGEST: Final = 110
MOST_NUMBERS: Final = 3
SIZE: Final = r"(\d+(?:\.\d)?)%"
MOVED: Final = rf"(?:(up|down) {SIZE}|(unchanged))"
COIN: Final = rf"({'|'.join(NAMES)})"
AGO: Final = r"(minutes ago|a quarter of an hour ago|half an hour ago|an hour ago|[a-z0-9]+ hours ago)"
SPAN: Final = r"(a year|[a-z0-9]+ (?:months|weeks|days))"
SHARE_BACK: Final = r"((?:about a quarter|about a third|about half|most|all) of it(?: and more)?)"
Floats = npt.NDArray[np.float64]


def carried(closes: Floats) -> Floats:
    """Let a close stand for up to three missing ones after it."""
    out = closes.copy()
    for column in out.T:
        missing = 0
        for bar in range(1, len(column)):
            if np.isnan(column[bar]):
                missing += 1
                if missing <= 3:
                    column[bar] = column[bar - 1]
            else:
                missing = 0
    return out


class History:
    """A market's closes, highs and lows, and series of it that are worked out once: none looks ahead."""

    def __init__(self, assets: tuple[str, ...], closes: Floats, high: Floats, low: Floats) -> None:
        """Take all bars, (bars, assets)."""
        self.assets = assets
        self.closes = carried(closes)
        self.high, self.low = high, low
        self._moves: dict[int, Floats] = {}

    def moves(self, bars: int) -> Floats:
        """Return the average coin's moves over some bars, percent, at each bar; NaN before there is one."""
        if bars not in self._moves:
            ratios = self.closes[bars:] / self.closes[:-bars] - 1
            start = np.full(min(bars, len(self.closes)), np.nan)
            self._moves[bars] = np.concatenate((start, 100 * ratios.mean(axis=1)))
        return self._moves[bars]

    @cached_property
    def roughness(self) -> Floats:
        """The mean size of the bars' moves over the day up to each bar."""
        bars = np.nan_to_num(np.abs(np.diff(np.log(self.closes), axis=0, prepend=np.nan)).mean(axis=1))
        total = np.cumsum(bars)
        total[DAY:] -= total[:-DAY].copy()
        return total / DAY

    @cached_property
    def wide(self) -> Floats:
        """From the first coin's low of the day to its high, percent, at each bar."""
        windows = np.lib.stride_tricks.sliding_window_view
        tops = np.nanmax(windows(self.high[:, 0], DAY), axis=1)
        bottoms = np.nanmin(windows(self.low[:, 0], DAY), axis=1)
        return np.concatenate((np.full(DAY - 1, np.nan), 100 * (tops / bottoms - 1)))


class Raw:
    """What can be asked of a history up to one bar."""

    def __init__(self, history: History, now: int) -> None:
        """Stand at a bar."""
        self.history = history
        self.assets = history.assets
        self.closes = history.closes[: now + 1]
        self.now = now

    @property
    def record_days(self) -> float:
        """How long the record is."""
        return len(self.closes) / DAY

    def moves(self, bars: int, until: int | None = None) -> Floats:
        """Return each coin's move over some bars, percent."""
        end = self.now if until is None else until
        if end - bars < 0:
            return np.full(len(self.assets), np.nan)
        out: Floats = 100 * (self.closes[end] / self.closes[end - bars] - 1)
        return out

    def market(self, bars: int, until: int | None = None) -> float:
        """Return the average coin's move."""
        moves = self.moves(bars, until)
        return float(np.mean(moves[np.isfinite(moves)])) if np.isfinite(moves).any() else float("nan")

    def coin(self, name: str, bars: int) -> float:
        """Return a coin's move by its name."""
        return float(self.moves(bars)[self.assets.index(NAMES[name])])

    def series(self, bars: int) -> Floats:
        """Return the average coin's moves over some bars up to now, percent, NaN where unknown."""
        return self.history.moves(bars)[: self.now + 1]

    def usual(self, bars: int) -> float:
        """Return the median size of such moves, of windows that end at each twelfth bar."""
        return float(np.nanmedian(np.abs(self.series(bars)[::-HOUR])))

    def line(self) -> Floats:
        """Return the day's line, percent."""
        day = self.closes[-DAY - 1 :]
        out: Floats = 100 * ((day / day[0]).mean(axis=1) - 1)
        return out


Check = Callable[[re.Match[str], Raw], list[str]]


def _off(said: str, true: float, what: str) -> list[str]:
    """Complain where a size is not the one said, to what was rounded off."""
    size = abs(true)
    slack = 0.5 if "." not in said else 0.05
    if abs(float(said) - size) > slack + 0.011:
        return [f"{what}: said {said}%, was {true:.2f}%"]
    return []


def _moved(match: re.Match[str], first: int, true: float, what: str) -> list[str]:
    """Complain of a move said as `up 1.2%`, `down 1.2%` or `unchanged`, in three groups from `first` on."""
    way, size, unchanged = match.group(first, first + 1, first + 2)
    if unchanged:
        return [] if abs(true) < 0.07 else [f"{what}: said unchanged, was {true:.2f}%"]
    if (way == "up") != (true > 0):
        return [f"{what}: said {way}, was {true:.2f}%"]
    return _off(size, true, what)


def _bars(ago: str) -> tuple[float, float]:
    """Return from how many bars ago to how many a time may be."""
    fixed = {"minutes ago": 0.1, "a quarter of an hour ago": 0.25, "half an hour ago": 0.5, "an hour ago": 1.0}
    word = ago.partition(" ")[0]
    hours = fixed.get(ago) or float(WORDS.index(word) if word in WORDS else word)
    return HOUR * (hours - 0.75), HOUR * (hours + 0.75)


def _days(span: str, raw: Raw) -> list[str]:
    """Complain of a record that is said to be longer than it is, or shorter by a fifth."""
    if span == "a year":
        days = 360.0
    else:
        count, unit = span.split(" ")
        number = float(WORDS.index(count) if count in WORDS else count)
        days = number * {"months": 30.4, "weeks": 7.0, "days": 1.0}[unit]
    if days > raw.record_days + 0.5:
        return [f"a record of {span}, which holds {raw.record_days:.0f} days"]
    return []


def _largest_hours(raw: Raw) -> tuple[float, int]:
    """Return the largest hour that lies in the last day, percent, and how many bars ago it ended."""
    hours = raw.series(HOUR)[-(DAY - HOUR + 1) :]
    at = int(np.nan_to_num(np.abs(hours), nan=-1.0).argmax())
    return float(hours[at]), len(hours) - 1 - at


def _an_hour_at(ago: str, size: str, raw: Raw, *, fell: bool, what: str) -> list[str]:
    """Complain unless an hour of such size ended then."""
    first, final = _bars(ago)
    hours = raw.series(HOUR)
    ends = [bars for bars in range(max(0, int(first)), int(final) + 2) if bars < len(hours)]
    for bars in ends:
        move = float(hours[len(hours) - 1 - bars])
        if (move < 0) == fell and not _off(size, move, what):
            return []
    return [f"{what}: no hour of {size}% ended {ago}"]


def _shock(match: re.Match[str], raw: Raw) -> list[str]:
    fell = match.group(1) == "fallen"
    hour = raw.market(HOUR)
    out = _off(match.group(2), hour, "the hour")
    if (hour < 0) != fell:
        out.append(f"said {match.group(1)} in an hour, was {hour:.2f}%")
    return out


def _shock_without_bitcoin(match: re.Match[str], raw: Raw) -> list[str]:
    bitcoin = raw.coin("Bitcoin", HOUR)
    out = _shock(match, raw) + _moved(match, 3, bitcoin, "Bitcoin's hour")
    if bitcoin * raw.market(HOUR) > 0:
        out.append("'but' of a Bitcoin that went the same way")
    return out


def _hour_coin(match: re.Match[str], raw: Raw) -> list[str]:
    name, size = match.group(1, 2)
    hours = raw.moves(HOUR)
    farthest = hours.min() if raw.market(HOUR) < 0 else hours.max()
    out = _off(size, raw.coin(name, HOUR), f"{name} in an hour")
    if abs(raw.coin(name, HOUR) - farthest) > 0.02:
        out.append(f"{name} is not the coin that moved most in the hour")
    return out


def _record_hour(match: re.Match[str], raw: Raw) -> list[str]:
    hours = raw.series(HOUR)
    now, before = hours[-1], hours[:-HOUR]
    sign = -1 if match.group(1) == "fall" else 1
    out = _days(match.group(2), raw)
    if np.nanmax(sign * before, initial=-np.inf) >= sign * now - 1e-6:
        out.append(f"not the largest hourly {match.group(1)}")
    return out


def _rare_hour(match: re.Match[str], raw: Raw) -> list[str]:
    hours = np.nan_to_num(np.abs(raw.series(HOUR)))
    out = _days(match.group(2), raw)
    if np.mean(hours >= hours[-1]) > 0.002:
        out.append("not one of the largest hours")
    return out


def _day(match: re.Match[str], raw: Raw) -> list[str]:
    return _moved(match, 1, raw.market(DAY), "the day")


def _day_coin(match: re.Match[str], raw: Raw) -> list[str]:
    name, size = match.group(1, 2)
    days = raw.moves(DAY)
    farthest = days.min() if raw.market(DAY) < 0 else days.max()
    out = _off(size, raw.coin(name, DAY), f"{name} in a day")
    if abs(raw.coin(name, DAY) - farthest) > 0.02:
        out.append(f"{name} is not the coin that moved most")
    return out


def _record_day(match: re.Match[str], raw: Raw) -> list[str]:
    days = raw.series(DAY)
    sign = -1 if match.group(1) == "fall" else 1
    out = _days(match.group(2), raw)
    if np.nanmax(sign * days[:-DAY], initial=-np.inf) >= sign * days[-1] - 1e-6:
        out.append(f"not the largest {match.group(1)} of a day")
    return out


def _bitcoin(match: re.Match[str], raw: Raw) -> list[str]:
    return _moved(match, 1, raw.coin("Bitcoin", DAY), "Bitcoin's day")


def _but_bitcoin(match: re.Match[str], raw: Raw) -> list[str]:
    out = _bitcoin(match, raw)
    if raw.coin("Bitcoin", DAY) * raw.market(DAY) > 0:
        out.append("'but' of a Bitcoin that went the same way")
    return out


def _last_hour(match: re.Match[str], raw: Raw) -> list[str]:
    return _moved(match, 1, raw.market(HOUR), "the last hour")


def _went_on(match: re.Match[str], raw: Raw) -> list[str]:
    out = _off(match.group(1), raw.market(HOUR), "the last hour")
    if raw.market(HOUR) * raw.market(DAY) < 0:
        out.append("'and' of an hour that went against the day")
    return out


def _three_hours(match: re.Match[str], raw: Raw) -> list[str]:
    return _moved(match, 1, raw.market(3 * HOUR), "three hours")


def _extreme(match: re.Match[str], raw: Raw) -> list[str]:
    line = raw.line()
    at = int(line.argmin() if match.group(1) == "down" else line.argmax())
    out = _moved(match, 1, float(line[at]), "the extreme")
    first, final = _bars(match.group(4))
    if not first <= len(line) - 1 - at <= final:
        out.append(f"the extreme was {(len(line) - 1 - at) / HOUR:.1f} hours ago, not {match.group(4)}")
    return out


def _one_hour(match: re.Match[str], raw: Raw) -> list[str]:
    fell = match.group(1) in {"falling", "fell", "a fall of"}
    return _an_hour_at(match.group(3), match.group(2), raw, fell=fell, what="the largest hour")


def _part_of_day(match: re.Match[str], raw: Raw) -> list[str]:
    largest, bars_ago = _largest_hours(raw)
    share = largest / raw.market(DAY)
    low, high = {"all": (0.95, 1.35), "most": (0.55, 1.05), "half": (0.45, 0.65)}[match.group(1)]
    first, final = _bars(match.group(2))
    out = [] if low <= share <= high else [f"{match.group(1)} of the day in one hour: a share of {share:.2f}"]
    if not first <= bars_ago <= final:
        out.append(f"the largest hour ended {bars_ago / HOUR:.1f} hours ago, not {match.group(2)}")
    return out


def _leads(match: re.Match[str], raw: Raw) -> list[str]:
    days = raw.moves(DAY)
    farthest = days.min() if raw.market(DAY) < 0 else days.max()
    out = _off(match.group(2), raw.coin("Bitcoin", DAY), "Bitcoin's day")
    if abs(raw.coin("Bitcoin", DAY) - farthest) > 0.02 or (match.group(1) == "fell") != (farthest < 0):
        out.append(f"Bitcoin {match.group(1)} most, which it did not")
    return out


def _bitcoin_too(match: re.Match[str], raw: Raw) -> list[str]:
    out = _off(match.group(1), raw.coin("Bitcoin", DAY), "Bitcoin's day")
    if raw.coin("Bitcoin", DAY) * raw.market(DAY) < 0:
        out.append("Bitcoin went the other way")
    return out


def _after(match: re.Match[str], raw: Raw) -> list[str]:
    largest, bars_ago = _largest_hours(raw)
    fell = match.group(1) == "fell"
    out = _off(match.group(2), largest, "the largest hour")
    first, final = _bars(match.group(3))
    if (largest < 0) != fell or not first <= bars_ago <= final:
        out.append(f"the largest hour, {largest:.2f}%, ended {bars_ago / HOUR:.1f} hours ago, not {match.group(3)}")
    return out


def _back(raw: Raw) -> float:
    largest, bars_ago = _largest_hours(raw)
    return 1 - raw.market(bars_ago + HOUR) / largest


def _stayed(_: re.Match[str], raw: Raw) -> list[str]:
    return [] if abs(_back(raw)) <= 0.2 else [f"has stayed there: {_back(raw):.2f} of it is undone"]


def _won_back(match: re.Match[str], raw: Raw) -> list[str]:
    largest, _ = _largest_hours(raw)
    shares = {
        "about a quarter of it": (0.1, 0.31),
        "about a third of it": (0.27, 0.42),
        "about half of it": (0.38, 0.62),
        "most of it": (0.55, 0.92),
        "all of it": (0.85, 1.2),
        "all of it and more": (1.1, 99.0),
    }
    low, high = shares[match.group(2)]
    out = [] if low <= _back(raw) <= high else [f"{match.group(0)}: {_back(raw):.2f}"]
    if (match.group(1) == "won back") != (largest < 0):
        out.append(f"{match.group(1)} of {largest:.2f}%")
    return out


def _more_since(match: re.Match[str], raw: Raw) -> list[str]:
    largest, bars_ago = _largest_hours(raw)
    since = raw.market(bars_ago)
    out = _off(match.group(2), since, "since the largest hour")
    if since * largest < 0 or (match.group(1) == "lost") != (since < 0):
        out.append(f"{match.group(1)} more: {since:.2f}% after {largest:.2f}%")
    return out


def _alone(match: re.Match[str], raw: Raw) -> list[str]:
    days = raw.moves(DAY)
    name = match.group(1)
    others = np.delete(days, raw.assets.index(NAMES[name]))
    out = _moved(match, 2, raw.coin(name, DAY), name)
    spread = others.max() - others.min()
    if abs(raw.coin(name, DAY) - np.median(others)) < max(6, spread):
        out.append(f"{name} does not stand out")
    if WORDS[len(others)] != match.group(5):
        out.append(f"{match.group(5)} others, of {len(others)}")
    return out


def _others_between(match: re.Match[str], raw: Raw) -> list[str]:
    values = [float(text.replace(MINUS, "-").replace("+", "").rstrip("%")) for text in match.group(1, 2)]
    days = np.sort(raw.moves(DAY))
    inside = [days[:-1], days[1:]]
    fits = any(abs(values[0] - of[0]) < 0.55 and abs(values[1] - of[-1]) < 0.55 for of in inside)
    return [] if fits else [f"the others lie between {values}, not so: {days.round(2)}"]


def _others_one_way(match: re.Match[str], raw: Raw) -> list[str]:
    sign = 1 if match.group(1) == "up" else -1
    days = np.sort(sign * raw.moves(DAY))
    near, far = float(match.group(2)), float(match.group(3))
    fits = any(abs(near - of[0]) < 0.55 and abs(far - of[-1]) < 0.55 for of in (days[:-1], days[1:]))
    return [] if fits else [f"the others are {match.group(0)}, not so: {(sign * days).round(2)}"]


def _until(match: re.Match[str], raw: Raw) -> list[str]:
    line = raw.line()
    fell = match.group(1) == "fell"
    first, final = _bars(match.group(3))
    turn = int(line.argmin() if fell else line.argmax())
    out = []
    if not first <= len(line) - 1 - turn <= final:
        out.append(f"the turn was {(len(line) - 1 - turn) / HOUR:.1f} hours ago, not {match.group(3)}")
    start = line[: turn + 1].max() if fell else line[: turn + 1].min()
    out += _off(match.group(2), 100 * ((1 + line[turn] / 100) / (1 + start / 100) - 1), "the first leg")
    out += _off(match.group(5), 100 * ((1 + line[-1] / 100) / (1 + line[turn] / 100) - 1), "the second leg")
    if (match.group(4) == "risen") != fell:
        out.append("two legs one way")
    return out


def _legs(match: re.Match[str], raw: Raw) -> list[str]:
    line = raw.line()
    top, bottom = int(line.argmax()), int(line.argmin())
    rose_first = top < bottom
    first = line[min(top, bottom)]
    second = 100 * ((1 + line[max(top, bottom)] / 100) / (1 + first / 100) - 1)
    out = _off(match.group(2), float(first), "the first leg") + _off(match.group(4), float(second), "the second leg")
    if (match.group(1) == "rose") != rose_first or (match.group(3) == "fell") != rose_first:
        out.append("legs in the wrong order")
    return out


def _is_now(match: re.Match[str], raw: Raw) -> list[str]:
    out = _off(match.group(1), raw.market(DAY), "the day")
    if (match.group(2) == "higher") != (raw.market(DAY) > 0):
        out.append(f"said {match.group(2)}, was {raw.market(DAY):.2f}%")
    return out


def _no_change(_: re.Match[str], raw: Raw) -> list[str]:
    return [] if abs(raw.market(DAY)) < 0.07 else [f"no change of {raw.market(DAY):.2f}%"]


def _days_in_a_row(match: re.Match[str], raw: Raw) -> list[str]:
    count = WORDS.index(match.group(2))
    fell = match.group(1) == "fallen"
    out = _moved(match, 3, raw.market(DAY * count), "all the days")
    out += _off(match.group(6), raw.market(DAY), "the last day")
    for day in range(count):
        move = raw.market(DAY, raw.now - DAY * day)
        if (move < 0) != fell:
            out.append(f"day {day} of the row moved {move:.2f}%")
    return out


def _row_turned(match: re.Match[str], raw: Raw) -> list[str]:
    return _moved(match, 1, raw.market(DAY * WORDS.index(match.group(4))), "the days in a row")


def _week(match: re.Match[str], raw: Raw) -> list[str]:
    week = raw.market(7 * DAY)
    out = _off(match.group(1), week, "the week")
    if (match.group(2) == "higher") != (week > 0):
        out.append(f"a week {match.group(2)}, was {week:.2f}%")
    if abs(raw.market(DAY)) > 1.2 * raw.usual(DAY):
        out.append(f"little changed in a day of {raw.market(DAY):.2f}%")
    return out


def _split(match: re.Match[str], raw: Raw) -> list[str]:
    best, up, worst, down = match.group(1, 2, 3, 4)
    days = raw.moves(DAY)
    out = _off(up, raw.coin(best, DAY), best) + _off(down, raw.coin(worst, DAY), worst)
    if raw.coin(best, DAY) < days.max() - 0.02 or raw.coin(worst, DAY) > days.min() + 0.02:
        out.append("not the best and the worst coin")
    if raw.coin(best, DAY) < 0 or raw.coin(worst, DAY) > 0:
        out.append("not parted")
    return out


def _against_usual(match: re.Match[str], raw: Raw) -> list[str]:
    ratio = abs(raw.market(DAY)) / raw.usual(DAY)
    low, high = {
        "about as much as usual": (0.6, 1.4),
        "more than usual": (1.1, 1.95),
        "about twice as much as usual": (1.55, 2.65),
        "far more than usual": (2.1, 99.0),
    }[match.group(1)]
    return [] if low <= ratio <= high else [f"{match.group(1)}: {ratio:.2f} usual days"]


def _quiet(match: re.Match[str], raw: Raw) -> list[str]:
    out = _off(match.group(1), float(raw.history.wide[raw.now]), "Bitcoin's range")
    hours = np.abs(raw.series(HOUR)[-12 * HOUR :])
    if np.nanmax(hours) > 4.5 * raw.usual(HOUR):
        out.append(f"quiet after an hour of {np.nanmax(hours):.2f}%")
    return out


def _quietest(match: re.Match[str], raw: Raw) -> list[str]:
    out = _days(match.group(1), raw)
    wide = raw.history.wide[: raw.now + 1]
    if np.nanmin(wide[:-DAY], initial=np.inf) <= wide[-1] - 1e-6:
        out.append("not the narrowest day")
    return out


def _mixed(match: re.Match[str], raw: Raw) -> list[str]:
    days = raw.moves(DAY)
    said = tuple(WORDS.index(word) for word in match.group(1, 2))
    true = (int((days > 0.1).sum()), int((days < -0.1).sum()))
    near = int((np.abs(np.abs(days) - 0.1) < 0.01).sum())
    off = max(abs(one - other) for one, other in zip(said, true, strict=True))
    return [] if off <= near else [f"{said} coins up and down, of {true}"]


def _kind(match: re.Match[str], raw: Raw) -> list[str]:
    days = raw.history.roughness[DAY : raw.now + 1][::-HOUR]
    rank = float(np.mean(days < days[0]))
    if match.group(1) == "an ordinary one":
        largest, _ = _largest_hours(raw)
        ratio = abs(raw.market(DAY)) / raw.usual(DAY)
        out = [] if ratio <= 1.6 else [f"an ordinary day of {ratio:.2f} usual ones"]
        if abs(largest) > 7 * raw.usual(HOUR):
            out.append(f"an ordinary day with an hour of {largest:.2f}%")
        return out + ([] if rank <= 0.85 else [f"an ordinary day, rougher than {rank:.2f}"])
    least = 0.6 if match.group(1) == "a rough one" else 0.85
    return [] if rank >= least else [f"{match.group(1)}: rougher than {rank:.2f} of days"]


def _average(match: re.Match[str], raw: Raw) -> list[str]:
    return _moved(match, 1, raw.market(DAY), "the average coin")


CLAIMS: Final[tuple[tuple[str, Check], ...]] = (
    (rf"^Crypto has (fallen|risen) {SIZE} in an hour, but Bitcoin is {MOVED}$", _shock_without_bitcoin),
    (rf"^Crypto has (fallen|risen) {SIZE} in an hour", _shock),
    (rf"^ \({COIN} {SIZE}\)(?=, its largest hourly|, one of its largest hourly|$)", _hour_coin),
    (rf"^, its largest hourly (fall|rise) in {SPAN}", _record_hour),
    (rf"^, one of its largest hourly (fall|rise)s in {SPAN}", _rare_hour),
    (rf"^Crypto is {MOVED} in a day", _day),
    (rf"^ \({COIN} {SIZE}\)", _day_coin),
    (rf"^, its largest (fall|rise) in {SPAN}", _record_day),
    (rf"^ and {SIZE} in the last hour", _went_on),
    (rf"^, but {MOVED} in the last hour", _last_hour),
    (rf"^, but {MOVED} in the last three hours", _three_hours),
    (rf"^, after being {MOVED} {AGO}", _extreme),
    (
        rf"^(?:,|;) (?:despite |it |after )(falling|rising|fell|rose|a fall of|a rise of) {SIZE} in one hour, {AGO}",
        _one_hour,
    ),
    (rf"^, (all|most|half) of it in one hour, {AGO}", _part_of_day),
    (rf"^; Bitcoin (fell|rose) most, {SIZE}", _leads),
    (rf"^: {COIN} (?:by )?{SIZE}", _day_coin),
    (rf"^, Bitcoin {SIZE}$", _bitcoin_too),
    (rf"^(?:; but|, but|; |, )(?: ?)Bitcoin is {MOVED}", _bitcoin),
    (r"^, (about as much as usual|more than usual|about twice as much as usual|far more than usual)", _against_usual),
    (r"^, (an ordinary one|a rough one|a wild one)", _kind),
    (rf"^Crypto (fell|rose) {SIZE} in one hour, {AGO}", _after),
    (r"^, and has stayed there", _stayed),
    (rf"^, and has (won back|given back) {SHARE_BACK}", _won_back),
    (rf"^, and has (lost|gained) {SIZE} more since", _more_since),
    (rf"^{COIN} stands out: {MOVED} in a day; the other ([a-z]+) ", _alone),
    (rf"^lie between ([+{MINUS}]?[\d.]+%) and ([+{MINUS}]?[\d.]+%)", _others_between),
    (rf"^are (up|down) ([\d.]+) to {SIZE}", _others_one_way),
    (rf"^Crypto (fell|rose) {SIZE} until {AGO} and has (risen|fallen) {SIZE} since", _until),
    (rf"^Crypto (fell|rose) {SIZE}, (fell|rose) {SIZE}", _legs),
    (rf"^ and is now {SIZE} (higher|lower) than a day ago", _is_now),
    (r"^(?: and is now|Crypto is) where it was a day ago", _no_change),
    (rf"^Crypto has (fallen|risen) ([a-z]+) days in a row: {MOVED} in all, {SIZE} in the last day", _days_in_a_row),
    (rf"^Crypto is {MOVED} in ([a-z]+) days", _row_turned),
    (rf"^Little changed in a day, but crypto is {SIZE} (higher|lower) than a week ago", _week),
    (rf"^Coins part ways: {COIN} up {SIZE} in a day, {COIN} down {SIZE}", _split),
    (rf"^, Bitcoin {MOVED}$", _bitcoin),
    (rf"^Quiet: Bitcoin has stayed within {SIZE} for a day", _quiet),
    (rf"^ and is {MOVED}$", _bitcoin),
    (rf"^Bitcoin's quietest day in {SPAN}", _quietest),
    (rf"^: it has stayed within {SIZE}$", _quiet),
    (rf"^Bitcoin is {MOVED} in a day", _bitcoin),
    (rf"^, but the average coin is {MOVED}$", _average),
    (r"^Mixed: ([a-z]+) coins? up in a day, ([a-z]+) down", _mixed),
)
_COMPILED: Final = tuple((re.compile(pattern), check) for pattern, check in CLAIMS)


def complaints(headline: str, raw: Raw) -> list[str]:
    """Return what is untrue in a headline; an unread rest is a complaint."""
    out = []
    if len(headline) > LONGEST:
        out.append(f"{len(headline)} characters")
    if len(re.findall(r"\d+(?:[.,]\d+)*", headline)) > MOST_NUMBERS:
        out.append("more than three numbers")

    rest = headline
    while rest:
        for pattern, check in _COMPILED:
            match = pattern.match(rest)
            if match:
                out += check(match, raw)
                rest = rest[match.end() :]
                break
        else:
            out.append(f"not read: {rest!r}")
            break
    return out + omissions(headline, raw)


def omissions(headline: str, raw: Raw) -> list[str]:
    """Complain where the headline leaves out what everyone sees: a day of three usual ones, an hour of nine."""
    days = raw.moves(DAY)
    usual = raw.usual(DAY)
    market = raw.market(DAY)
    out = []
    one_way = max((days > 0.1).sum(), (days < -0.1).sum()) >= 0.8 * len(days)
    if one_way and abs(np.median(days)) >= 3 * usual and abs(market) >= 3 * usual:
        way = r"\b(down|fallen|fell)\b" if market < 0 else r"\b(up|risen|rose)\b"
        if not re.search(way, headline):
            out.append(f"a day of {market:.1f}% is left out")
    hour = raw.market(HOUR)
    if abs(hour) >= max(9 * raw.usual(HOUR), 1.7) and "hour" not in headline and "after being" not in headline:
        out.append(f"an hour of {hour:.1f}% is left out")
    return out
