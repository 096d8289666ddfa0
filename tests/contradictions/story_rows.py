"""What the paid answers may not say in words of the fields next to them, of the day or of its hours."""

import itertools
import math
import re
import statistics
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from generator.catalog.assets import ASSET_NAMES
from generator.catalog.thresholds import FLAT_PERCENT, HOUR_MOVE_PERCENT

_REPORT: Final = "x402-atlas-human-report"
_SIDE: Final = {
    "rising": "rising day",
    "falling": "falling day",
    "flat": "flat day",
    "both_ways": "day of ups and downs",
}
_STEP: Final = {
    "calm": "calm or normal volatility",
    "normal": "calm or normal volatility",
    "elevated": "rough or wild volatility",
    "extreme": "rough or wild volatility",
}
_STATES: Final = re.compile(
    r"(?P<side>rising day|falling day|flat day|day of ups and downs)"
    r"|(?P<step>(?:calm or normal|rough or wild) volatility)",
    re.IGNORECASE,
)
_LENGTH: Final = re.compile(r"(\d+(?:\.\d+)?) (minute|hour|day)s?")
_HOURS: Final = {"minute": 1 / 60, "hour": 1.0, "day": 24.0}
_ROUNDED: Final = {"minute": 1 / 60, "hour": 0.51, "day": 1.3}  # hours that a length in words may be off
_HORIZONS: Final = ("15m", "1h", "4h", "24h")
_ROSE: Final = r"\b(?:rose|rise|up|jumped|gained)\b"
_FELL: Final = r"\b(?:fell|fall|down|dropped|lost)\b"
_HALF_A_CENT: Final = 0.00501  # percentage points that a figure of two decimals may be off
_AT_ONE: Final = 0.0501  # percentage points that a figure of one decimal may be off


class PaidTexts(NamedTuple):
    """What is sold at one moment with the free bodies next to it, and what the candles say of the last hour."""

    named: Mapping[str, Any]  # bodies by file name or product
    hour: float | None = None  # mean change over the hour up to now, percent; None where not worked out

    @property
    def report(self) -> Mapping[str, Any]:
        """The human report."""
        found: Mapping[str, Any] = self.named[_REPORT]["report"]
        return found

    @property
    def regime(self) -> Mapping[str, Any]:
        """The regime of the market."""
        found: Mapping[str, Any] = self.named["market-regime"]["regime"]
        return found

    @property
    def changes(self) -> dict[str, float]:
        """The changes of the coins over 24 hours, percent, by name."""
        coins = self.report["assets"]
        return {coin["name"]: coin["change_24h"] for coin in coins if coin["change_24h"] is not None}

    @property
    def ranges(self) -> Mapping[str, Any]:
        """Bitcoin's ranges by horizon; empty without a reading."""
        found: Mapping[str, Any] = self.named["main-brain"]["coins"]["BTC"]["ranges"] or {}
        return found


def paid_texts(bodies: Mapping[str, Any], hour: float | None = None) -> PaidTexts:
    """Return the texts that are sold among the bodies of a tick or a release, whatever their paths."""
    return PaidTexts({PurePosixPath(name).name.removesuffix(".php"): body for name, body in bodies.items()}, hour)


def other_state(paid: PaidTexts) -> str:
    """Return a text on how long states last that is about another state than the axes'."""
    axes = paid.regime["axes"]
    now = {"side": _SIDE.get(axes["side"]), "step": _STEP.get(axes["swings"])}
    texts = (
        paid.report["spells"]["text"],
        paid.named["x402-market-regime"]["headline"],
    )
    for text in texts:
        for kind, state in now.items():
            found = next((match[kind] for match in _STATES.finditer(text) if match[kind]), None)
            if found and state and found.lower() != state:
                return f"{found} said, {state} by the axes: {text}"
    return ""


def other_length(paid: PaidTexts) -> str:
    """Return a text on how long the state has lasted that its date does not give."""
    now = datetime.fromisoformat(paid.report["as_of"])
    spells = paid.named["x402-market-regime"]["spells"] or {}
    texts = (paid.report["spells"]["text"], paid.named["x402-market-regime"]["headline"])
    dates = {kind: (spells.get(axis) or {}).get("since") for kind, axis in (("side", "side"), ("step", "volatility"))}
    for text in texts:
        for kind, since in dates.items():
            sentence = next((part for part in _sentences(text) if any(m[kind] for m in _STATES.finditer(part))), "")
            said = _LENGTH.search(sentence)
            if not said or since is None:
                continue
            hours = (now - datetime.fromisoformat(since)).total_seconds() / 3600
            if abs(float(said[1]) * _HOURS[said[2]] - hours) > _ROUNDED[said[2]] + 0.09:
                return f"{hours:.2f} hours by the spell: {sentence}"
    return ""


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.?]) (?=[A-Z])", text)


def other_day(paid: PaidTexts) -> str:
    """Return the title or the first sentence where the changes of the coins went the other way, or another way far."""
    if not paid.changes:
        return ""
    mean = statistics.fmean(paid.changes.values())
    title, first = paid.report["title"], _sentences(paid.report["verdict"])[0]
    way = re.search(r"\b(rise|fall)\b", title)
    if way and (way[1] == "rise") is not (mean > 0):
        return f"{title}, mean {mean:+.2f}%"
    moved = re.search(r"(gained|added|lost|took) (\d+\.\d)%", first)
    if moved is None:
        return "" if abs(mean) < FLAT_PERCENT + _AT_ONE else f"{first}, mean {mean:+.2f}%"
    said = float(moved[2]) if moved[1] in {"gained", "added"} else -float(moved[2])
    return "" if abs(said - mean) < _AT_ONE + 0.005 else f"{first}, mean {mean:+.2f}%"


_DAY_KINDS: Final = {
    "small": r"led nowhere|quiet day|Little changed|small day|did not come near|less than half of it",
    "usual": r"[Oo]rdinary|everyday|put in its place|in line with|Nothing odd|close to what a day usually does",
    "large": r"larger than most|stood out|More than a usual|times as far|days' worth|a big step",
}


def day_of_two_sizes(paid: PaidTexts) -> str:
    """Return the title and the verdict where these give the day two sizes, or a usual day a rare place in the month."""
    text = f"{paid.report['title']}. {paid.report['verdict']}"
    kinds = [kind for kind, words in _DAY_KINDS.items() if re.search(words, text)]
    rank = re.search(r"Only (\d+) in 100 stretches|a smaller move in (\d+) places", text)
    further = re.search(r"month, (\d+) in 100 went further|month: (\d+) times in 100 it moved more", text)
    two = len(kinds) > 1
    rare = "usual" in kinds and (rank is not None or further is not None)
    crossed = ("small" in kinds and rank is not None) or ("large" in kinds and further is not None)
    return text if two or rare or crossed else ""


def hour_without_sign(paid: PaidTexts) -> str:
    """Return what the report says of the day's hours where the last one stands out and its sign is missing or wrong."""
    text = " ".join(paid.report["what_changed"])
    moved = _free_hour(paid)
    if moved == 0 and paid.hour is not None and abs(paid.hour) >= HOUR_MOVE_PERCENT + 0.01:
        moved = 1 if paid.hour > 0 else -1
    if moved == 0 or "holes" in text:
        return ""

    # Where the last hour is the day's largest, its sentence is the first; else it is the last.
    sentences = _sentences(text)
    is_largest = re.search(r"the hour just over, so|the last hour we have|No other hour has come", text)
    said = sentences[0] if is_largest else sentences[-1]
    way, word = (_ROSE, "up") if moved > 0 else (_FELL, "down")
    if re.search(way, said):
        return ""
    return f"{word} in the last hour: {text}"


def _free_hour(paid: PaidTexts) -> int:
    """Return the sign of the last hour in the free headline; 0 where that is silent on it."""
    found = re.search(r"[Ii]n the last hour prices (rose|jumped|fell|dropped)", paid.named["market-regime"]["headline"])
    if found is None:
        return 0
    return 1 if found[1] in {"rose", "jumped"} else -1


def other_odds(paid: PaidTexts) -> str:
    """Return a chance of a level in words, in the report or in a headline, that no level of the fields has."""
    levels = (paid.report["ladder"]["levels"] or {}).get("4h", ())
    text = paid.report["ladder"]["text"]
    headline = paid.named["x402-main-brain"]["headline"]
    for said in (text, headline):
        odds = [
            part for part in _sentences(said) if re.search(r"touch|on the way|the way\b|in between|get.? so far", part)
        ]
        if not odds or not levels:
            continue
        sentence = " ".join(odds)
        figures = [
            {f"{level['level_percent']:g}%", _chance(level["end"]["either"]), _chance(level["touch"]["either"])}
            for level in levels
        ]
        if not any(all(figure in said for figure in known) for known in figures):
            return sentence
    return ""


def _chance(fraction: float) -> str:
    percent = 100 * fraction
    if percent < 1:
        return "under 1%"
    return "over 99%" if percent > 99 else f"{percent:.0f}%"


def other_reach(paid: PaidTexts) -> str:
    """Return how far Bitcoin may go in words where the further end of its 90% range is not so far away."""
    text = _sentences(paid.report["ladder"]["text"])[0]
    said = re.findall(r"(\d+\.\d+)%", text)
    if len(said) != len(_HORIZONS) or not paid.ranges:
        return ""
    for figure, horizon in zip(said, _HORIZONS, strict=True):
        span = paid.ranges[horizon]
        reach = max(-span["low_90"], span["high_90"])
        if abs(float(figure) - reach) > 0.5 * 10.0 ** -len(figure.partition(".")[2]) + 1e-9:
            return f"{reach}% over {horizon}: {text}"
    return ""


def narrower_later(paid: PaidTexts) -> str:
    """Return the ranges of a coin of which a longer one is narrower, as if prices came back."""
    for asset, coin in paid.named["main-brain"]["coins"].items():
        spans = [(coin["ranges"] or {}).get(horizon) for horizon in _HORIZONS]
        widths = [span["high_90"] - span["low_90"] for span in spans if span]
        if any(later < earlier for earlier, later in itertools.pairwise(widths)):
            return f"{asset}: {widths}"
    return ""


def other_parts(paid: PaidTexts) -> str:
    """Return the next four hours in words where the parts are not those of the fields, or do not add to 100."""
    parts = paid.named["x402-atlas"]["intelligence_layer"]["partition"]
    known = ((parts or {}).get("assets") or {}).get("BTC")
    if not known:
        return ""
    chances, usual = (
        [known[kind][name] for name in ("rise_percent", "within_percent", "fall_percent")]
        for kind in ("chances", "base_rates")
    )
    text = paid.report["partition"]["text"]
    said = [tuple(map(int, found)) for found in re.findall(r"up (\d+), within (\d+), down (\d+)", text)]
    headline = paid.named["x402-atlas"]["headline"]
    short = re.search(r"up (\d+), within \S+ (\d+), down (\d+); usually (\d+), (\d+), (\d+)", headline)
    if short:
        said += [tuple(map(int, short.groups()[:3])), tuple(map(int, short.groups()[3:]))]

    fields = [chances, usual] * 2
    for triple, field in zip(said, fields, strict=False):
        near = all(abs(one - other) < 1.0 for one, other in zip(triple, field, strict=True))
        if not near or sum(triple) != 100:
            return f"{triple} of {field}: {text}"
    borders = [float(found) for found in re.findall(r"(\d+\.\d\d)%", f"{text} {headline}")]
    near = all(abs(border - known["usual_move_percent"]) < _HALF_A_CENT for border in borders)
    return "" if len(said) == len(fields) and len(borders) == 2 and near else f"{known}: {text} {headline}"


def other_coin(paid: PaidTexts) -> str:
    """Return a coin's change in words that is not its own, or a coin that is said to go with the others and did not."""
    text = paid.report["together"]["text"]
    for name, moved in _coins_in(text):
        if name in paid.changes and abs(moved - paid.changes[name]) > _AT_ONE + 0.005:
            return f"{name} {paid.changes[name]}: {text}"
    total = sum(paid.changes.values())
    against = [name for name, moved in paid.changes.items() if math.copysign(1, total) * moved < -FLAT_PERCENT]
    alone = re.search(r"No coin went against|on the other side\.|all went the same way|stayed put", text)
    if alone and "is furthest" not in text and against:
        return f"{against}: {text}"
    return ""


def _coins_in(text: str) -> Iterator[tuple[str, float]]:
    """Give each coin with the signed change next to it."""
    names = "|".join(ASSET_NAMES.values())
    for found in re.finditer(rf"\b({names})(?:(?!{names})[^.]){{0,40}}?([+-]\d+\.\d)%", text):
        yield found[1], float(found[2])


def other_size_of_a_coin(paid: PaidTexts) -> str:
    """Return the size of a coin's day in words that its change and its usual day do not give."""
    for coin in paid.report["assets"]:
        moved, usual = coin["change_24h"], coin["usual_day_percent"]
        if moved is None or not usual:
            continue
        times = abs(moved) / usual
        words = {"a small day": (0.0, 0.5), "a usual day": (0.5, 1.5)}.get(coin["text"])
        said = re.match(r"(\d+\.\d) usual days", coin["text"])
        near = words is not None and words[0] <= times < words[1]
        if not near and not (said and times >= 1.5 and abs(float(said[1]) - times) <= _AT_ONE):
            return f"{coin}"
    return ""


def other_calls(paid: PaidTexts) -> str:
    """Return the record of sides in words where it is not that of the calls of a side."""
    text = paid.report["track_record"]["text"]
    calls = paid.named["x402-main-brain"]["track_record"]["by_call"]
    n, right = (sum(calls[side][what] for side in ("up", "down")) for what in ("n", "hits"))
    said = set(map(int, re.findall(r"\d+", text)))
    return "" if said <= {n, right, n - right} else f"{n} calls of a side, {right} right: {text}"


def other_votes(paid: PaidTexts) -> str:
    """Return the votes of the live round in words where they were not cast so."""
    consensus = paid.named["human-consensus"]["human_consensus"]
    text = paid.report["arena"]["text"]
    cast = {consensus[name] for name in ("total", "bullish", "neutral", "bearish")}
    return "" if set(map(int, re.findall(r"\d+", text))) <= cast else f"{consensus}: {text}"


def other_payer(paid: PaidTexts) -> str:
    """Return who pays whom in words where the mean of the coins' funding has the other sign."""
    text = paid.report["derivatives"]["text"]
    payer = re.search(r"(longs|shorts) (?:who )?pay", text)
    mean = re.search(r"averages ([+-]\d+\.\d+)%|average rate is ([+-]\d+\.\d+)%", text)
    if payer is None or mean is None:
        return ""
    rate = float(mean[1] or mean[2])
    futures = paid.named["derivatives"]["assets"].values()
    rates = [one["funding"]["rate_8h_percent"] for one in futures if one["funding"]]
    fine = abs(statistics.fmean(rates) - rate) < 0.0001 and (rate > 0) is (payer[1] == "longs")
    return "" if fine else f"{statistics.fmean(rates):+.5f}: {text}"


STORY: Final[dict[str, Callable[[PaidTexts], str]]] = {
    "a paid text on another state than the axes'": other_state,
    "a paid text that gives the state another age": other_length,
    "a report on another day than its coins had": other_day,
    "a day of two sizes in one report": day_of_two_sizes,
    "an hour beyond 1% without its sign in the report": hour_without_sign,
    "odds of a level in words that no field has": other_odds,
    "a reach in words that is not the further end of its range": other_reach,
    "a longer time with a narrower range": narrower_later,
    "parts of the next four hours that are not the fields'": other_parts,
    "a coin of the report with another change": other_coin,
    "a coin's day of another size": other_size_of_a_coin,
    "calls of a side that were none": other_calls,
    "votes in the report that were not cast": other_votes,
    "the side that pays, against the mean rate": other_payer,
}
"""Each row gives an example of what contradicts; empty where nothing does."""
