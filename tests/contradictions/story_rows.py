"""What the paid answers may not say in words of the fields next to them, of the day or of its hours."""

import itertools
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

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
_HALF_A_CENT: Final = 0.00501  # percentage points that a figure of two decimals may be off


class PaidTexts(NamedTuple):
    """What is sold at one moment with the free bodies next to it."""

    named: Mapping[str, Any]  # bodies by file name or product

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


def paid_texts(bodies: Mapping[str, Any]) -> PaidTexts:
    """Return the texts that are sold among the bodies of a tick or a release, whatever their paths."""
    return PaidTexts({PurePosixPath(name).name.removesuffix(".php"): body for name, body in bodies.items()})


def other_state(paid: PaidTexts) -> str:
    """Return a text on how long states last that is about another state than the axes'."""
    axes = paid.regime["axes"]
    now = {"side": _SIDE.get(axes["side"]), "step": _STEP.get(axes["swings"])}
    texts = (
        paid.named["x402-market-regime"]["summary"],
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
    texts = (paid.named["x402-market-regime"]["summary"], paid.named["x402-market-regime"]["headline"])
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


def other_odds(paid: PaidTexts) -> str:
    """Return a chance of a level in words, in the report or in a headline, that no level of the fields has."""
    levels = (paid.report["levels"] or {}).get("4h")
    text = paid.named["x402-main-brain"]["summary"]["text"]
    headline = paid.named["x402-main-brain"]["headline"]
    for said in (text, headline):
        odds = [
            part for part in _sentences(said) if re.search(r"touch|on the way|the way\b|in between|get.? so far", part)
        ]
        if not odds or not levels:
            continue
        sentence = " ".join(odds)
        columns = (levels[name] for name in ("levels_percent", "end_either", "touch_either"))
        figures = [{f"{level:g}%", _chance(end), _chance(touch)} for level, end, touch in zip(*columns, strict=True)]
        if not any(all(figure in said for figure in known) for known in figures):
            return sentence
    return ""


def _chance(fraction: float) -> str:
    percent = 100 * fraction
    if percent < 1:
        return "under 1%"
    return "over 99%" if percent > 99 else f"{percent:.0f}%"


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
    text = paid.named["x402-atlas"]["summary"]
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
    near = all(abs(border - known["middle_third_percent"]) < _HALF_A_CENT for border in borders)
    return "" if len(said) == len(fields) and len(borders) == 2 and near else f"{known}: {text} {headline}"


STORY: Final[dict[str, Callable[[PaidTexts], str]]] = {
    "a paid text on another state than the axes'": other_state,
    "a paid text that gives the state another age": other_length,
    "odds of a level in words that no field has": other_odds,
    "a longer time with a narrower range": narrower_later,
    "parts of the next four hours that are not the fields'": other_parts,
}
"""Each row gives an example of what contradicts; empty where nothing does."""
