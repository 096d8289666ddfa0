"""False texts, made of true ones or of true figures in false words, that the oracle of a row must find."""

import random
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from tests.words.claims import Ground, Row
from tests.words.figures import WORDS, count
from tests.words.raw import NAMES, Raw

TURNED: Final = {
    "up": "down",
    "down": "up",
    "fallen": "risen",
    "risen": "fallen",
    "fell": "rose",
    "rose": "fell",
    "higher": "lower",
    "lower": "higher",
    "rising": "falling",
    "falling": "rising",
    "above": "below",
    "below": "above",
}
_TURNED: Final = re.compile(rf"(?<!a quarter of an hour )\b({'|'.join(TURNED)})\b(?! or down)(?! alike)")
_COINS_ARE: Final = re.compile(r" coins? (?:are|is) ")
_SIZE: Final = re.compile(r"(\d+(?:\.\d)?)%")
_AGO: Final = re.compile(r"\b([a-z]+|\d+) hours ago")
_CALM_UNTIL: Final = 52  # in 100
_NORMAL_UNTIL: Final = 90
_BACK: Final = {"about a quarter": "most", "about a third": "all", "about half": "all", "most": "about a quarter"}


class Planted(NamedTuple):
    """A false text."""

    row: Row
    kind: str
    text: str


Spoiler = Callable[[str, str, Ground], Iterator[Planted]]


def plant(texts: Iterable[tuple[str, str]], ground: Ground) -> Iterator[Planted]:
    """Yield false texts of a bar: each true one spoilt in every way that it can be, then what the bar alone refutes."""
    for kind, text in texts:
        for spoiler in _SPOILERS:
            yield from spoiler(kind, text, ground)
    yield from _of_bar(ground)


def turned(text: str) -> str:
    """Return a text with its words of direction the other way round."""
    return _TURNED.sub(lambda match: TURNED[match[1]], text)


def _turned_round(kind: str, text: str, ground: Ground) -> Iterator[Planted]:
    # Where as many coins are up as down, each is true of half of them.
    days = ground.raw.moves(ground.raw.day)
    is_even = abs(int((days > 0.1).sum()) - int((days < -0.1).sum())) <= int((np.abs(np.abs(days) - 0.1) < 0.012).sum())
    rest = _COINS_ARE.split(text)[0] if is_even and kind == "first screen" else text
    other = turned(rest)
    if kind != "call" and not text.startswith(other):
        yield Planted(Row.WAY, kind, turned(text))


def _another_figure(kind: str, text: str, ground: Ground) -> Iterator[Planted]:
    figures = list(_SIZE.finditer(text))
    if figures:
        at = random.Random(ground.raw.now).choice(figures)
        other = f"{float(at[1]) * 1.4 + 0.4:.1f}%" if "." in at[1] else f"{float(at[1]) * 1.3 + 2:.0f}%"
        yield Planted(Row.FIGURE, kind, text[: at.start()] + other + text[at.end() :])
    if price := re.search(r"\$([\d,]+\.?\d*)", text):
        value = float(price[1].replace(",", "")) * 1.3
        decimals = len(price[1].partition(".")[2])
        yield Planted(Row.FIGURE, kind, text.replace(price[0], f"${value:,.{decimals}f}", 1))
    if back := re.search(r"back (about a quarter|about a third|about half|most) of it", text):
        yield Planted(Row.FIGURE, kind, text.replace(back[1], _BACK[back[1]]))


def _another_time(kind: str, text: str, _: Ground) -> Iterator[Planted]:
    if ago := _AGO.search(text):
        later = count(ago[1]) + 3
        words = WORDS[later] if later < len(WORDS) else str(later)
        yield Planted(Row.ORDER, kind, text.replace(ago[0], f"{words} hours ago"))
    if legs := re.match(r"Crypto (fell|rose) (\S+), (fell|rose) (\S+) and", text):
        swapped = f"Crypto {legs[3]} {legs[4]}, {legs[1]} {legs[2]} and"
        yield Planted(Row.ORDER, kind, text.replace(legs[0], swapped))


def _another_part(kind: str, text: str, ground: Ground) -> Iterator[Planted]:
    if part := re.search(r"\b(most|half|all) of it in one hour", text):
        share = ground.raw.largest[0] / ground.raw.market(ground.raw.day)
        yield Planted(Row.REASON, kind, text.replace(f"{part[1]} of it", f"{'all' if share < 0.8 else 'half'} of it"))
    if ", despite a fall of" in text or ", despite a rise of" in text:
        yield Planted(Row.REASON, kind, text.replace(", despite", ", after"))


def _another_coin(kind: str, text: str, ground: Ground) -> Iterator[Planted]:
    if kind == "headline" and (named := re.search(rf"[(:] ?({'|'.join(NAMES)})(?= \d)", text)):
        others = [name for name, asset in NAMES.items() if asset in ground.raw.assets and name != named[1]]
        other = random.Random(ground.raw.now).choice(others)
        yield Planted(Row.SUPERLATIVE, kind, text.replace(named[1], other, 1))
    some = re.search(r"([A-Z][a-z]+) of ([a-z]+) coins (?:are|is) (higher|lower)", text)
    if kind == "first screen" and some:
        days = ground.raw.moves(ground.raw.day) * (1 if some[3] == "higher" else -1)
        if days.min() < 0.08:
            yield Planted(Row.SUPERLATIVE, kind, text.replace(some[0], f"All {some[2]} coins are {some[3]}"))


def _another_word(kind: str, text: str, _: Ground) -> Iterator[Planted]:
    word = re.search(r"(Calm|Rough|Wild): the next four hours look \w+ than (\d*)", text)
    # Calm is kept by hours that are rougher than half of those on record, and no longer.
    if kind == "regime" and word and (word[1] == "Calm" or int(word[2] or 100) > _CALM_UNTIL):
        yield Planted(Row.ROUGH, kind, _other_word(text, word[1]))
    if kind == "regime" and word and word[1] != "Calm" and int(word[2] or 100) > _NORMAL_UNTIL:
        yield Planted(Row.ROUGH, kind, text.replace(f"{word[1]}:", "Normal:"))
    for said, other in (("an ordinary one", "a wild one"), ("a wild one", "an ordinary one")):
        if said in text:
            yield Planted(Row.ROUGH, kind, text.replace(said, other))


def _never_said(kind: str, text: str, _: Ground) -> Iterator[Planted]:
    if kind == "headline":
        yield Planted(Row.FORM, kind, f"{text} because of the news")
        yield Planted(Row.FORM, kind, f"{text} and will rise")
    if kind in {"first screen", "call"}:
        yield Planted(Row.SHARE, kind, f"{text} It held 8 of 12 times, 67% of 12.")
    if kind == "call" and (usual := re.search(r"; usually \d+%", text)):
        yield Planted(Row.SHARE, kind, text.replace(usual[0], ""))


_SPOILERS: Final[tuple[Spoiler, ...]] = (
    _turned_round,
    _another_figure,
    _another_time,
    _another_part,
    _another_coin,
    _another_word,
    _never_said,
)


def _other_word(text: str, word: str) -> str:
    """Return the state with a word at the other end, and with the figure that is true of it."""
    found = re.search(r"(?:quieter|rougher) than (all|nearly all|hardly any|(\d+) in 100) hours", text)
    assert found
    opposite = f"{100 - int(found[2])} in 100" if found[2] else "hardly any"
    other, verb = ("Wild", "rougher") if word == "Calm" else ("Calm", "quieter")
    return text.replace(f"{word}:", f"{other}:").replace(found[0], f"{verb} than {opposite} hours")


def _of_bar(ground: Ground) -> Iterator[Planted]:
    """Yield texts with true figures that leave out, or call quiet or largest, what this bar's prices deny."""
    raw = ground.raw
    day, hour = raw.market(raw.day), raw.market(raw.hour)
    if np.isfinite(day + hour) and raw.record_days >= 3 and abs(day) >= 0.1 and raw.is_average:
        bitcoin = moved(raw.coin("Bitcoin", raw.day))
        yield from _left_out(raw, f"Crypto is {moved(day)} in a day", bitcoin)
        yield from _quiet(raw, bitcoin)
        if abs(hour) >= 0.5 and not _is_record(raw, hour):
            fell, fall = ("fallen", "fall") if hour < 0 else ("risen", "rise")
            largest = f"its largest hourly {fall} in {_span(raw.record_days)}"
            yield Planted(Row.SUPERLATIVE, "headline", f"Crypto has {fell} {size(hour)} in an hour, {largest}")


def _left_out(raw: Raw, said: str, bitcoin: str) -> Iterator[Planted]:
    """Yield a plain headline where the day, its last hour or its last three are what everyone sees."""
    day, hour, three = raw.market(raw.day), raw.market(raw.hour), raw.market(3 * raw.hour)
    usual_hour, usual_day = raw.usual(raw.hour), raw.usual(raw.day)
    days = raw.moves(raw.day)
    if abs(hour) >= max(9.3 * usual_hour, 1.75):
        yield Planted(Row.LARGEST, "headline", f"{said}; Bitcoin is {bitcoin}")
    up, down = int((days > 0.1).sum()), int((days < -0.1).sum())
    is_great = min(abs(day), abs(float(np.median(days)))) >= 3.1 * usual_day
    if is_great and max(up, down) >= 0.8 * len(days):
        coins = f"{WORDS[up]} coin{'s' * (up != 1)} up in a day, {WORDS[down]} down"
        yield Planted(Row.LARGEST, "headline", f"Mixed: {coins}; Bitcoin is {bitcoin}")
    if three * day < 0 and abs(three) >= 1.05 * usual_day:
        yield Planted(Row.WAY, "headline", f"{said}; Bitcoin is {bitcoin}")
    if three * day > 0 and abs(three) >= 0.3:
        yield Planted(Row.REASON, "headline", f"{said}, but {moved(three)} in the last three hours")
    if raw.record_days < 13.8:
        yield Planted(Row.SHARE, "headline", f"{said}, an ordinary one; Bitcoin is {bitcoin}")


def _quiet(raw: Raw, bitcoin: str) -> Iterator[Planted]:
    """Yield a quiet headline within twelve hours of a shock, and on a day of a wide range."""
    wide = float(raw.history.wide[raw.now])
    largest = float(np.nanmax(np.abs(raw.series(raw.hour)[-12 * raw.hour :])))
    if largest >= 4.6 * raw.usual(raw.hour) and np.isfinite(wide):
        text = f"Quiet: Bitcoin has stayed within {size(wide)} for a day and is {bitcoin}"
        yield Planted(Row.QUIET, "headline", text)


def _is_record(raw: Raw, hour: float) -> bool:
    hours = raw.year(raw.hour)[: -raw.hour]
    sign = -1 if hour < 0 else 1
    return bool(np.nanmax(sign * hours, initial=-np.inf) < sign * hour + 0.01)


def _span(days: float) -> str:
    if days >= 360:
        return "a year"
    for unit, size_of in (("months", 30.4), ("weeks", 7.0)):
        if days >= 2 * size_of:
            number = int(days // size_of)
            return f"{WORDS[number] if number < len(WORDS) else number} {unit}"
    return f"{WORDS[int(days)] if days < len(WORDS) else int(days)} days"


def size(percent: float) -> str:
    """Write a size as texts do."""
    value = abs(percent)
    return f"{value:.0f}%" if round(value, 1) >= 10 else f"{value:.1f}%"


def moved(percent: float) -> str:
    """Write a move as texts do."""
    return "unchanged" if abs(percent) < 0.05 else f"{'up' if percent > 0 else 'down'} {size(percent)}"
