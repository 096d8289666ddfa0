"""The oracles of the short texts: the first screen, the regime's summary, a coin in a line, its next hour."""

import re
from typing import Final

import numpy as np

from tests.words.claims import (
    DOLLARS,
    LASTING,
    Claims,
    Complaint,
    Complaints,
    Ground,
    Row,
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
from tests.words.figures import COIN, MOVED, SIZE, UNCHANGED, count
from tests.words.published import Chances
from tests.words.raw import NAMES

HIGHER: Final = "(higher|lower)"
RECORD: Final = r"(?:the last )(year|day|less than a day|[a-z0-9]+ (?:months|weeks|days))"
OF_100: Final = r"(all|nearly all|hardly any|\d+ in 100)"
TIMES: Final = (
    r"(about half as wide as|narrower than|about as wide as|half as wide again as|about twice as wide as|"
    r"about [a-z0-9]+ times as wide as)"
)
WORD: Final = "(Calm|Normal|Rough|Wild)"
_YARDSTICK_DAYS: Final = 14
_OF_RANGE: Final = 5.1e-5  # a range is published in hundredths of a percent
_WIDE: Final = {
    "about half as wide as": (0.0, 0.7),
    "narrower than": (0.5, 0.9),
    "about as wide as": (0.7, 1.4),
    "half as wide again as": (1.1, 1.95),
    "about twice as wide as": (1.55, 2.8),
}


def _price(match: re.Match[str], ground: Ground) -> Complaints:
    return dollars(match.group(1), ground.published.prices.get("BTC", float("nan")), "Bitcoin")


def _last_price(match: re.Match[str], ground: Ground) -> Complaints:
    return _price(match, ground) + lasting(match.group(2), ground.published.minutes_old.get("BTC", 0.0))


def _than_a_day_ago(match: re.Match[str], ground: Ground) -> Complaints:
    day = ground.raw.coin("Bitcoin", ground.raw.day)
    out = off(match.group(1), day, "Bitcoin's day")
    return out + unless((match.group(2) == "higher") == (day > 0), Row.WAY, f"Bitcoin {match.group(2)}: {day:.2f}%")


def _as_a_day_ago(_: re.Match[str], ground: Ground) -> Complaints:
    day = ground.raw.coin("Bitcoin", ground.raw.day)
    return unless(abs(day) < UNCHANGED, Row.WAY, f"as it was a day ago, {day:.2f}%")


def _touched(match: re.Match[str], ground: Ground) -> Complaints:
    """Complain unless Bitcoin's high or low of the day was there, then, and is one percent away."""
    raw, place = ground.raw, ground.raw.now
    price = ground.published.prices["BTC"]
    said = float(match.group(1).replace(",", ""))
    is_low = said < price
    edges = raw.history.bottoms if is_low else raw.history.tops
    edge = float(edges[place, 0])
    out = dollars(match.group(1), edge, "the day's low" if is_low else "the day's high")
    out += unless(abs(edge / price - 1) >= 0.0097, Row.REASON, f"touched, and {edge:.6g} is near {price:.6g}")

    day = (raw.history.low if is_low else raw.history.high)[max(0, place - raw.day + 1) : place + 1, 0]
    ago = (len(day) - 1 - np.flatnonzero(np.abs(day / edge - 1) < 1e-6)) / raw.hour
    first, final = (0.0, 1.0) if match.group(2) == "within the last hour" else hours(match.group(2))
    then = ((first - 0.01 <= ago) & (ago <= final + 0.01)).any()
    return out + unless(then, Row.ORDER, f"the edge was {ago.round(1)} hours ago, not {match.group(2)}")


def _range(match: re.Match[str], ground: Ground, asset: str) -> Complaints:
    """Complain of a range that is not the one published, or has the price outside of it."""
    low, high = ground.published.ranges.get(asset, (float("nan"), float("nan")))
    out = dollars(match.group(1), low, "the range's low", _OF_RANGE)
    out += dollars(match.group(2), high, "the range's high", _OF_RANGE)
    price = ground.published.prices.get(asset, float("nan"))
    return out + unless(low <= price <= high, Row.ORDER, f"{price:.6g} outside of its range")


def _bitcoin_range(match: re.Match[str], ground: Ground) -> Complaints:
    return _range(match, ground, "BTC")


def _wide(match: re.Match[str], ground: Ground) -> Complaints:
    """Complain of a width against the median of the ranges published at the record's full hours."""
    ratio = ground.published.width_ratio
    if ratio is None:
        return [Complaint(Row.FIGURE, "no usual width is known")]
    words = match.group(1)
    out = unless(ground.raw.record_days >= 3, Row.SHARE, f"a usual width of {ground.raw.record_days:.1f} days")
    if words in _WIDE:
        low, high = _WIDE[words]
        return out + unless(low <= ratio <= high, Row.FIGURE, f"{words} usual: {ratio:.2f} times")
    times = count(words.split(" ")[1])
    return out + unless(abs(times - ratio) <= 0.5 + 0.12 * ratio, Row.FIGURE, f"{words} usual: {ratio:.2f} times")


def _coins(ground: Ground) -> tuple[int, int, int, int]:
    """Return how many coins are higher, lower, near the limit between, and known."""
    days = ground.raw.moves(ground.raw.day)
    near = int((np.abs(np.abs(days) - 0.1) < 0.011).sum())
    return int((days > 0.1).sum()), int((days < -0.1).sum()), near, int(np.isfinite(days).sum())


def _all_coins(match: re.Match[str], ground: Ground) -> Complaints:
    days = ground.raw.moves(ground.raw.day)
    days = days[np.isfinite(days)] * (1 if match.group(2) == "higher" else -1)
    out = unless(count(match.group(1)) == len(days), Row.FIGURE, f"all {match.group(1)} of {len(days)}")
    return out + unless(days.min() >= 0.089, Row.SUPERLATIVE, f"all {match.group(2)}: {days.round(2)}")


def _some_coins(match: re.Match[str], ground: Ground) -> Complaints:
    up, down, near, known = _coins(ground)
    some = count(match.group(1))
    out = unless(count(match.group(2)) == known, Row.FIGURE, f"of {match.group(2)}, of {known}")
    way, other = (up, down) if match.group(3) == "higher" else (down, up)
    out += unless(abs(some - way) <= near, Row.FIGURE, f"{match.group(1)} {match.group(3)}: {way}")
    return out + unless(way + 2 * near >= other, Row.WAY, f"{way} coins {match.group(3)}, {other} the other way")


def _by_average(match: re.Match[str], ground: Ground) -> Complaints:
    return off(match.group(1), ground.raw.market(ground.raw.day), "the average coin")


def _average(match: re.Match[str], ground: Ground) -> Complaints:
    return moved(match, 1, ground.raw.market(ground.raw.day), "the average coin")


def _average_week(match: re.Match[str], ground: Ground) -> Complaints:
    return moved(match, 1, ground.raw.market(7 * ground.raw.day), "the average coin's week")


def _nothing(_match: re.Match[str], _ground: Ground) -> Complaints:
    return []


FIRST: Final[Claims] = claims(
    (
        (rf"^Bitcoin was last at {DOLLARS}, {LASTING} ago\.", _last_price),
        (rf"^Bitcoin is at {DOLLARS}(?=[,.] |[,.]$|,)", _price),
        (rf"^, {SIZE} {HIGHER} than a day ago\.", _than_a_day_ago),
        (r"^, as it was a day ago\.", _as_a_day_ago),
        (rf"^ It touched {DOLLARS} (within the last hour|an hour ago|two hours ago|three hours ago)\.", _touched),
        (rf"^ An hour from now it should be between {DOLLARS} and {DOLLARS}, nine times in ten", _bitcoin_range),
        (rf"^: {TIMES} usual", _wide),
        (r"^ Which way\? Nobody knows, nor do we\.", _nothing),
        (rf"^ All ([a-z]+) coins are {HIGHER} than a day ago", _all_coins),
        (rf"^ ([A-Z][a-z]+) of ([a-z]+) coins (?:are|is) {HIGHER} than a day ago", _some_coins),
        (rf"^, by {SIZE} on average", _by_average),
        (rf"^; the average is {MOVED}", _average),
        (rf"^; over a week the average is {MOVED}", _average_week),
        (r"^\.", _nothing),
    )
)


def first_screen(text: str, ground: Ground) -> Complaints:
    """Return what is untrue on the first screen, under its headline."""
    return read(text, FIRST, ground)


def _is_rising(match: re.Match[str], ground: Ground) -> Complaints:
    """Complain of a side that the day's sign, its last six hours, or its turn deny."""
    raw = ground.raw
    line = raw.line()
    day, usual = raw.market(raw.day), raw.usual(raw.day)
    side = match.group(1)
    if side == "flat":
        wide = float(line.max() - line.min()) / usual
        out = unless(abs(day) <= 1.02 * usual, Row.WAY, f"a flat day of {day:.2f}%, usual {usual:.2f}%")
        return out + unless(wide <= 2.6, Row.WAY, f"a flat day with a range of {wide:.2f} usual days")
    sign = 1 if side == "rising" else -1
    out = unless(sign * day >= 0.1 * usual, Row.WAY, f"a {side} day of {day:.2f}%")
    six = sign * raw.market(6 * raw.hour)
    out += unless(not six <= -1.05 * usual, Row.WAY, f"a {side} day that turned by {six:.2f}% in six hours")
    extreme = float((sign * line).max())
    back = extreme - sign * day
    turned = back > 0.8 * extreme and back >= 1.3 * usual
    return out + unless(not turned, Row.WAY, f"a {side} day of {day:.2f}% that was at {extreme:.2f}%")


def _ups_and_downs(match: re.Match[str], ground: Ground) -> Complaints:
    """Complain unless the day's line went both ways: it has a range, and the day is not most of it."""
    raw = ground.raw
    line = raw.line()
    wide = 100 * ((1 + float(line.max()) / 100) / (1 + float(line.min()) / 100) - 1)
    out = off(match.group(1), wide, "the day's line")
    usual = raw.usual(raw.day)
    out += unless(wide >= 0.55 * usual, Row.WAY, f"ups and downs of {wide:.2f}%, usual {usual:.2f}%")
    net = abs(raw.market(raw.day)) / wide
    return out + unless(net <= 0.97, Row.WAY, f"ups and downs of a day that is {net:.2f} of its range")


def _crypto_day(match: re.Match[str], ground: Ground) -> Complaints:
    return moved(match, 1, ground.raw.market(ground.raw.day), "the day")


def _crypto_week(match: re.Match[str], ground: Ground) -> Complaints:
    return moved(match, 1, ground.raw.market(7 * ground.raw.day), "the week")


def _week_alike(match: re.Match[str], ground: Ground) -> Complaints:
    raw = ground.raw
    week = raw.market(7 * raw.day)
    out = off(match.group(1), week, "the week")
    return out + unless(week * raw.market(raw.day) > 0, Row.WAY, f"a week of {week:.2f}% said without its sign")


def _calm_hours(match: re.Match[str], ground: Ground) -> Complaints:
    rank = ground.published.outlook_rank
    return _in_100(match, ground, None if rank is None else 1 - rank) + _volatility("Calm", ground)


def _rough_hours(match: re.Match[str], ground: Ground) -> Complaints:
    said = re.sub("^.*rougher than ", "", match.group(0))
    of_100 = re.match(rf"{OF_100} hours of {RECORD} did", said)
    assert of_100
    return _in_100(of_100, ground, ground.published.outlook_rank) + _volatility(match.group(1), ground)


def _in_100(match: re.Match[str], ground: Ground, share: float | None) -> Complaints:
    """Complain of a share of the record's hours that those published do not give, or of too few."""
    text, record = match.group(1, 2)
    out = span("a year" if record == "year" else record, ground.raw)
    out += unless(ground.raw.record_days >= 2.9, Row.SHARE, f"a rank in {ground.raw.record_days:.1f} days")
    if share is None:
        return [*out, Complaint(Row.FIGURE, "no rank is known")]
    percent = 100 * share
    low, high = {"all": (99.4, 100.0), "nearly all": (98.9, 100.0), "hardly any": (0.0, 1.1)}.get(text, (0.0, 0.0))
    # Hours as rough as the next ones may be counted to either side.
    near = 100 * ground.published.outlook_near
    low, high = low - near, high + near
    if "in 100" in text:
        said = float(text.split(" ")[0])
        # An hour of a young record is more than one in 100.
        slack = 1.1 + 110 / (24 * ground.raw.record_days) + near
        low, high = said - slack, said + slack
    return out + unless(low <= percent <= high, Row.FIGURE, f"{text} hours, of {percent:.1f} in 100")


def _volatility(word: str, ground: Ground) -> Complaints:
    """Complain of a word that its own rank, or the mean sizes of the moves so far, do not bear out."""
    raw = ground.raw
    day, near = float(raw.history.day_ranks[raw.now]), float(raw.history.near_ranks[raw.now])
    last = float(raw.history.hour_ranks[raw.now])
    hour = raw.usual(raw.hour)
    moves = np.abs(raw.series(raw.hour)[-12 * raw.hour :])
    # The outlook knows the hour of the day, which the moves so far do not: only a gross contradiction counts.
    was = f"of days {day:.2f}, of four hours {near:.2f}, of hours {last:.2f} were less rough"
    rank = ground.published.outlook_rank
    low, high = {"Calm": (0.0, 0.51), "Normal": (0.0, 0.89), "Rough": (0.41, 1.0), "Wild": (0.76, 1.0)}[word]
    out = unless(rank is None or low <= rank <= high, Row.ROUGH, f"{word} with a rank of {rank}")
    if word == "Calm":
        out += unless(day <= 0.6, Row.ROUGH, f"calm: {was}")
        shock = float(np.nanmax(moves))
        return out + unless(shock <= 4.5 * hour, Row.QUIET, f"calm after an hour of {shock:.2f}%")
    if word == "Normal":
        # The sentence is about the next hours: a rough day that has calmed down in its last hour does not refute it.
        return out + unless(min(day, near) <= 0.98 or last <= 0.85, Row.ROUGH, f"normal: {was}")
    least = {"Rough": 0.1, "Wild": 0.3}[word]
    # Three days are few to be ranked among: there, hours that move more than is usual of the market are rough too.
    sizes = np.abs(raw.series(raw.hour)[-raw.day :: raw.hour])
    is_rough = raw.record_days < _YARDSTICK_DAYS and np.nanmean(sizes) >= hour
    return out + unless(is_rough or max(day, near, last) >= least, Row.ROUGH, f"{word.lower()}: {was}")


def _unknown_day(_: re.Match[str], ground: Ground) -> Complaints:
    """Complain where the day is known: its line to now, and, of three coins, by prices of under ten minutes."""
    raw = ground.raw
    is_known = np.isfinite(raw.line()).all() and np.isfinite(raw.market(raw.day)) and raw.record_days >= 3.2
    return unless(not is_known, Row.FIGURE, "the day is known")


REGIME: Final[Claims] = claims(
    (
        (r"^What the market did over the last day is not known\.", _unknown_day),
        (rf"^A day of ups and downs: (?:crypto|Bitcoin) swung {SIZE}(?= and is)", _ups_and_downs),
        (rf"^ and is {MOVED} in 24 hours", _crypto_day),
        (r"^(?:Crypto|Bitcoin)(?= is)", _nothing),
        (r"^A (rising|falling|flat) day: (?:crypto|Bitcoin)", _is_rising),
        (rf"^ is {MOVED} in 24 hours", _crypto_day),
        (rf"^ and {SIZE} in a week", _week_alike),
        (rf"^ and {MOVED} in a week", _crypto_week),
        (rf"^ Calm: the next four hours look quieter than {OF_100} hours of {RECORD} did", _calm_hours),
        (rf"^ {WORD}: the next four hours look rougher than {OF_100} hours of {RECORD} did", _rough_hours),
        (r"^\.", _nothing),
    )
)


def regime(text: str, ground: Ground) -> Complaints:
    """Return what is untrue in the state of the market in words."""
    return read(text, REGIME, ground)


FOCUS: Final = re.compile(rf"^{COIN}\b")


def asset(text: str, ground: Ground) -> Complaints:
    """Return what is untrue in one coin's line."""
    found = FOCUS.match(text)
    if not found:
        return [Complaint(Row.FORM, f"no coin: {text!r}")]
    coin = found[1]
    column = ground.raw.assets.index(NAMES[coin]) if NAMES[coin] in ground.raw.assets else None
    price = ground.published.prices.get(NAMES[coin], float("nan"))

    def edge(*, top: bool) -> float:
        edges = ground.raw.history.tops if top else ground.raw.history.bottoms
        value = float("nan") if column is None else float(edges[ground.raw.now, column])
        return max(value, price) if top else min(value, price)

    def near_edge(match: re.Match[str], _: Ground) -> Complaints:
        high, low = edge(top=True), edge(top=False)
        place = (price - low) / (high - low)
        fits = place >= 0.895 if match.group(1) == "high" else place <= 0.105
        return unless(fits, Row.WAY, f"near its day's {match.group(1)}, {place:.2f} of the way up")

    def from_edge(match: re.Match[str], _: Ground) -> Complaints:
        top = match.group(3) == "high"
        distance = 100 * (1 - price / edge(top=True)) if top else 100 * (price / edge(top=False) - 1)
        out = unless((match.group(2) == "below") == top, Row.WAY, f"{match.group(0)}")
        return out + off(match.group(1), distance, f"{coin} from its day's {match.group(3)}")

    def own_price(match: re.Match[str], _: Ground) -> Complaints:
        return dollars(match.group(1), price, coin)

    def last_price(match: re.Match[str], ground: Ground) -> Complaints:
        age = ground.published.minutes_old.get(NAMES[coin], 0.0)
        return own_price(match, ground) + lasting(match.group(2), age)

    def own_day(match: re.Match[str], _: Ground) -> Complaints:
        return moved(match, 1, ground.raw.coin(coin, ground.raw.day), f"{coin}'s day")

    def own_range(match: re.Match[str], _: Ground) -> Complaints:
        return _range(match, ground, NAMES[coin])

    def unknown(_: re.Match[str], __: Ground) -> Complaints:
        return unless(not price == price, Row.FIGURE, f"{coin} has a price")  # noqa: PLR0124, SIM201 -- NaN

    of_coin = tuple(
        zip(_ASSET, (unknown, last_price, own_price, own_day, near_edge, from_edge, own_range, _nothing), strict=True)
    )
    return read(text[found.end() :], of_coin, ground)


_ASSET: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"^: no price is known\.$",
        rf"^ was last at {DOLLARS}, {LASTING} ago\.$",
        rf"^ {DOLLARS}(?=[,.])",
        rf"^, {MOVED} in a day",
        r"^, near its day's (high|low)",
        rf"^, {SIZE} (below|above) its day's (high|low)",
        rf"^ In an hour, nine times in ten between {DOLLARS} and {DOLLARS}",
        r"^\.",
    )
)


def _percent(said: str | None, true: float, what: str) -> Complaints:
    """Complain of a chance that is another; of none where none is said."""
    is_true = said is None or abs(float(said) - true) <= 0.52
    return unless(is_true, Row.FIGURE, f"{what}: said {said}%, {true:.1f}%")


def _usually(text: str, chance: Chances, ground: Ground, asset: str) -> Complaints:
    """Complain of a usual chance that the range's width surely denies, and of none where the width surely does not."""
    width = ground.published.width_ratio if asset == "BTC" else None
    more = chance.usual_small - chance.small  # points by which a move is likelier than usual
    if "usual" in text:
        if width is None or ground.raw.record_days < 3.2:
            return []
        low, high = _WIDE["about as wide as"]
        is_denied = (width > high and more < 4.9) or (width < low and more > -4.9)
        return unless(not is_denied, Row.REASON, f"usually, {more:+.1f} points under a range of {width:.2f} times")

    if text.startswith("The call for") or not re.search(r"\d+%\)?\.$", text):
        return []
    may_be_denied = width is not None and (
        (width > _WIDE["half as wide again as"][0] and more < 5.1)
        or (width < _WIDE["narrower than"][1] and more > -5.1)
    )
    return unless(may_be_denied and ground.raw.record_days > 2.8, Row.SHARE, "a chance, and not what is usual")


def call(text: str, ground: Ground) -> Complaints:
    """Return what is untrue in one coin's next hour in words: held against the chances published."""
    found = re.search(rf"\b{COIN}\b", text)
    if not found:
        return [Complaint(Row.FORM, f"no coin: {text!r}")]
    asset_of = NAMES[found[1]]
    chance = ground.published.chances.get(asset_of)
    if chance is None:
        return [Complaint(Row.FIGURE, "no chance is known")]
    price = ground.published.prices[asset_of]
    large, usual_large = 100 - chance.small, 100 - chance.usual_small

    def band(said: str) -> Complaints:
        true = price * chance.band / 100
        value = float(said.replace(",", ""))
        return unless(abs(value / true - 1) <= 0.055, Row.FIGURE, f"a band of ${said}, {true:.4g}")

    def small(match: re.Match[str], _: Ground) -> Complaints:
        out = band(match.group(2)) + _percent(match.group(3), chance.small, "a small move")
        out += _percent(match.group(4), chance.usual_small, "usually")
        return out + unless(chance.small >= 49.9, Row.REASON, f"probably about here, with {chance.small:.1f}%")

    def called(match: re.Match[str], _: Ground) -> Complaints:
        up = match.group(2) == "up"
        own, other = (chance.up, chance.down) if up else (chance.down, chance.up)
        out = _percent(match.group(3), own, "the call") + _percent(match.group(4), other, "the other way")
        return out + unless(chance.call == match.group(2) and own >= other, Row.WAY, f"a call {match.group(2)}")

    def surely(match: re.Match[str], _: Ground) -> Complaints:
        out = band(match.group(3)) + _percent(match.group(5), large, "a large move")
        out += _percent(match.group(6), usual_large, "usually")
        out += unless(
            large >= (94.9 if "almost" in match.group(2) else 49.9), Row.REASON, f"{match.group(2)}: {large}%"
        )
        alike = abs(chance.up - chance.down) <= 2.01
        out += unless(alike or not match.group(4), Row.WAY, f"alike: {chance.up:.1f}% and {chance.down:.1f}%")
        return out + unless(large - usual_large >= 4.9, Row.REASON, f"said of {large}%, usually {usual_large}%")

    def less(match: re.Match[str], _: Ground) -> Complaints:
        out = band(match.group(2)) + _percent(match.group(3), large, "a large move")
        out += _percent(match.group(4), usual_large, "usually")
        return out + unless(usual_large - large >= 4.9, Row.REASON, f"less likely than usual: {large}%, {usual_large}%")

    def most(match: re.Match[str], _: Ground) -> Complaints:
        out = band(match.group(2)) + _percent(match.group(3), large, "a large move")
        out += _percent(match.group(4), usual_large, "usually")
        return out + unless(abs(large - usual_large) <= 5.1, Row.REASON, f"like most: {large}%, {usual_large}%")

    def neutral(match: re.Match[str], _: Ground) -> Complaints:
        return band(match.group(2)) + _percent(match.group(3), large, "a large move")

    said_usual = _usually(text, chance, ground, asset_of)
    return read(text, tuple(zip(_CALL, (small, called, surely, less, most, neutral), strict=True)), ground) + said_usual


_CHANCE: Final = r"\((\d+)%; usually (\d+)%\)\.$"
_MAYBE_USUAL: Final = r"\((\d+)%(?:; usually (\d+)%)?\)\.$"
_MOST: Final = rf"ends it more than {DOLLARS} from here, either way, is (\d+)% \(usually (\d+)%\)\.$"
_LARGE: Final = rf"end the next hour more than {DOLLARS} from here"
_CALL: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^{COIN} will probably be about here in an hour: within {DOLLARS} either way {_MAYBE_USUAL}",
        rf"^The call for {COIN} is (up|down): (\d+)%, against (\d+)% for the other way\.$",
        rf"^{COIN} will (almost surely|probably) {_LARGE}(, up or down alike)? {_CHANCE}",
        rf"^{COIN} is less likely than usual to {_LARGE} {_CHANCE}",
        rf"^An hour like most: the chance that {COIN} {_MOST}",
        rf"^The chance that {COIN} ends the next hour more than {DOLLARS} from here, either way, is (\d+)%\.$",
    )
)
