"""An oracle that reads a lesson and knows nothing of how it was made: every figure again, from raw closes.

`python -m tests.words.lessons FOLDER ...` reads the lesson of every third hour of recordings, each asset's, and prints
how many complaints there are, and how many of the lessons that were spoilt are found.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from math import erfc, sqrt
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from generator.arena.lessons import lesson_of
from generator.brain.moves import Moves
from generator.brain.record import Record
from generator.catalog.assets import ASSET_NAMES, ASSETS
from generator.catalog.durations import HOUR_MS, MINUTE_MS
from generator.catalog.words import Call, Concept, Prediction, RoundPhase
from generator.market.bars import BAR_MS
from generator.market.recorded.recording import load_recording
from generator.values.rounds import Lesson, Round, Triple
from generator.values.votes import Tally
from tests.words.figures import count, fits
from tests.words.raw import Floats, carried

CARRIED_BARS: Final = 3
EVERY: Final = 3  # hours
YEAR: Final = 365 * 24  # hours on record, the one of the lesson among them
CHANCES: Final[tuple[Triple, ...]] = ((0.41, 0.13, 0.46), (0.2, 0.55, 0.25), (0.335, 0.33, 0.335))
BASE: Final[Triple] = (0.33, 0.35, 0.32)
BANDS: Final = (5.0, 20.0, 60.0)  # basis points
WORDS: Final = {"down": 0, "a small move": 1, "up": 2}
SENTENCE: Final = re.compile(r"(?<=[.?]) ")


class Hour(NamedTuple):
    """What is known of an hour apart from its lesson."""

    closes: Floats  # of the asset at full hours up to its end, NaN where unknown
    others: Floats  # moves of the other assets over it, basis points
    chances: Triple
    band: float  # percent

    @property
    def move(self) -> float:
        """The move over it, percent, as published: in basis points with two decimals."""
        return round(float(1e4 * (self.closes[-1] / self.closes[-2] - 1)), 2) / 100

    @property
    def outcome(self) -> int:
        """Its outcome: 0 down, 1 a small move, 2 up."""
        if abs(self.move) <= self.band:
            return 1
        return 2 if self.move > 0 else 0

    @property
    def before(self) -> Floats:
        """Sizes of the moves over the hours of the year that had ended before it, percent."""
        moves = 100 * np.abs(self.closes[1:-1] / self.closes[:-2] - 1)[1 - YEAR :]
        return np.array(moves[np.isfinite(moves)])

    def as_large(self, grain: float = 0.0) -> int:
        """Return how many of them went as far, a size taken for so much larger, as a share."""
        return int((self.before * (1 + grain) >= abs(self.move)).sum())

    @property
    def expected(self) -> float:
        """How many of them a normal curve with their median expects to have gone as far."""
        z = 0.6745 * abs(self.move) / float(np.median(self.before))
        return len(self.before) * erfc(z / sqrt(2))


Check = Callable[[re.Match[str], Hour], list[str]]


def _off(said: str, true: float, what: str) -> list[str]:
    return [] if fits(said, true, 1e-5) else [f"{what}: said {said}, was {true:.4f}"]


def _outcome(said: str, hour: Hour) -> list[str]:
    return [] if WORDS[said] == hour.outcome else [f"said {said}, was a move of {hour.move:.3f}%"]


def _move(match: re.Match[str], hour: Hour) -> list[str]:
    way, size, side, band, outcome = match.groups()
    out = _off(size, hour.move, "the move") + _off(band, hour.band, "the band") + _outcome(outcome, hour)
    if (way == "rose") != (hour.move > 0):
        out.append(f"said {way}, was {hour.move:.3f}%")
    if (side == "beyond") != (abs(hour.move) > hour.band):
        out.append(f"{side} the band, a move of {hour.move:.3f}%")
    return out


def _still(_: re.Match[str], hour: Hour) -> list[str]:
    return [] if abs(hour.move) < 0.0051 else [f"hardly moved: {hour.move:.3f}%"]


def _hours(said: str, hour: Hour) -> list[str]:
    known = len(hour.before)
    out = [] if count(said) == known else [f"{said} hours on record, of {known}"]
    return out + ([] if known >= 14 * 24 else [f"a record of {known} hours compared with"])


def _farther(said: str, hour: Hour) -> list[str]:
    # The record is kept in half precision: a size may be off by a two-thousandth.
    fewest, most = hour.as_large(-0.001), hour.as_large(0.001)
    return [] if fewest <= count(said) <= most else [f"{said} hours went as far, of {fewest} to {most}"]


def _rarity(match: re.Match[str], hour: Hour) -> list[str]:
    return _hours(match[1], hour) + _farther(match[2], hour)


def _rarest(match: re.Match[str], hour: Hour) -> list[str]:
    return _hours(match[1], hour) + _farther("0", hour)


def _chances(match: re.Match[str], hour: Hour) -> list[str]:
    up, small, down = match.groups()
    said = [int(down), int(small), int(up)]
    out = [] if sum(said) == 100 else ["chances do not add to 100"]
    if any(abs(one - 100 * chance) > 1 for one, chance in zip(said, hour.chances, strict=True)):
        out.append(f"chances {said}, of {hour.chances}")
    return out


def _brier(chances: Triple, outcome: int) -> float:
    return sum((chance - (place == outcome)) ** 2 for place, chance in enumerate(chances))


def _score(match: re.Match[str], hour: Hour) -> list[str]:
    own, base, verdict, by = match.groups()
    true, usual = _brier(hour.chances, hour.outcome), _brier(BASE, hour.outcome)
    out = _off(own, true, "the score") + _off(base, usual, "the base rate's")
    if verdict == "level":
        return out + ([] if abs(usual - true) < 0.002 else [f"level, of {true:.3f} and {usual:.3f}"])
    right_way = (verdict == "better by") == (true < usual)
    return out + ([] if right_way and abs(float(by) - abs(usual - true)) < 0.0011 else [f"{verdict} {by}"])


def _no_check(_: re.Match[str], __: Hour) -> list[str]:
    return []


NAMES: Final = "|".join(ASSET_NAMES.values())
OUTCOME: Final = "(up|a small move|down)"
CLAIMS: Final[tuple[tuple[str, Check], ...]] = (
    (rf"(?:{NAMES}) hardly moved in the hour: a small move\.", _still),
    (rf"(?:{NAMES}) (rose|fell) ([\d.]+)% in the hour, (inside|beyond) the band of ([\d.]+)%: {OUTCOME}\.", _move),
    (r"Of the ([\d,]+) hours on record before it, ([\d,]+) moved as far or farther\.", _rarity),
    (r"None of the ([\d,]+) hours on record before it moved as far\.", _rarest),
    (r"Sealed before it: (\d+) in 100 for up, (\d+) for a small move, (\d+) for down\.", _chances),
    (r"Its Brier score is ([\d.]+), the base rate's ([\d.]+): (level|better by|worse by)(?: ([\d.]+))?\.", _score),
    (r"No one voted\.|It was a backtest: voting was not possible\.", _no_check),
)


def _fat_tail(match: re.Match[str], hour: Hour) -> list[str]:
    less, expected, known, as_large = match.groups()
    out = _hours(known, hour) + _farther(as_large, hour)
    if less and hour.expected >= float(expected):
        out.append(f"less than {expected} expected, of {hour.expected:.2f}")
    if not less and abs(float(expected) - hour.expected) > 0.06 + 0.1 * hour.expected:
        out.append(f"{expected} expected, of {hour.expected:.2f}")
    if hour.as_large(0.001) <= hour.expected:
        out.append("a fat tail of no more hours than expected")
    return out


def _together(match: re.Match[str], hour: Hour) -> list[str]:
    same = int((hour.others * hour.move > 0).sum())
    return [] if match.groups() == (str(same), str(len(hour.others))) else [f"{match[0]}: {same} of {len(hour.others)}"]


POINTS: Final[tuple[tuple[Concept, str, Check], ...]] = (
    (
        Concept.FAT_TAILS,
        r".* expects (less than )?([\d.]+) of the ([\d,]+) hours on record before it to move as far; ([\d,]+) did\.",
        _fat_tail,
    ),
    (Concept.CORRELATION, r"(\d) of (\d) other assets moved the same way", _together),
)


def complaints(summary: str, point: str, concept: Concept | None, hour: Hour) -> list[str]:
    """Return what is untrue in a lesson; a sentence that no claim reads is a complaint."""
    out = []
    for sentence in SENTENCE.split(summary):
        matches = [(match, check) for claim, check in CLAIMS if (match := re.fullmatch(claim, sentence))]
        out += [wrong for match, check in matches for wrong in check(match, hour)] or (
            [] if matches else [f"not read: {sentence!r}"]
        )
    for of, claim, check in POINTS:
        if of is concept:
            found = re.match(claim, point)
            out += check(found, hour) if found else [f"not read: {point!r}"]

    # An hour that no hour on record reached is said to be one, and no other.
    is_compared = len(hour.before) >= 14 * 24 and hour.as_large(0.001) < 0.74 * len(hour.before)
    if is_compared and "on record before it" not in summary:
        out.append("how rare the hour was is left out")
    return out


def lessons_of(
    closes: Floats, t_ms: npt.NDArray[np.int64], assets: tuple[str, ...], every: int = EVERY
) -> Iterator[tuple[Lesson, Hour]]:
    """Yield the lesson of each third hour and asset of 5-minute closes, (bars, assets), with what it is held against.

    Args:
        t_ms: open times of the bars.
    """
    moves, record = Moves(len(assets)), Record(len(assets) + 1)
    known = carried(closes, CARRIED_BARS)
    at_hour = {int(t + BAR_MS): row for row, t in enumerate(t_ms.tolist()) if (t + BAR_MS) % HOUR_MS == 0}
    first, last = min(at_hour), max(at_hour)
    nothing = np.full(len(assets), np.nan)
    hourly = np.array([known[at_hour[at]] if at in at_hour else nothing for at in range(first, last + 1, HOUR_MS)])
    expected = np.full((len(t_ms), len(assets) + 1), 0.004)

    fed = 0
    used: list[Concept] = []
    for place in range(2, len(hourly), every):
        end_ms = first + place * HOUR_MS
        if end_ms not in at_hour:
            continue
        until = at_hour[end_ms] + 1
        if until > fed:
            moves.update(t_ms[fed:until], np.log(closes[fed:until]))
            record.update(t_ms[fed:until], moves, expected[fed:until])
            for part in (moves, record):
                part.keep()
                part.at(-1)
            fed = until
        changes = 1e4 * (hourly[place] / hourly[place - 1] - 1)
        for column, asset in enumerate(assets):
            if not np.isfinite(changes[column]):
                continue
            band = BANDS[(place + column) % len(BANDS)]
            chances = CHANCES[(place + column) % len(CHANCES)]
            others = np.delete(changes, column)
            others = others[np.isfinite(others)]
            # As published: basis points with two decimals.
            change = round(float(changes[column]), 2)
            start_ms = end_ms - HOUR_MS
            made = lesson_of(
                _round(asset, start_ms, change, band, chances),
                Tally(),
                end_ms,
                others=tuple(others.tolist()),
                record=record.hours_before(column, start_ms, change / 1e4),
                used=used,
            )
            if made.concept is not None:
                used = [made.concept, *(concept for concept in used if concept is not made.concept)]
            yield made, Hour(hourly[: place + 1, column], others, chances, band / 100)


def _round(asset: str, start_ms: int, change_bps: float, band_bps: float, chances: Triple) -> Round:
    outcome = Prediction.NEUTRAL
    if abs(change_bps) > band_bps:
        outcome = Prediction.BULLISH if change_bps > 0 else Prediction.BEARISH
    return Round(
        round_id=f"{asset}-{start_ms}",
        asset=asset,
        opens_ms=start_ms - 30 * MINUTE_MS,
        start_ms=start_ms,
        end_ms=start_ms + HOUR_MS,
        phase=RoundPhase.RESOLVED,
        band_bps=band_bps,
        prediction=Prediction.NEUTRAL,
        probabilities=chances,
        base_rate=BASE,
        change_bps=change_bps,
        outcome=outcome,
        call=Call.NONE,
    )


SPOILT: Final[tuple[tuple[str, str], ...]] = (
    (r"\brose\b", "fell"),
    (r"\bfell\b", "rose"),
    (r"(rose|fell) (\d)", r"\1 1\2"),
    (r"inside the band", "beyond the band"),
    (r"beyond the band", "inside the band"),
    (r"before it, ([\d,]+) moved", r"before it, 9\1 moved"),
    (r"None of the", "Of the 3 of the"),
    (r"Of the ([\d,]+) hours on record before it, [\d,]+ moved as far or farther", r"None of the \1 hours on record "),
    (r"(\d+) in 100 for up, (\d+) for", r"\2 in 100 for up, \1 for"),
    (r"better by", "worse by"),
    (r"worse by", "better by"),
)


def spoilt(summary: str) -> Iterator[tuple[str, str]]:
    """Yield a lesson's summary with one thing wrong in it, and what."""
    for pattern, by in SPOILT:
        changed = re.sub(pattern, by, summary, count=1)
        if changed != summary:
            yield pattern, changed


def sweep(folder: Path) -> tuple[int, list[str], Counter[str], Counter[str]]:
    """Read every third hour of a recording.

    Returns:
        lessons; complaints; spoilt lessons by what is wrong with them; those of them that were not found.
    """
    recording = load_recording([folder], ASSETS)
    bars = recording.frame
    has_closes = np.asarray(np.isfinite(bars.fields["close"]).any(axis=0))
    assets = tuple(np.array(bars.assets)[has_closes].tolist())
    closes = bars.fields["close"][:, has_closes]
    read, bad = 0, []
    planted: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for made, hour in lessons_of(closes, bars.t, assets):
        read += 1
        wrong = complaints(made.summary, made.point or "", made.concept, hour)
        bad += [f"{made.round_id}: {one}" for one in wrong]
        for name, text in spoilt(made.summary):
            planted[name] += 1
            missed[name] += not complaints(text, made.point or "", made.concept, hour)
    return read, bad, planted, missed


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        total, found, all_planted, not_found = sweep(Path(argument))
        share = 100 * (1 - not_found.total() / max(1, all_planted.total()))
        print(f"{argument}: {total:,} lessons, {len(found)} complaints")
        print(f"spoilt {all_planted.total():,}, {share:.2f}% found")
        print("\n".join(found[:10]))
        print(dict(not_found))
