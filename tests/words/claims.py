"""How an oracle reads a text: claim by claim from the left, no character unread, each complaint under a row."""

import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from tests.words.figures import count, fits, untrue_move
from tests.words.published import Published
from tests.words.raw import Raw

AGO: Final = r"(minutes ago|a quarter of an hour ago|half an hour ago|an hour ago|[a-z0-9]+ hours ago)"
LASTING: Final = r"(\d+ minutes|[a-z0-9]+ hours|[a-z0-9]+ days)"
SPAN: Final = r"(a year|a day|less than a day|[a-z0-9]+ (?:months|weeks|days))"
DOLLARS: Final = r"\$([\d,]*\d(?:\.\d+)?)"
_NEVER: Final = re.compile(
    r"\b(trend|because|due to|will (?:rise|fall|recover|drop)|buy|sell|bullish|bearish|rally|crash|"
    r"expected to (?:rise|fall)|likely to (?:rise|fall))\b",
    re.IGNORECASE,
)
_OF_CASES: Final = re.compile(r"\d+(?:\.\d+)?%? (?:in 100 )?of \d+|\b\d+ in 100\b(?! hours of | days of )(?! \()")


class Row(StrEnum):
    """What a complaint is about: the rows of the table."""

    FIGURE = "a figure that the prices do not give"
    ORDER = "a time ago, or an order of events, that was not so"
    SUPERLATIVE = "a superlative that another hour, day or coin beats"
    LARGEST = "a title that leaves out a great day or its largest hour"
    WAY = "a word of direction against the day, its coins or what came last"
    ROUGH = "a word of volatility that the record does not bear out"
    QUIET = "quiet said within twelve hours of a shock"
    REASON = "a part, a cause or a contrast that was none"
    SHARE = "a share without what it is a share of"
    FORM = "a text that is not read, too long, or says what is never said"


class Complaint(NamedTuple):
    """What is untrue in a text."""

    row: Row
    text: str

    def __str__(self) -> str:
        """Return what a reader of a failing test needs."""
        return f"{self.text} [{self.row.name.lower()}]"


class Ground(NamedTuple):
    """What texts are held against: raw prices up to a bar, and the numbers published with them."""

    raw: Raw
    published: Published


Complaints = list[Complaint]
Check = Callable[[re.Match[str], Ground], Complaints]
Claims = tuple[tuple[re.Pattern[str], Check], ...]


def claims(rows: Iterable[tuple[str, Check]]) -> Claims:
    """Return the claims that a kind of text is made of, to be tried in their order."""
    return tuple((re.compile(pattern), check) for pattern, check in rows)


def read(text: str, of_kind: Claims, ground: Ground) -> Complaints:
    """Return what is untrue in a text; an unread rest is a complaint."""
    out: Complaints = []
    rest = text
    while rest:
        for pattern, check in of_kind:
            match = pattern.match(rest)
            if match:
                out += _checked(match, check, ground)
                rest = rest[match.end() :]
                break
        else:
            out.append(Complaint(Row.FORM, f"not read: {rest!r}"))
            break
    if found := _NEVER.search(text):
        out.append(Complaint(Row.FORM, f"never said: {found[0]}"))
    if found := _OF_CASES.search(text):
        out.append(Complaint(Row.SHARE, f"a share without an interval: {found[0]}"))
    return out


def _checked(match: re.Match[str], check: Check, ground: Ground) -> Complaints:
    """Return what is untrue in a claim; a word that is not a number is in no text."""
    try:
        return check(match, ground)
    except ValueError as fault:
        return [Complaint(Row.FORM, f"{match[0]}: {fault}")]


def unless(holds: object, row: Row, text: str) -> Complaints:
    """Complain unless something holds."""
    return [] if holds else [Complaint(row, text)]


def off(said: str, true: float, what: str) -> Complaints:
    """Complain where a size is not the one said, to what was rounded off."""
    return unless(fits(said, true), Row.FIGURE, f"{what}: said {said}%, was {true:.2f}%")


def moved(match: re.Match[str], first: int, true: float, what: str) -> Complaints:
    """Complain of a move said as `up 1.2%`, `down 1.2%` or `unchanged`, in three groups from `first` on."""
    said = match.group(first, first + 1, first + 2)
    wrong = untrue_move(said, true)
    if not wrong:
        return []
    words = said[2] or f"{said[0]} {said[1]}%"
    return [Complaint(Row[wrong.upper()], f"{what}: said {words}, was {true:.2f}%")]


def hours(ago: str) -> tuple[float, float]:
    """Return from how many hours ago to how many a time may be."""
    fixed: Mapping[str, float] = {
        "minutes ago": 0.1,
        "a quarter of an hour ago": 0.25,
        "half an hour ago": 0.5,
        "an hour ago": 1.0,
    }
    said = fixed.get(ago) or float(count(ago.partition(" ")[0]))
    return said - 0.76, said + 0.76


def lasting(said: str, minutes: float) -> Complaints:
    """Complain where a time that has passed is not the one said; one under ten minutes is not said."""
    number, unit = said.split(" ")
    of_unit = {"minutes": 1.0, "hours": 60.0, "days": 1440.0}[unit]
    fits = abs(count(number) - minutes / of_unit) <= 0.51 + 0.5 * (unit == "days") and minutes >= 9.9
    return unless(fits, Row.ORDER, f"{said}: {minutes:.0f} minutes")


def at(ago: str, bars_ago: float, raw: Raw, what: str) -> Complaints:
    """Complain where something was at another time than said, by three quarters of an hour."""
    first, final = hours(ago)
    was = bars_ago / raw.hour
    return unless(first <= was <= final, Row.ORDER, f"{what} was {was:.1f} hours ago, not {ago}")


def span(text: str, raw: Raw) -> Complaints:
    """Complain of a record that is said to be longer than it is, or shorter by more than what is rounded off."""
    fixed = {"a year": (360.0, 1e9), "a day": (1.0, 2.0), "less than a day": (0.0, 1.0)}
    if text in fixed:
        least, most = fixed[text]
    else:
        number, unit = text.split(" ")
        days = {"months": 30.4, "weeks": 7.0, "days": 1.0}[unit]
        least, most = count(number) * days, (count(number) + 1) * days
    fits = least - 0.3 <= raw.record_days <= most + 1.3
    return unless(fits, Row.FIGURE, f"a record of {text}, which holds {raw.record_days:.1f} days")


def dollars(said: str, true: float, what: str, rounded: float = 1e-6) -> Complaints:
    """Complain where a price is not the one said, to what was rounded off: here, and before as a share of it."""
    value = float(said.replace(",", ""))
    decimals = len(said.partition(".")[2])
    slack = 0.5 * 10.0**-decimals + rounded * abs(true)
    return unless(abs(value - true) <= slack * 1.02, Row.FIGURE, f"{what}: said ${said}, was {true:.6g}")
