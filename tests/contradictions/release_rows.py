"""What the bodies and pages of one release may not say together."""

import re
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from typing import Any, Final, NamedTuple

from generator.catalog.assets import ASSET_NAMES

_OWN_TIME: Final = {
    "brain_snapshot",
    "teacher_brain",
    "latest_lessons",
    "replay",
    "events",
    "round",
    "price",
    "freshness",
    "partition",
}
"""Blocks of another time than now, what was sealed and what is over, or of another horizon than an hour."""
_QUANTITIES: Final = (
    *("price", "change_24h", "call", "confidence", "probabilities", "base_rates", "move", "ranges", "bias"),
    *("band_bps", "agreement_percent", "coverage_percent", "trend", "structure", "volatility"),
)
_ENOUGH: Final = 30
_RATE: Final = re.compile(
    r"\d+(?:\.\d+)?% (?:\[[^\]]*\] )?of ([\d,]+) (?:calls|forecasts|moves|prices|rounds|votes)|"
    r"of ([\d,]+) (?:calls|forecasts|moves|prices|rounds) \d+(?:\.\d+)?%"
)
_BLIND: Final = re.compile(r"blind guess (?:among three )?gets 33|against (?:chance|a guess) of 33")
# What people are shown by one name each, and the other names that the same thing once had.
_OTHER_NAMES: Final = {
    "mixed": r"no clear regime|\btransition\b|none fits",
    "no call": r"no direction (?:is|was)|no clear move|\bno side\b",
    "up, small move and down": r"\b(bullish|bearish|no move)\b|\bsame\b(?= or down)",
    "volatility": r"\bswings\b",
    "people": r"\bhumans\b",
}
_SIDES: Final = {
    "rising": "rising day",
    "falling": "falling day",
    "flat": "flat day",
    "both_ways": "day of ups and downs",
}


class Counted(NamedTuple):
    """What the record holds of live forecasts, counted apart from the product."""

    calls: int
    right: int
    without: int
    resolved: int


class Release(NamedTuple):
    """One release as readers get it."""

    bodies: Mapping[str, Any]  # by file name
    pages: Mapping[str, str]  # visible text of pages for people, by path
    hourly: Counted | None = None
    arena: Counted | None = None

    @property
    def landing(self) -> str:
        """The visible text of the landing page."""
        return self.pages.get("index.html") or self.pages.get("/index.html", "")

    def texts(self) -> Iterator[str]:
        """Give every sentence of the bodies, then the text of each page."""
        for body in self.bodies.values():
            yield from (value for _, value in leaves(body) if isinstance(value, str))
        yield from self.pages.values()


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give every value of a body that is neither a list nor an object, with its path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, (*path, str(number)))
    else:
        yield path, value


def blocks(value: Any, key: str) -> Iterator[Any]:
    """Give every object of a body under a key."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key:
                yield inner
            yield from blocks(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from blocks(inner, key)


def visible(page: str) -> str:
    """Return what people read of a page: without markup, code, scripts and what is folded into drawings."""
    text = re.sub(r"<(script|style|svg|code|pre|head)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text)))


def _of_assets(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give every object of a body that is about one asset now."""
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        if key in _OWN_TIME and isinstance(inner, dict):
            continue
        if key in ASSET_NAMES and isinstance(inner, dict):
            yield key, inner
        elif key == "reasoning" and isinstance(inner, dict):
            yield value["asset"], inner
        yield from _of_assets(inner)


def two_values(release: Release) -> str:
    """Return what one asset has two values of, across bodies; empty where all agree."""
    seen: dict[tuple[str, str], Any] = {}
    for body in release.bodies.values():
        for asset, block in _of_assets(body):
            for name in _QUANTITIES:
                # Elsewhere a confidence is that of a state or a regime.
                if name not in block or (name == "confidence" and "call" not in block):
                    continue
                first = seen.setdefault((asset, name), block[name])
                if first != block[name]:
                    return f"{asset} {name}: {first} and {block[name]}"
    for name in ("headline",):
        free = [body for body in release.bodies.values() if "payment_status" not in body]
        values = {text for body in free for text in blocks(body, name)}
        if len(values) > 1:
            return f"{name}: {values}"
    return ""


def one_name(release: Release) -> str:
    """Return where a page calls a thing by a name that it no longer has; empty where none does."""
    for path, text in release.pages.items():
        for thing, others in _OTHER_NAMES.items():
            found = re.search(others, text)
            if found:
                return f"{path}: {thing} is called {text[max(0, found.start() - 60) : found.end() + 30]}"
    return ""


def known_after_all(release: Release) -> str:
    """Return a text that says that something is not known which a field of the release has; empty where none does."""
    unknown = list(_unknowns(release))
    for text in release.texts():
        for pattern, field in unknown:
            found = re.search(pattern, text)
            if found:
                return f"{field}: {text[max(0, found.start() - 60) : found.end() + 30]}"
    return ""


def _unknowns(release: Release) -> Iterator[tuple[str, str]]:
    """Give what must not be said, with the field that knows it."""
    regime: Mapping[str, Any] = next(
        (found for body in release.bodies.values() for found in blocks(body, "regime") if "axes" in found), {}
    )
    if regime.get("label") not in {None, "unknown"}:
        yield r"[Rr]egime is (?:unknown|not known)", f"regime.label {regime['label']}"
    if regime.get("axes", {}).get("side") not in {None, "unknown"}:
        yield r"What the market did over the last day is not known|side unknown", "the side of the last 24 hours"
    if regime.get("volatility") not in {None, "unknown"}:
        yield r"volatility unknown", "regime.volatility"

    coins = release.bodies.get("main-brain", {}).get("coins", {})
    for asset, name in ASSET_NAMES.items():
        coin = coins.get(asset, {})
        if coin.get("price") is not None:
            yield rf"\b{name}: no price is known|no data for (?:[A-Z]+, )*{asset}\b", f"price of {asset}"


def rates_below(release: Release) -> str:
    """Return a rate in words with fewer than 30 cases; empty where there is none."""
    for text in release.texts():
        for found in _RATE.finditer(text):
            if int((found[1] or found[2]).replace(",", "")) < _ENOUGH:
                return text[max(0, found.start() - 80) : found.end()]
    return ""


def _records(release: Release) -> Iterator[tuple[Mapping[str, Any], Counted]]:
    """Give each published record with what is counted of it."""
    statistics = release.bodies.get("statistics", {})
    hourly = [
        statistics.get("main_brain", {}).get("record"),
        release.bodies.get("main-brain", {}).get("public_performance"),
        *blocks(release.bodies.get("x402-main-brain", {}), "track_record"),
        *blocks(release.bodies.get("x402-atlas", {}), "track_record"),
    ]
    if release.hourly is not None:
        yield from ((record, release.hourly) for record in hourly if record)
    arena = statistics.get("arena", {}).get("record")
    if release.arena is not None and arena:
        yield arena, release.arena


def no_call_counted(release: Release) -> str:
    """Return a hit rate whose cases are not the calls; empty where each is."""
    for record, counted in _records(release):
        by_call = record["by_call"].values()
        claimed = (record["n"], sum(rate["n"] for rate in by_call), sum(rate["hits"] for rate in by_call))
        if claimed != (counted.calls, counted.calls, counted.right) or record["no_calls"] != counted.without:
            return f"{record['kind']}: {claimed}, {record['no_calls']} without, counted {counted}"
    report = release.bodies.get("x402-atlas-human-report", {}).get("report", {}).get("track_record")
    if report and release.hourly and (report["n"], report["right"]) != release.hourly[:2]:
        return f"report: {report['n']}, {report['right']}, counted {release.hourly}"
    return ""


def backtest_counted(release: Release) -> str:
    """Return a record or a rate that has a backtest in its n; empty where none does."""
    for record, counted in _records(release):
        if record["resolved"] != counted.resolved:
            return f"{record['kind']}: {record['resolved']} resolved, counted {counted.resolved}"
    for name, body in release.bodies.items():
        for path, value in leaves(body):
            # A loss of the backtest is listed as one, and counted nowhere.
            # An event says which of the two records its figures are of; they are never of both.
            is_apart = "backtest" in path[:-1] or not {"latest_arena_losses", "events"}.isdisjoint(path)
            if path[-1] == "backtest" and value is True and not is_apart:
                return f"{name} {'.'.join(path)}"
    return ""


def blind_guess(release: Release) -> str:
    """Return where a hit rate is compared with a guess among three; empty where none is."""
    for text in release.texts():
        found = _BLIND.search(text)
        if found and "score" not in text[max(0, found.start() - 60) : found.end()]:
            return text[max(0, found.start() - 60) : found.end() + 30]
    return ""


def wrong_confidence(release: Release) -> str:
    """Return a confidence without a call, or another than the chance of the called outcome; empty where none is."""
    places = {"up": "up", "small_move": "neutral", "down": "down"}
    for body in release.bodies.values():
        for asset, block in _of_assets(body):
            if "probabilities" not in block or "call" not in block:
                continue
            call, confidence, kind = block["call"], block["confidence"], block["confidence_kind"]
            if call in {None, "none"}:
                if confidence is not None or kind != "no_call":
                    return f"{asset}: no call, confidence {confidence}, {kind}"
            elif round(100 * block["probabilities"][places[call]], 1) != confidence:
                return f"{asset}: {call}, confidence {confidence}"
    return ""


def two_chances_of_a_move(release: Release) -> str:
    """Return a chance of a move in words, in a body or on a page, that is not that of the field."""
    for asset, coin in release.bodies["main-brain"]["coins"].items():
        if coin["move"] is None:
            continue
        chance, usual = (round(100 * coin["move"][name], 2) for name in ("chance", "base_rate"))
        field = f"{chance:.1f}% (usually {usual:.1f}%)"

        for body in release.bodies.values():
            if "reasoning" in body and body["asset"] == asset:
                for pair in re.findall(r"(\d+)%; usually (\d+)%", body["reasoning"]["summary"]):
                    said, usually = map(float, pair)
                    moves = max(abs(said - chance), abs(usually - usual))
                    stays = max(abs(said - 100 + chance), abs(usually - 100 + usual))
                    if min(moves, stays) > 0.6:
                        return f"{asset}: {said:.0f}%; usually {usually:.0f}%, the field {field}"
        row = rf"\b{asset} (?:{ASSET_NAMES[asset]} )?.{{0,80}}?(\d+\.\d% \(usually \d+\.\d%\))"
        other = [words for words in re.findall(row, release.landing) if words != field]
        if other:
            return f"{asset}: {other[0]}, the field {field}"
    return ""


def other_side_on_the_page(release: Release) -> str:
    """Return the side among the landing page's figures where it is not that of the bodies."""
    side = _SIDES.get(release.bodies["market-regime"]["regime"]["axes"]["side"])
    found = re.search(rf"\bLast 24 hours ({'|'.join(_SIDES.values())})\b", release.landing)
    return f"{found[1]}, the bodies {side}" if found and side and found[1] != side else ""


RELEASE: Final[dict[str, Callable[[Release], str]]] = {
    "one quantity, two values": two_values,
    "two names for one thing on a page": one_name,
    "not known said of what a field knows": known_after_all,
    "a rate in words of fewer than 30": rates_below,
    "a hit rate that counts no call": no_call_counted,
    "a rate with a backtest in its n": backtest_counted,
    "a hit rate compared with a guess among three": blind_guess,
    "a confidence without a call, or of another outcome": wrong_confidence,
    "two chances of one move": two_chances_of_a_move,
    "a side on the landing page that the bodies contradict": other_side_on_the_page,
}
