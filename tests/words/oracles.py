"""The oracle of headlines, which knows nothing of how they are made: *figure* and *sense*.

It takes the text apart into claims and holds each against raw closes. A complaint is a sentence under a row of the
table; none means that the headline is true of the line that is drawn under it.
"""

import re
from typing import Final

import numpy as np

from tests.words.claims import (
    AGO,
    DOLLARS,
    LASTING,
    SPAN,
    Claims,
    Complaint,
    Complaints,
    Ground,
    Row,
    at,
    claims,
    dollars,
    hours,
    lasting,
    moved,
    off,
    read,
    span,
    unless,
)
from tests.words.figures import COIN, MINUS, MOVED, SIZE, UNCHANGED, count, number
from tests.words.published import Published
from tests.words.raw import NAMES, History, Raw

__all__ = ["History", "Raw", "complaints"]

LONGEST: Final = 110
MOST_NUMBERS: Final = 3
SHARE_BACK: Final = r"((?:about a quarter|about a third|about half|most|all) of it(?: and more)?)"
FELL: Final = r"(falling|rising|fell|rose|a fall of|a rise of)"
MARKET: Final = r"(?:Crypto|Bitcoin)"
_DAY_HOURS: Final = 24


def _shock(match: re.Match[str], ground: Ground) -> Complaints:
    fell = match.group(1) == "fallen"
    hour = ground.raw.market(ground.raw.hour)
    out = off(match.group(2), hour, "the hour")
    return out + unless((hour < 0) == fell, Row.WAY, f"said {match.group(1)} in an hour, was {hour:.2f}%")


def _shock_without_bitcoin(match: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    bitcoin = raw.coin("Bitcoin", raw.hour)
    out = _shock(match, ground) + moved(match, 3, bitcoin, "Bitcoin's hour")
    return out + unless(bitcoin * raw.market(raw.hour) <= 0, Row.REASON, "'but' of a Bitcoin that went the same way")


def _farthest(match: re.Match[str], ground: Ground, bars: int, what: str) -> Complaints:
    """Complain where a coin did not move so much, or not the most the market's way."""
    name, size = match.group(1, 2)
    moves = ground.raw.moves(bars)
    farthest = np.nanmin(moves) if ground.raw.market(bars) < 0 else np.nanmax(moves)
    own = ground.raw.coin(name, bars)
    out = off(size, own, f"{name} in {what}")
    return out + unless(
        abs(own - farthest) <= 0.02, Row.SUPERLATIVE, f"{name} is not the coin that moved most in {what}"
    )


def _hour_coin(match: re.Match[str], ground: Ground) -> Complaints:
    return _farthest(match, ground, ground.raw.hour, "an hour")


def _day_coin(match: re.Match[str], ground: Ground) -> Complaints:
    return _farthest(match, ground, ground.raw.day, "a day")


def _is_largest(match: re.Match[str], ground: Ground, bars: int, what: str) -> Complaints:
    """Complain where a window of the last year that was over before this one began had a larger fall, or rise."""
    moves = ground.raw.year(bars)
    sign = -1 if match.group(1) == "fall" else 1
    beaten = np.nanmax(sign * moves[:-bars], initial=-np.inf) >= sign * moves[-1] - 1e-6
    out = span(match.group(2), ground.raw)
    return out + unless(not beaten, Row.SUPERLATIVE, f"not the largest {what} {match.group(1)}")


def _record_hour(match: re.Match[str], ground: Ground) -> Complaints:
    return _is_largest(match, ground, ground.raw.hour, "hourly")


def _record_day(match: re.Match[str], ground: Ground) -> Complaints:
    return _is_largest(match, ground, ground.raw.day, "day's")


def _rare_hour(match: re.Match[str], ground: Ground) -> Complaints:
    moves = np.nan_to_num(np.abs(ground.raw.year(ground.raw.hour)))
    out = span(match.group(2), ground.raw)
    return out + unless(np.mean(moves >= moves[-1]) <= 0.002, Row.SUPERLATIVE, "not one of the largest hours")


def _day(match: re.Match[str], ground: Ground) -> Complaints:
    return moved(match, 1, ground.raw.market(ground.raw.day), "the day")


def _bitcoin(match: re.Match[str], ground: Ground) -> Complaints:
    return moved(match, 1, ground.raw.coin("Bitcoin", ground.raw.day), "Bitcoin's day")


def _but_bitcoin(match: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    market = raw.market(raw.day)
    parted = raw.coin("Bitcoin", raw.day) * market <= 0 or abs(market) < UNCHANGED
    return _bitcoin(match, ground) + unless(parted, Row.REASON, "'but' of a Bitcoin that went the same way")


def _but_hours(match: re.Match[str], ground: Ground, bars: int, what: str) -> Complaints:
    """Complain where the last hours did not move so, or not against the day."""
    raw = ground.raw
    move = raw.market(bars)
    out = moved(match, 1, move, what)
    return out + unless(move * raw.market(raw.day) < 0, Row.REASON, f"'but' of {what} that went with the day")


def _last_hour(match: re.Match[str], ground: Ground) -> Complaints:
    return _but_hours(match, ground, ground.raw.hour, "the last hour")


def _three_hours(match: re.Match[str], ground: Ground) -> Complaints:
    return _but_hours(match, ground, 3 * ground.raw.hour, "the last three hours")


def _went_on(match: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    hour = raw.market(raw.hour)
    out = off(match.group(1), hour, "the last hour")
    return out + unless(hour * raw.market(raw.day) > 0, Row.REASON, "'and' of an hour that went against the day")


def _extreme(match: re.Match[str], ground: Ground) -> Complaints:
    line = ground.raw.line()
    bar = int(line.argmin() if match.group(1) == "down" else line.argmax())
    out = moved(match, 1, float(line[bar]), "the extreme")
    return out + at(match.group(4), len(line) - 1 - bar, ground.raw, "the extreme")


def _one_hour(match: re.Match[str], ground: Ground) -> Complaints:
    """Complain unless an hour of such size, of the sign said, ended then, and is the day's largest."""
    verb, size, ago = match.group(1, 2, 3)
    raw = ground.raw
    largest, bars_ago = raw.largest
    out = off(size, largest, "the largest hour") + at(ago, bars_ago, raw, "the largest hour")
    fell = verb in {"falling", "fell", "a fall of"}
    out += unless((largest < 0) == fell, Row.WAY, f"said {verb} in one hour, was {largest:.2f}%")
    against = largest * raw.market(raw.day) < 0
    return out + unless(
        against == match.group(0).startswith(", despite") or largest * raw.market(raw.day) == 0,
        Row.REASON,
        f"{match.group(0)!r} of a day of {raw.market(raw.day):.2f}%",
    )


def _part_of_day(match: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    largest, bars_ago = raw.largest
    share = largest / raw.market(raw.day)
    low, high = {"all": (0.95, 1.35), "most": (0.55, 1.05), "half": (0.45, 0.65)}[match.group(1)]
    out = unless(low <= share <= high, Row.REASON, f"{match.group(1)} of the day in one hour: a share of {share:.2f}")
    return out + at(match.group(2), bars_ago, raw, "the largest hour")


def _leads(match: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    days = raw.moves(raw.day)
    fell = match.group(1) == "fell"
    farthest = np.nanmin(days) if fell else np.nanmax(days)
    own = raw.coin("Bitcoin", raw.day)
    out = off(match.group(2), own, "Bitcoin's day")
    out += unless((raw.market(raw.day) < 0) == fell, Row.WAY, f"{match.group(1)} most, of another day")
    return out + unless(
        abs(own - farthest) <= 0.02, Row.SUPERLATIVE, f"Bitcoin {match.group(1)} most, which it did not"
    )


def _bitcoin_too(match: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    own = raw.coin("Bitcoin", raw.day)
    out = off(match.group(1), own, "Bitcoin's day")
    return out + unless(own * raw.market(raw.day) >= 0, Row.WAY, "Bitcoin went the other way")


def _after(match: re.Match[str], ground: Ground) -> Complaints:
    largest, bars_ago = ground.raw.largest
    fell = match.group(1) == "fell"
    out = off(match.group(2), largest, "the largest hour") + at(match.group(3), bars_ago, ground.raw, "it")
    return out + unless((largest < 0) == fell, Row.WAY, f"{match.group(1)} in one hour, was {largest:.2f}%")


def _back(raw: Raw) -> float:
    largest, bars_ago = raw.largest
    return 1 - raw.market(bars_ago + raw.hour) / largest


def _stayed(_: re.Match[str], ground: Ground) -> Complaints:
    back = _back(ground.raw)
    return unless(abs(back) <= 0.2, Row.WAY, f"has stayed there: {back:.2f} of it is undone")


def _won_back(match: re.Match[str], ground: Ground) -> Complaints:
    largest, _ = ground.raw.largest
    shares = {
        "about a quarter of it": (0.1, 0.31),
        "about a third of it": (0.27, 0.42),
        "about half of it": (0.38, 0.62),
        "most of it": (0.55, 0.92),
        "all of it": (0.85, 1.2),
        "all of it and more": (1.1, 99.0),
    }
    low, high = shares[match.group(2)]
    back = _back(ground.raw)
    out = unless(low <= back <= high, Row.FIGURE, f"{match.group(0)}: {back:.2f}")
    return out + unless((match.group(1) == "won back") == (largest < 0), Row.WAY, f"{match.group(1)} of {largest:.2f}%")


def _more_since(match: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    largest, bars_ago = raw.largest
    since = raw.market(bars_ago) if bars_ago else 0.0
    out = off(match.group(2), since, "since the largest hour")
    same = since * largest > 0 and (match.group(1) == "lost") == (since < 0)
    return out + unless(same, Row.WAY, f"{match.group(1)} more: {since:.2f}% after {largest:.2f}%")


def _alone(match: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    days = raw.moves(raw.day)
    name = match.group(1)
    own = raw.coin(name, raw.day)
    if name not in {known for known, asset in NAMES.items() if asset in raw.assets}:
        return [Complaint(Row.FORM, f"no such coin: {name}")]
    others = np.delete(days, raw.assets.index(NAMES[name]))
    others = others[np.isfinite(others)]
    out = moved(match, 2, own, name)
    spread = others.max() - others.min()
    far = abs(own - np.median(others)) >= max(6, spread) - 0.02
    out += unless(far, Row.SUPERLATIVE, f"{name} does not stand out")
    return out + unless(len(others) == count(match.group(5)), Row.FIGURE, f"{match.group(5)} others, of {len(others)}")


def _of_others(match: re.Match[str], ground: Ground, near: float, far: float) -> Complaints:
    """Complain unless all coins but the lowest or the highest lie between two moves and reach them."""
    days = ground.raw.moves(ground.raw.day)
    days = np.sort(days[np.isfinite(days)])
    slack = (0.06 if abs(near) < 10 else 0.51) + 0.011, (0.06 if abs(far) < 10 else 0.51) + 0.011
    fits = any(abs(near - of[0]) <= slack[0] and abs(far - of[-1]) <= slack[1] for of in (days[:-1], days[1:]))
    return unless(fits, Row.FIGURE, f"the others {match.group(0)}, not so: {days.round(2)}")


def _others_between(match: re.Match[str], ground: Ground) -> Complaints:
    low, high = (number(text.rstrip("%")) or 0.0 for text in match.group(1, 2))
    return unless(low <= high, Row.ORDER, f"{match.group(0)}: the larger first") + _of_others(match, ground, low, high)


def _others_one_way(match: re.Match[str], ground: Ground) -> Complaints:
    near, far = float(match.group(2)), float(match.group(3))
    out = unless(near <= far, Row.ORDER, f"{match.group(0)}: the larger first")
    return out + (
        _of_others(match, ground, near, far) if match.group(1) == "up" else _of_others(match, ground, -far, -near)
    )


def _until(match: re.Match[str], ground: Ground) -> Complaints:
    line = ground.raw.line()
    fell = match.group(1) == "fell"
    turn = int(line.argmin() if fell else line.argmax())
    start = line[: turn + 1].max() if fell else line[: turn + 1].min()
    first, second = _move(float(start), float(line[turn])), _move(float(line[turn]), float(line[-1]))
    out = at(match.group(3), len(line) - 1 - turn, ground.raw, "the turn")
    out += off(match.group(2), first, "the first leg") + off(match.group(5), second, "the second leg")
    return out + unless((match.group(4) == "risen") == fell, Row.ORDER, "two legs one way")


def _legs(match: re.Match[str], ground: Ground) -> Complaints:
    line = ground.raw.line()
    top, bottom = int(line.argmax()), int(line.argmin())
    rose_first = top < bottom
    first = float(line[min(top, bottom)])
    out = off(match.group(2), first, "the first leg")
    out += off(match.group(4), _move(first, float(line[max(top, bottom)])), "the second leg")
    in_order = (match.group(1) == "rose") == rose_first and (match.group(3) == "fell") == rose_first
    return out + unless(in_order, Row.ORDER, "legs in the wrong order")


def _move(then: float, now: float) -> float:
    """Return the move between two points of a line, percent."""
    return 100 * ((1 + now / 100) / (1 + then / 100) - 1)


def _is_now(match: re.Match[str], ground: Ground) -> Complaints:
    day = ground.raw.market(ground.raw.day)
    out = off(match.group(1), day, "the day")
    return out + unless((match.group(2) == "higher") == (day > 0), Row.WAY, f"said {match.group(2)}, was {day:.2f}%")


def _no_change(_: re.Match[str], ground: Ground) -> Complaints:
    day = ground.raw.market(ground.raw.day)
    return unless(abs(day) < UNCHANGED, Row.WAY, f"no change of {day:.2f}%")


def _in_a_row(match: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    days = count(match.group(2))
    fell = match.group(1) == "fallen"
    out = moved(match, 3, raw.market(raw.day * days), "all the days")
    out += off(match.group(6), raw.market(raw.day), "the last day")
    for day in range(days):
        move = raw.market(raw.day, raw.now - raw.day * day)
        out += unless((move < 0) == fell, Row.ORDER, f"day {day} of the row moved {move:.2f}%")
    return out


def _row_turned(match: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    days = count(match.group(4))
    out = moved(match, 1, raw.market(raw.day * days), "the days in a row")
    for day in range(1, days):
        move = raw.market(raw.day, raw.now - raw.day * day)
        out += unless((move < 0) == (match.group(1) == "down"), Row.ORDER, f"day {day} of the row moved {move:.2f}%")
    return out


def _week(match: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    week, day = raw.market(7 * raw.day), raw.market(raw.day)
    out = off(match.group(1), week, "the week")
    out += unless((match.group(2) == "higher") == (week > 0), Row.WAY, f"a week {match.group(2)}, was {week:.2f}%")
    return out + unless(abs(day) <= 1.2 * raw.usual(raw.day), Row.ROUGH, f"little changed in a day of {day:.2f}%")


def _split(match: re.Match[str], ground: Ground) -> Complaints:
    best, up, worst, down = match.group(1, 2, 3, 4)
    raw = ground.raw
    days = raw.moves(raw.day)
    high, low = raw.coin(best, raw.day), raw.coin(worst, raw.day)
    out = off(up, high, best) + off(down, low, worst)
    extreme = high >= np.nanmax(days) - 0.02 and low <= np.nanmin(days) + 0.02
    out += unless(extreme, Row.SUPERLATIVE, "not the best and the worst coin")
    return out + unless(high > 0 > low, Row.WAY, "not parted")


def _against_usual(match: re.Match[str], ground: Ground) -> Complaints:
    ratio = abs(ground.raw.market(ground.raw.day)) / ground.raw.usual(ground.raw.day)
    low, high = {
        "about as much as usual": (0.6, 1.4),
        "more than usual": (1.1, 1.95),
        "about twice as much as usual": (1.54, 2.66),
        "far more than usual": (2.1, 99.0),
    }[match.group(1)]
    out = _of_a_record(ground.raw)
    return out + unless(low <= ratio <= high, Row.ROUGH, f"{match.group(1)}: {ratio:.2f} usual days")


def _of_a_record(raw: Raw) -> Complaints:
    """Complain where something is called usual, ordinary or rough on a record of under two weeks."""
    return unless(raw.record_days >= 13.9, Row.SHARE, f"a yardstick of {raw.record_days:.1f} days")


def _quiet(match: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    wide = float(raw.history.wide[raw.now])
    out = off(match.group(1), wide, "Bitcoin's range")
    moves = np.abs(raw.series(raw.hour)[-12 * raw.hour :])
    out += unless(
        np.nanmax(moves) <= 4.5 * raw.usual(raw.hour), Row.QUIET, f"quiet after an hour of {np.nanmax(moves):.2f}%"
    )
    ranges = raw.history.wide[: raw.now + 1][-365 * raw.day :]
    middle = float(np.nanmedian(ranges[:: -raw.hour]))
    return out + unless(wide <= 1.05 * middle, Row.ROUGH, f"quiet in {wide:.2f}%, of which {middle:.2f}% is the middle")


def _quietest(match: re.Match[str], ground: Ground) -> Complaints:
    out = span(match.group(1), ground.raw)
    is_calmest = ground.raw.history.is_calmest(ground.raw.now)
    return out + unless(is_calmest, Row.SUPERLATIVE, "not the narrowest day")


def _mixed(match: re.Match[str], ground: Ground) -> Complaints:
    days = ground.raw.moves(ground.raw.day)
    said = tuple(count(word) for word in match.group(1, 2))
    true = (int((days > 0.1).sum()), int((days < -0.1).sum()))
    near = int((np.abs(np.abs(days) - 0.1) < 0.01).sum())
    far = max(abs(one - other) for one, other in zip(said, true, strict=True))
    return unless(far <= near, Row.FIGURE, f"{said} coins up and down, of {true}")


def _kind(match: re.Match[str], ground: Ground) -> Complaints:
    """Complain of a word for the day that the mean size of its bars' moves does not bear out."""
    raw = ground.raw
    rank = float(raw.history.day_ranks[raw.now])
    out = _of_a_record(raw)
    if match.group(1) == "an ordinary one":
        largest, _ = raw.largest
        ratio = abs(raw.market(raw.day)) / raw.usual(raw.day)
        out += unless(ratio <= 1.6, Row.LARGEST, f"an ordinary day of {ratio:.2f} usual ones")
        calm = abs(largest) <= 7 * raw.usual(raw.hour)
        out += unless(calm, Row.LARGEST, f"an ordinary day with an hour of {largest:.2f}%")
        return out + unless(rank <= 0.85, Row.ROUGH, f"an ordinary day, rougher than {rank:.2f} of days")
    least = 0.6 if match.group(1) == "a rough one" else 0.85
    return out + unless(rank >= least, Row.ROUGH, f"{match.group(1)}: rougher than {rank:.2f} of days")


def _average(match: re.Match[str], ground: Ground) -> Complaints:
    return moved(match, 1, ground.raw.market(ground.raw.day), "the average coin")


def _bitcoin_hour(match: re.Match[str], ground: Ground) -> Complaints:
    return moved(match, 1, ground.raw.coin("Bitcoin", ground.raw.hour), "Bitcoin's hour")


def _price(match: re.Match[str], ground: Ground) -> Complaints:
    return dollars(match.group(1), ground.published.prices.get("BTC", float("nan")), "Bitcoin")


def _no_prices(_: re.Match[str], ground: Ground) -> Complaints:
    return unless("BTC" not in ground.published.prices, Row.FIGURE, "Bitcoin has a price")


def _stale(match: re.Match[str], ground: Ground) -> Complaints:
    return lasting(match.group(1), ground.published.minutes_old.get("BTC", 0.0))


def _just_started(_: re.Match[str], ground: Ground) -> Complaints:
    age = _DAY_HOURS * ground.raw.record_days
    return unless(age <= 1.1, Row.ORDER, f"just started {age:.1f} hours ago")


def _began(match: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    age = _DAY_HOURS * raw.record_days
    first, final = hours(match.group(1))
    first_close = raw.closes[np.isfinite(raw.closes[:, 0])][0, 0]
    out = unless(first <= age <= final, Row.ORDER, f"the record began {age:.1f} hours ago, not {match.group(1)}")
    return out + moved(match, 2, 100 * float(raw.closes[-1, 0] / first_close - 1), "Bitcoin since the start")


def _part_missing(_: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    ends = (raw.now, raw.now - raw.hour, raw.now - raw.day)
    missing = any(end < 0 or np.isnan(raw.history.believed[max(0, end - 3) : end + 1]).any() for end in ends)
    return unless(missing, Row.FIGURE, "no part of the day is missing")


def _records(match: re.Match[str], ground: Ground) -> Complaints:
    return span(match.group(1), ground.raw)


def _is_known(_: re.Match[str], ground: Ground) -> Complaints:
    return unless(ground.raw.record_days <= 3.2, Row.FORM, "the age of a record that is not young")


HEADLINE: Final[Claims] = claims(
    (
        # What is not known.
        (r"^No fresh prices: what the market did is unknown$", _no_prices),
        (rf"^No new prices for {LASTING}", _stale),
        (rf"^; Bitcoin was last at {DOLLARS}$", _price),
        (r"^Just started", _just_started),
        (rf"^We began to watch {AGO}: Bitcoin is {MOVED} since$", _began),
        (r"^Part of the last day is missing", _part_missing),
        (rf"^(?:;|:) Bitcoin is at {DOLLARS}", _price),
        (rf"^, {MOVED} in an hour$", _bitcoin_hour),
        (rf"^, the average coin {MOVED}", _average),
        (rf"^; our records are {SPAN} old$", _records),
        # A shock, a great day, the hours after.
        (rf"^Crypto has (fallen|risen) {SIZE} in an hour, but Bitcoin is {MOVED}$", _shock_without_bitcoin),
        (rf"^{MARKET} has (fallen|risen) {SIZE} in an hour", _shock),
        (rf"^ \({COIN} {SIZE}\)(?=, its largest hourly|, one of its largest hourly|$)", _hour_coin),
        (rf"^, its largest hourly (fall|rise) in {SPAN}", _record_hour),
        (rf"^, one of its largest hourly (fall|rise)s in {SPAN}", _rare_hour),
        (rf"^{MARKET} is {MOVED} in a day(?!, but the average|, the average|; our)", _day),
        (rf"^ \({COIN} {SIZE}\)", _day_coin),
        (rf"^, its largest (fall|rise) in {SPAN}", _record_day),
        (rf"^ and {SIZE} in the last hour", _went_on),
        (rf"^, but {MOVED} in the last hour", _last_hour),
        (rf"^, but {MOVED} in the last three hours", _three_hours),
        (rf"^, after being {MOVED} {AGO}", _extreme),
        (rf"^(?:,|;) (?:despite |it |after ){FELL} {SIZE} in one hour, {AGO}", _one_hour),
        (rf"^, (all|most|half) of it in one hour, {AGO}", _part_of_day),
        (rf"^; Bitcoin (fell|rose) most, {SIZE}", _leads),
        (rf"^: {COIN} (?:by )?{SIZE}", _day_coin),
        (rf"^, Bitcoin {SIZE}$", _bitcoin_too),
        (rf"^(?:; but|, but) Bitcoin is {MOVED}", _but_bitcoin),
        (rf"^; Bitcoin is {MOVED}", _bitcoin),
        (
            r"^, (about as much as usual|more than usual|about twice as much as usual|far more than usual)",
            _against_usual,
        ),
        (r"^, (an ordinary one|a rough one|a wild one)", _kind),
        (rf"^{MARKET} (fell|rose) {SIZE} in one hour, {AGO}", _after),
        (r"^, and has stayed there", _stayed),
        (rf"^, and has (won back|given back) {SHARE_BACK}", _won_back),
        (rf"^, and has (lost|gained) {SIZE} more since", _more_since),
        # Coins, legs, days in a row, a week.
        (rf"^{COIN} stands out: {MOVED} in a day; the other ([a-z]+) ", _alone),
        (rf"^lie between ([+{MINUS}]?[\d.]+%) and ([+{MINUS}]?[\d.]+%)", _others_between),
        (rf"^are (up|down) ([\d.]+) to {SIZE}", _others_one_way),
        (rf"^{MARKET} (fell|rose) {SIZE} until {AGO} and has (risen|fallen) {SIZE} since", _until),
        (rf"^{MARKET} (fell|rose) {SIZE}, (fell|rose) {SIZE}", _legs),
        (rf"^ and is now {SIZE} (higher|lower) than a day ago", _is_now),
        (rf"^(?: and is now|{MARKET} is) where it was a day ago", _no_change),
        (
            rf"^{MARKET} has (fallen|risen) ([a-z]+) days in a row: {MOVED} in all, {SIZE} in the last day",
            _in_a_row,
        ),
        (rf"^{MARKET} is {MOVED} in ([a-z]+) days", _row_turned),
        (rf"^Little changed in a day, but (?:crypto|Bitcoin) is {SIZE} (higher|lower) than a week ago", _week),
        (rf"^Coins part ways: {COIN} up {SIZE} in a day, {COIN} down {SIZE}", _split),
        (rf"^, Bitcoin {MOVED}$", _bitcoin),
        # A quiet day, and the rest.
        (rf"^Quiet: Bitcoin has stayed within {SIZE} for a day", _quiet),
        (rf"^ and is {MOVED}$", _bitcoin),
        (rf"^Bitcoin's quietest day in {SPAN}", _quietest),
        (rf"^: it has stayed within {SIZE}$", _quiet),
        (rf"^Bitcoin is {MOVED} in a day(?=, the average|; our)", _bitcoin),
        (rf"^Bitcoin is {MOVED} in a day", _bitcoin),
        (rf"^, but the average coin is {MOVED}$", _average),
        (r"^Mixed: ([a-z]+) coins? up in a day, ([a-z]+) down", _mixed),
    )
)


def complaints(headline: str, raw: Raw, published: Published | None = None) -> Complaints:
    """Return what is untrue in a headline, and what it leaves out."""
    ground = Ground(raw, published or Published())
    out = unless(len(headline) <= LONGEST, Row.FORM, f"{len(headline)} characters")
    numbers = re.findall(r"\d+(?:[.,]\d+)*", headline)
    out += unless(len(numbers) <= MOST_NUMBERS, Row.FORM, "more than three numbers")
    out += read(headline, HEADLINE, ground)
    if headline.startswith(_OF_YOUNG):
        return out
    return out + omissions(headline, raw)


_OF_YOUNG: Final = ("No fresh", "No new", "Just started", "We began", "Part of")


def omissions(headline: str, raw: Raw) -> Complaints:
    """Complain where a headline leaves out what everyone sees on the line under it.

    A day of three usual ones, an hour of nine; a day's verb that most coins or Bitcoin deny; hours that turned.
    """
    if "our records are" in headline:
        return []
    days = raw.moves(raw.day)
    usual = raw.usual(raw.day)
    market = raw.market(raw.day)
    up, down = int((days > 0.1).sum()), int((days < -0.1).sum())
    out: Complaints = []

    one_way = max(up, down) >= 0.8 * np.isfinite(days).sum()
    if one_way and abs(np.nanmedian(days)) >= 3 * usual and abs(market) >= 3 * usual:
        way = r"(down|fallen|fell|lost)" if market < 0 else r"(up|risen|rose|gained)"
        given = re.search(rf"^{MARKET} .*\b{way}\b|the other \w+ are {way}", headline)
        out += unless(given, Row.LARGEST, f"a day of {market:.1f}% is left out")
    hour = raw.market(raw.hour)
    if abs(hour) >= max(9 * raw.usual(raw.hour), 1.7):
        named = "hour" in headline or "after being" in headline
        out += unless(named, Row.LARGEST, f"an hour of {hour:.1f}% is left out")

    verb = re.match(r"Crypto is (up|down) .* in a day", headline)
    if verb and abs(market) >= 0.3:
        bitcoin = raw.coin("Bitcoin", raw.day)
        if bitcoin * market < 0 and abs(bitcoin) >= 0.3:
            out += unless("Bitcoin" in headline, Row.WAY, f"{verb[1]}, and Bitcoin {bitcoin:.2f}% is left out")
        against = down if market > 0 else up
        if against > 0.5 * np.isfinite(days).sum() and abs(np.nanmedian(days)) >= 0.3:
            out.append(Complaint(Row.WAY, f"{verb[1]}, but {against} coins went the other way"))
    three = raw.market(3 * raw.hour)
    if verb and three * market < 0 and abs(three) >= usual:
        given = re.search(r"hour|after being|but ", headline)
        out += unless(given, Row.WAY, f"{verb[1]}, and three hours of {three:.2f}% are left out")
    return out
