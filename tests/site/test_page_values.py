"""Every column of the pages shows the figure of the body of the same release, read back from the HTML."""

import json
import re
from dataclasses import replace
from functools import cache
from html import unescape
from typing import Any

import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.links import asset_path
from generator.catalog.text.now import call_sentence
from generator.catalog.text.state import ROUGHNESS
from generator.catalog.words import BIAS_OF_CALL, Call, SourceMode, VolatilityWord
from generator.compose.all import compose_free
from generator.compose.tick import Tick
from generator.site.pages.render import Pages
from generator.values.chances import Probabilities
from generator.values.hours import PredictionMade
from generator.values.scores import HoldScores
from tests.support import builders
from tests.support.builders import HOUR_MS, NOW_MS
from tests.support.page_view import context, predictions, rounds, view_of

MINUS = "\N{MINUS SIGN}"
DISC = "\N{BLACK CIRCLE}"
OUTCOMES = {"BULLISH": "▲ up", "NEUTRAL": f"{DISC} small move", "BEARISH": "▼ down"}
UNITS = {"bn": 1e9, "m": 1e6, "k": 1e3}
NUMBER = re.compile(rf"([+{MINUS}]?)\$?([\d,]+)(?:\.(\d+))?\s?(bn|m|k)?\b")
CONTEXTS = {
    "known": context,
    "full": builders.full_context,
    "missing asset": builders.missing_asset_context,
    "candles only": builders.candles_only_context,
    "hourly": builders.hourly_context,
    "young": builders.young_context,
    "nothing": builders.everything_missing_context,
}


class Rendered:
    """The pages of a tick, each rendered when it is first asked for."""

    def __init__(self, ctx: Tick, due: tuple[PredictionMade, ...] | None = None) -> None:
        of = view_of(ctx, rounds(), predictions() if due is None else due)
        self._make = {page.file: make for page, make in Pages().each(of)}
        self._html: dict[str, str] = {}

    def __getitem__(self, path: str) -> str:
        if path not in self._html:
            self._html[path] = self._make[path]()[path].decode()
        return self._html[path]


@cache
def html_of(name: str = "known") -> Rendered:
    return Rendered(CONTEXTS[name]())


@cache
def bodies_of(name: str = "known") -> dict[str, Any]:
    return {path: body.as_json() for path, body in compose_free(CONTEXTS[name]()).items()}


def body(endpoint: str, name: str = "known") -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in bodies_of(name).values() if one.get("endpoint") == endpoint)
    return found


def plain(html: str) -> str:
    """Return the text of a piece of HTML as readers see it."""
    seen = re.sub(r"<svg.*?</svg>", " ", html, flags=re.DOTALL)
    text = unescape(re.sub(r"<[^>]+>", " ", seen)).replace("\N{NO-BREAK SPACE}", " ")
    return re.sub(r"\s+([,.%;])", r"\1", re.sub(r"\s+", " ", text)).strip()


def table(html: str, caption: str) -> list[dict[str, str]]:
    """Return the rows of the tables with a caption, each as heading -> text."""
    rows = []
    for part in re.findall(r"<table.*?</table>", html, re.DOTALL):
        if plain(part.split("</caption>")[0].split("<caption>")[1]) == caption:
            head, lines = part.split("</thead>")
            names = [plain(cell) for cell in re.findall(r"<th\b.*?</th>", head, re.DOTALL)]
            for line in re.findall(r"<tr.*?</tr>", lines, re.DOTALL):
                cells = [plain(cell) for _, cell in re.findall(r"<(t[hd])\b.*?>(.*?)</\1>", line, re.DOTALL)]
                rows.append(dict(zip(names, cells, strict=True)))
    return rows


def facts(html: str, section: str) -> dict[str, str]:
    """Return what the list of facts of one section says, name -> value."""
    part = html.split(f'aria-labelledby="{section}"')[1].split("</dl>", maxsplit=1)[0]
    found = re.findall(r"<dt>(.*?)</dt><dd\b[^>]*>(.*?)</dd>", part, re.DOTALL)
    return {plain(name): plain(value) for name, value in found}


def shows(text: str, value: float | None, *, places: int | None = None, digits: int = 3) -> bool:
    """Return whether a text shows a number, rounded to these places or to as many digits; `unknown` for None alone."""
    if value is None:
        return text == "unknown"
    match = NUMBER.match(text)
    if match is None:
        return False
    sign, whole, rest, unit = match.groups()
    scale = UNITS.get(unit or "", 1.0)
    number = float(f"{whole.replace(',', '')}.{rest or 0}") * scale * (-1 if sign == MINUS else 1)
    last = scale * 10.0 ** -len(rest or "")
    is_exact = abs(number - value) <= last / 2 * 1.000001
    if places is not None:
        return is_exact and len(rest or "") == places
    return is_exact and (abs(value) == 0 or last / abs(value) < 2 * 10.0 ** (1 - digits) or abs(value - number) < 1e-9)


def signed(text: str, value: float | None, places: int = 2) -> bool:
    """Return whether a text shows a change in percent with its sign."""
    if value is None:
        return text == "unknown"
    rounded = round(value, places)
    begins = {1: "+", -1: MINUS, 0: "0"}[(rounded > 0) - (rounded < 0)]
    return shows(text, value, places=places) and text.startswith(begins) and text.endswith("%")


def moves(text: str, value: float | None) -> bool:
    """Return whether a text says a move without its sign: `up 1.9%`, `unchanged`; `unknown` for None alone."""
    if value is None or text == "unknown":
        return value is None and text == "unknown"
    if text == "unchanged":
        return abs(value) < 0.05
    way, size = text.split(" ")
    return way == ("up" if value > 0 else "down") and shows(size, abs(value), places=1 if abs(value) < 9.95 else 0)


def worded(text: str, word: str | None) -> bool:
    """Return whether a text is a word of the body; `unavailable` is unknown."""
    return text == ("unknown" if word in {None, "unavailable"} else str(word).replace("_", " "))


@pytest.mark.parametrize("name", CONTEXTS)
def test_the_chips_of_the_landing_page_show_price_day_and_state(name: str) -> None:
    html = html_of(name)["/index.html"]
    coin = body("main-brain", name)["coins"]["BTC"]
    regime = body("market-regime", name)["regime"]

    chips = [plain(chip) for chip in re.findall(r"<summary><span class=.hide.>(.*?)</summary>", html)]

    price, day, state = (chip.partition(": ")[2] for chip in chips)
    assert shows(price, coin["price"], digits=4)
    assert signed(day, coin["change_24h"], 1)
    assert state == ROUGHNESS[VolatilityWord(regime["volatility"])]


def test_the_landing_page_repeats_what_the_bodies_say_of_the_market() -> None:
    text = plain(html_of()["/index.html"])

    assert body("market-regime")["summary"] in text
    assert body("market-regime")["headline"] in text
    assert body("main-brain")["summary"] in text


@pytest.mark.parametrize("name", CONTEXTS)
def test_the_first_picture_draws_the_next_hour_on_the_scale_of_its_labels(name: str) -> None:
    html = html_of(name)["/index.html"]
    coin = body("main-brain", name)["coins"]["BTC"]
    if not coin["price"]:
        assert 'id="chart-day"' not in html
        return

    picture = html.split('id="chart-day"')[1].split("</svg>", maxsplit=1)[0]
    labels = re.findall(r'<text class="tick" x="[\d.]+" y="([\d.]+)"[^>]*>\$([\d,]+)<', picture)
    (first_y, first), (last_y, last) = [
        (float(y) - 5, float(usd.replace(",", ""))) for y, usd in (labels[0], labels[-1])
    ]
    drawn = re.findall(r'<rect class="(far90|far50)" x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"', picture)

    assert f">Bitcoin ${coin['price']:,.0f}<" in picture
    ends = (coin["ranges"] or {}).get("1h", {})
    assert [kind for kind, _, _ in drawn] == (["far90", "far50"] if ends else [])
    for kind, y, height in drawn:
        for place, end in ((float(y), f"high_{kind[3:]}"), (float(y) + float(height), f"low_{kind[3:]}")):
            usd = first + (place - first_y) / (last_y - first_y) * (last - first)
            assert usd == pytest.approx(coin["price"] * (1 + ends[end] / 100), rel=3e-4), end


def test_the_example_on_the_landing_page_is_what_that_address_returns() -> None:
    html = html_of()["/index.html"].split('id="api-part"')[1]
    command, answer = (unescape(code) for code in re.findall(r"<code>(.*?)</code>", html)[:2])

    returned = bodies_of()[command.split("127.0.0.1:8402")[1]]

    shown = json.loads(answer)
    hour = returned["reasoning"]["ranges"]["1h"]
    assert shown["reasoning"]["ranges"] == {"1h": {"low_90": hour["low_90"], "high_90": hour["high_90"]}}


@pytest.mark.parametrize("name", ["known", "full"])
def test_the_page_of_bitcoin_answers_whether_it_will_move(name: str) -> None:
    coin = body("main-brain", name)["coins"]["BTC"]
    said = call_sentence(CONTEXTS[name]().market_now)

    assert said in bodies_of(name)["/api/reasoning/BTC.json"]["reasoning"]["summary"]
    chances = [*coin["probabilities"].values(), 1 - coin["probabilities"]["neutral"]]
    assert any(f"{100 * chance:.0f}%" in said for chance in chances)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (Call.UP, "The call for Bitcoin is up: 39%, against 28% for the other way"),
        (Call.DOWN, "The call for Bitcoin is down: 39%, against 29% for the other way"),
        (Call.SMALL_MOVE, "Bitcoin will probably be about here in an hour: within $210 either way (54%; usually 35%)"),
        (Call.NONE, "An hour like most: the chance that Bitcoin ends it more than $210 from here, either way, is 66%"),
    ],
)
def test_what_is_called_is_said_with_its_chance_and_the_usual_one(call: Call, said: str) -> None:
    ctx = builders.full_context()
    assert ctx.reading is not None
    forecast = replace(builders.forecast("BTC", call), base_rate=Probabilities(0.311, 0.352, 0.337))
    read = replace(ctx.reading.assets["BTC"], forecast=forecast, bias=BIAS_OF_CALL[call], evidence=())
    reading = replace(ctx.reading, assets={**ctx.reading.assets, "BTC": read})

    bodies = compose_free(replace(ctx, reading=reading))

    assert said in bodies["/api/reasoning/BTC.json"].as_json()["reasoning"]["summary"]


# An asset


def page_of(asset: str) -> str:
    return f"{asset_path(asset)}index.html"


@pytest.mark.parametrize("name", ["known", "full", "missing asset", "hourly"])
@pytest.mark.parametrize("asset", ["BTC", "SOL", "HBAR"])
def test_the_page_of_an_asset_begins_with_its_price_and_change(name: str, asset: str) -> None:
    heading = plain(re.findall(r"<h1.*?</h1>", html_of(name)[page_of(asset)])[0])
    coin = body("main-brain", name)["coins"][asset]

    price, change = heading.removesuffix(" in a day").split(": ")[1].rsplit(", ", 1)
    assert shows(price, coin["price"], digits=4)
    assert moves(change, coin["change_24h"])


@pytest.mark.parametrize("asset", ASSETS)
def test_the_page_of_an_asset_shows_each_chance_next_to_its_base_rate(asset: str) -> None:
    rows = table(
        html_of()[page_of(asset)],
        "Chances over the next hour, and how often each happened lately",
    )
    reasoning = bodies_of()[f"/api/reasoning/{asset}.json"]["reasoning"]

    keys = {"▲ up": "up", f"{DISC} small move": "neutral", "▼ down": "down"}
    move = reasoning["move"]
    assert [row["Outcome"] for row in rows] == [f"a move of more than {move['band_percent']:.2f}%", *keys]
    assert shows(rows[0]["Chance"], 100 * move["chance"], places=1)
    assert shows(rows[0]["Base rate"], 100 * move["base_rate"], places=1)
    for row in rows[1:]:
        key = keys[row["Outcome"]]
        assert shows(row["Chance"], 100 * reasoning["probabilities"][key], places=1)
        assert shows(row["Base rate"], 100 * reasoning["base_rates"][key], places=1)


@pytest.mark.parametrize("asset", ["BTC", "ALGO"])
def test_the_page_of_an_asset_shows_its_ranges_in_percent_and_as_prices(asset: str) -> None:
    coin = body("main-brain")["coins"][asset]

    words = {"15m": "15 minutes", "1h": "1 hour", "4h": "4 hours", "24h": "24 hours"}
    shown = _ranges(asset)
    assert [(horizon, level) for horizon, level, _ in shown] == [
        (words[horizon], level) for horizon in coin["ranges"] for level in ("50%", "90%")
    ]
    ends_of = [ends for ends in coin["ranges"].values() for _ in range(2)]
    for (_, level, text), ends in zip(shown, ends_of, strict=True):
        found = re.fullmatch(r"(\S+) to (\S+) (\S+) to (\S+)", text)
        assert found is not None, text
        low, high = ends[f"low_{level[:2]}"], ends[f"high_{level[:2]}"]
        assert [signed(found[3], low), signed(found[4], high)] == [True, True]
        assert shows(found[1], coin["price"] * (1 + low / 100), digits=4)
        assert shows(found[2], coin["price"] * (1 + high / 100), digits=4)


@pytest.mark.parametrize("asset", ["BTC", "HBAR"])
def test_the_picture_on_the_page_of_an_asset_has_the_ends_of_its_ranges(asset: str) -> None:
    picture = html_of()[page_of(asset)].split(f'id="chart-{asset.lower()}-far"')[1].split("</svg>")[0]
    ranges = body("main-brain")["coins"][asset]["ranges"]

    ends = re.findall(rf">([+{MINUS}][\d.]+%)</text>", picture)

    published = [row[end] for row in ranges.values() for end in ("low_90", "high_90")]
    assert len(ends) == len(published) == 8
    assert all(map(signed, ends, published))


def _ranges(asset: str) -> list[tuple[str, str, str]]:
    """Return horizon, level and text of each row of the table of ranges; the horizon spans the rows of its group."""
    part = html_of()[page_of(asset)].split("50 and 90 times in 100</caption>")[1].split("</table>")[0]
    rows = []
    for group in part.split("<tbody>")[1:]:
        lines = [
            [plain(cell) for _, cell in re.findall(r"<(t[hd])\b.*?>(.*?)</\1>", line, re.DOTALL)]
            for line in re.findall(r"<tr.*?</tr>", group, re.DOTALL)
        ]
        horizon = lines[0].pop(0)
        rows += [(horizon, level, text) for level, text in lines]
    return rows


def reasons_of(asset: str) -> list[dict[str, str]]:
    """Return each reason of an asset with its words."""
    reasoning = bodies_of()[f"/api/reasoning/{asset}.json"]["reasoning"]
    rows = zip(reasoning["reasons"], reasoning["reason_points"], strict=True)
    return [{**reason, "text": point.partition(": ")[2]} for reason, point in rows]


def test_the_page_of_an_asset_gives_each_reason_with_how_it_bears_on_the_call() -> None:
    text = plain(html_of()[page_of("BTC")])
    reasons = reasons_of("BTC")

    bears = {"for": "agrees with the call", "against": "against the call"}
    bears |= {"neutral": "neither way", "missing": "not known"}
    assert reasons
    for row in reasons:
        assert f"{row['text']} {bears[row['bears_on_call']]}" in text
    known, agree, against = (
        sum(row["bears_on_call"] in words for row in reasons)
        for words in ({"for", "against", "neutral"}, {"for"}, {"against"})
    )
    verbs = ["agrees" if agree == 1 else "agree", "speaks" if against == 1 else "speak"]
    counted = f"of {known} signs {agree} {verbs[0]} with the call and {against} {verbs[1]} against it."
    assert f"context, and decides no call: {counted}" in text
    for said in body("derivatives")["assets"]["BTC"]["evidence"]:
        assert said in text


def test_without_a_call_an_assets_page_says_only_which_way_the_evidence_points() -> None:
    asset = next(name for name, coin in body("main-brain")["coins"].items() if coin["call"] == "none")
    reasons = reasons_of(asset)

    text = plain(html_of()[page_of(asset)])

    assert {row["bears_on_call"] for row in reasons} == {"neutral"}
    assert "No call. The evidence is context, and decides no call." in text
    for row in reasons:
        points = {"up": "for a rise", "down": "for a fall"}.get(row["points"], "neither way")
        assert f"{row['text']} {points}" in text
    assert not re.search("agrees|expected|wrong", text.split("Will it move")[1].split("Futures")[0])


def test_the_page_of_an_asset_counts_its_own_calls_that_came_true() -> None:
    mine = [made for made in predictions() if made.asset == "ETH" and made.outcome is not None and not made.warm_up]
    called = [made for made in mine if made.call != "none"]
    right = sum(made.outcome == made.prediction for made in called)
    usual = sum(made.outcome == "NEUTRAL" for made in called)  # its base rate is the highest in each of them

    text = plain(html_of()[page_of("ETH")])

    n = len(called)
    assert 30 <= n < len(mine)
    assert f"Calls: {100 * right / n:.1f}% of {n} calls were right" in text
    assert f"always naming the outcome most frequent before gets {100 * usual / n:.1f}%)" in text
    assert f"{len(mine) - n} forecasts made no call." in text


@pytest.mark.parametrize("calls", ["none", None])
def test_hours_without_a_call_make_no_rate_on_the_page_of_an_asset(calls: str | None) -> None:
    due = tuple(replace(made, call=None if calls is None else Call(calls)) for made in predictions())

    text = plain(Rendered(context(), due)[page_of("ETH")])

    assert "Calls: none has been scored." in text
    assert "calls were right" not in text


# The Arena


def test_the_arena_shows_the_live_round_fact_by_fact() -> None:
    shown = facts(html_of()["/arena/index.html"], "live")
    shared = body("shared-intelligence")
    prices, current = shared["price"], shared["round"]

    assert shown["Time left"] == current["timer"]
    assert shows(shown["Started at"], prices["start"], digits=4)
    assert shows(shown["Now"], prices["now"], digits=4)
    assert signed(shown["Since the start"], prices["change_bps"] / 100, 3)
    assert shows(shown["Small move"].removeprefix("±"), current["band_bps"] / 100, places=3)


def test_the_arena_shows_the_brains_chances_of_the_live_round() -> None:
    chances = body("shared-intelligence")["brain_snapshot"]["probabilities"]
    up, neutral, down = (f"{100 * chances[key]:.1f}%" for key in ("up", "neutral", "down"))

    text = plain(html_of()["/arena/index.html"])

    assert f"Chances: up {up}, small move {neutral}, down {down}." in text


def test_the_arena_shows_how_many_voted_for_what() -> None:
    live = context().arena.live_tally

    text = plain(html_of()["/arena/index.html"])

    assert f"up {live.bullish} of 21, small move {live.neutral} of 21, down {live.bearish} of 21" in text


def test_the_arena_lists_each_finished_round_as_published() -> None:
    rows = table(html_of()["/arena/history/index.html"], "Finished rounds, newest first")
    played = rounds()[:48]

    assert len(rows) == len(played)
    for row, published in zip(rows, played, strict=True):
        came, said = published["outcome"], published["forecast"]["prediction"]
        has_call = published["forecast"]["call"] != "none"
        verdict = ""
        if came is not None:
            verdict = " ✓ right" if said == came else " ✗ wrong"
        assert row["Brain"] == (f"{OUTCOMES[said]}{verdict}" if has_call else "no call")
        assert row["Outcome"].startswith(OUTCOMES[came] if came else "void: too few venues")
        moved = published["change_bps"]
        assert signed(row["Move"], None if moved is None else moved / 100, 3)
        total = sum(published["votes"].values())
        assert row["Votes"] == (f"{total} real" if total else "0")
        assert row["People"].startswith("▲ up" if total else "none")
        assert row["Round"].startswith(published["asset"])
        assert ("backtest" in row["Round"]) is published["warm_up"]


def test_the_arena_shows_patterns_and_places_of_the_published_lessons() -> None:
    lessons = body("teacher-lessons")
    patterns = table(html_of()["/arena/history/index.html"], "How often brain and people were right, by kind of round")
    places = table(
        html_of()["/arena/history/index.html"],
        "Voters by how much oftener they were right than the likeliest outcome came",
    )
    by_score = table(
        html_of()["/arena/history/index.html"],
        "Voters by what their chances saved against the base rate, per round since their first vote",
    )

    assert [row["Rounds"] for row in patterns] == [row["when"] for row in lessons["patterns"]]
    for row, published in zip(patterns, lessons["patterns"], strict=True):
        assert row["Count"] == str(published["rounds"])
        for heading, key in (("Brain right", "brain"), ("People right", "crowd"), ("Both wrong", "both_wrong")):
            rate = published[key]
            few = f"{rate['hits']} of {rate['n']}"
            assert row[heading] == (f"{rate['percent']:.1f}%" if rate["n"] >= 30 else few)
    for rows, name in ((places, "places"), (by_score, "by_score")):
        for row, published in zip(rows, lessons["leaderboard"][name], strict=True):
            luck = "beyond luck" if published["beyond_luck"] else "may be luck"
            marks = f"{luck}, provisional" if published["provisional"] else luck
            assert (row["Place"], row["Voter"]) == (str(published["place"]), f"{published['voter']} {marks}")
            assert row["Rounds"] == str(published["rounds"])
    for row, published in zip(places, lessons["leaderboard"]["places"], strict=True):
        hit, above = published["hit"], published["above_likeliest"]
        assert row["Right"].startswith(f"{hit['percent']:.1f}% of {hit['n']} (95% interval")
        assert row["Above the likeliest"] == f"{100 * above['value']:+.1f}%".replace("-", MINUS)
        assert row["95% interval"] == f"{100 * above['low']:+.1f} to {100 * above['high']:+.1f}%".replace("-", MINUS)
        assert row["Luck of the best"] == f"{100 * published['luck']:+.1f}%"
    for row, published in zip(by_score, lessons["leaderboard"]["by_score"], strict=True):
        saved = published["brier_saved"]
        assert row["Votes"] == str(published["n"])
        assert row["Saved"] == f"{saved['value']:+.3f}".replace("-", MINUS)
        assert row["95% interval"] == f"{saved['low']:+.3f} to {saved['high']:+.3f}".replace("-", MINUS)
        assert row["Luck of the best"] == f"{published['luck']:+.3f}"


# The record


def test_the_record_shows_every_score_of_the_ranges_as_published() -> None:
    rows = table(html_of()["/track-record/index.html"], "Ranges and moves, by horizon")
    horizons = body("statistics")["main_brain"]["how_far"]["horizons"]

    published = [(horizon, score) for horizon in horizons for score in horizon["scores"]]
    assert len(rows) == len(published)
    words = {"15m": "15 minutes", "1h": "1 hour", "4h": "4 hours", "24h": "24 hours"}
    for row, (horizon, score) in zip(rows, published, strict=True):
        assert (row["Horizon"], row["Forecaster"]) == (words[horizon["horizon"]], score["name"].replace("_", " "))
        assert row["Moves"] == f"{horizon['resolved']:,}"
        assert shows(row["Inside 50%"], score["inside_50_percent"]["value"], places=1)
        assert shows(row["Inside 90%"], score["inside_90_percent"]["value"], places=1)
        assert row["Pinball loss"] == f"{score['pinball']:.4f}"
        assert row["QLIKE"] == f"{score['qlike']:.4f}".replace("-", MINUS)


def test_the_record_shows_every_score_of_the_forecasts_as_published() -> None:
    shown = facts(html_of()["/track-record/index.html"], "hourly")
    published = body("main-brain")["public_performance"]

    assert shown["Judged"] == f"{published['resolved']:,}"
    assert shows(shown["Right"], published["hit_rate_percent"], places=1)
    assert shows(shown["Chance level"], published["chance_percent"], places=1)
    assert shows(shown["Brier score"], published["brier"], places=4)
    assert shows(shown["Skill"], published["skill_percent"], places=1)
    assert shows(shown["Log score"], published["log_score"], places=4)


def test_the_record_shows_each_level_of_confidence_with_what_came_true() -> None:
    rows = table(html_of()["/track-record/index.html"], "Confidence that was given, and how often the call was right")
    bins = [part for part in body("main-brain")["public_performance"]["calibration"] if part["hit"]]

    rows = rows[: len(bins)]
    assert len(rows) == len(bins) == 2
    for row, part in zip(rows, bins, strict=True):
        assert shows(row["Mean confidence"], part["said_percent"], places=1)
        assert row["Forecasts"] == f"{part['n']:,}"
        assert shows(row["Right"], part["hit"]["percent"], places=1)
        low, high = part["hit"]["low_percent"], part["hit"]["high_percent"]
        assert row["95% interval"] == f"{low:.1f} to {high:.1f}%"
        assert row["Confidence inside it"] == ("yes" if low <= part["said_percent"] <= high else "no")


def test_the_record_shows_each_chance_of_the_regime_with_how_often_it_stood() -> None:
    html = html_of()["/track-record/index.html"]
    rows = table(html, "Chance that the label still stands, and how often it did")
    live = body("statistics")["main_brain"]["regime"]
    bins = [part for part in live["calibration"] if part["hit"]]

    assert len(rows) == len(bins) == 3
    for row, part in zip(rows, bins, strict=True):
        assert shows(row["Mean chance"], part["said_percent"], places=1)
        assert row["Hours"] == f"{part['n']:,}"
        assert shows(row["Still stood"], part["hit"]["percent"], places=1)
        low, high = part["hit"]["low_percent"], part["hit"]["high_percent"]
        assert row["95% interval"] == f"{low:.1f} to {high:.1f}%"
        assert row["Chance inside it"] == ("yes" if low <= part["said_percent"] <= high else "no")


def test_the_record_shows_the_scores_of_the_regimes_chances_as_published() -> None:
    html = html_of()["/track-record/index.html"]
    rows = table(html, "Brier score of the four labels, 0 is perfect")
    live = body("statistics")["main_brain"]["regime"]

    names = ("four_way_brier", "four_way_brier_climate", "four_way_brier_persistence")
    assert [row["Brier score"] for row in rows] == [f"{live[name]:.4f}" for name in names]
    assert rows[0]["Skill against it"] == ""
    for row, name in zip(rows[1:], ("climate_skill_percent", "persistence_skill_percent"), strict=True):
        value, low, high = (f"{live[name][end]:+.1f}%" for end in ("value", "low", "high"))
        assert row["Skill against it"] == f"{value} ({low} to {high})"
    assert unescape(live["statement"]) in plain(html)


def test_before_thirty_live_cases_the_table_is_the_backtests_and_says_so() -> None:
    ctx = context()
    few = replace(builders.holds(), live=HoldScores())
    html = Rendered(replace(ctx, arena=replace(ctx.arena, holds=few)))["/track-record/index.html"]

    rows = table(html, "Chance that the label still stands, and how often it did")
    assert [row["Hours"] for row in rows] == [str(part.n) for part in few.backtest.bins if part.hit]
    assert "Until 30 live chances have been judged, the tables are of the backtest" in plain(html)
    assert "No label&#39;s chance to stand for 4 hours has been scored yet." in html


def test_the_first_figure_of_the_record_is_the_share_inside_the_90_percent_range() -> None:
    html = html_of()["/track-record/index.html"]
    hour = body("main-brain")["public_performance"]["how_far"]

    number = plain(re.findall(r'<p class="number">(.*?)</p>', html)[0])
    what = plain(re.findall(r'<p class="what">(.*?)</p>', html)[0])

    assert shows(number, hour["inside_90_percent"]["value"], places=1)
    ends = f"{hour['inside_90_percent']['low']:.1f} to {hour['inside_90_percent']['high']:.1f}%"
    assert (
        what == f"of {hour['n']:,} moves over 1 hour ended inside the 90% range 95% interval {ends}; 90% would be right"
    )
    assert number in plain(html_of()["/index.html"])


# The foot


def test_the_foot_of_the_first_page_shows_each_source_as_published() -> None:
    text = plain(html_of()["/index.html"])

    for row in body("market-regime")["freshness"]["sources"]:
        assert f"{row['name']} {row['kind'].replace('_', ' ')} {row['status']}" in text


# Today's examples


def terms(ctx: Tick, due: tuple[PredictionMade, ...] | None = None) -> dict[str, str]:
    """Return the sentence of each term of the glossary that has one today."""
    html = Rendered(ctx, due)["/methodology/index.html"]
    found = re.findall(r"<dt[^>]*>(.*?)</dt>(.*?)(?=<dt|</dl>)", html, re.DOTALL)
    said = {plain(term): re.findall(r"((?:Today|In the replay): .*)", plain(meaning)) for term, meaning in found}
    return {term: examples[0] for term, examples in said.items() if examples}


def test_the_glossary_s_examples_are_the_figures_of_the_bodies() -> None:
    ctx = context()
    made = terms(ctx)
    regime, coin = body("market-regime")["regime"], body("main-brain")["coins"]["BTC"]
    futures, book = body("derivatives")["assets"]["BTC"], body("liquidity-lite")["assets"]["BTC"]
    hour = {end: f"{'+' if of > 0 else MINUS}{abs(of):.2f}%" for end, of in coin["ranges"]["1h"].items()}

    text = " ".join(made.values())

    assert (
        f"confidence in the regime is {regime['confidence']:.1f}%, in Bitcoin's forecast {coin['confidence']:.1f}%"
        in text
    )
    for times, level in (("nine times in ten", "90"), ("one time in two", "50")):
        assert (
            f"{times}, Bitcoin should end the next hour between {hour[f'low_{level}']} and {hour[f'high_{level}']}"
            in text
        )
    assert f"futures on {futures['open_interest']['contracts']:,.0f} BTC are open, worth $8.12 bn" in text
    assert f"Bitcoin's best bid and best ask are {book['spread_bps']:.2f} basis points apart" in text
    assert "bids and asks worth $12.3 m rest within 1% of Bitcoin's price" in text


@pytest.mark.parametrize(
    ("rate", "who"), [(0.0002, "longs pay shorts"), (-0.0002, "shorts pay longs"), (0.0, "neither side pays")]
)
def test_the_example_of_funding_says_who_pays(rate: float, who: str) -> None:
    ctx = context()
    seen = ctx.observation.assets["BTC"]
    assert seen.funding is not None
    changed = replace(seen, funding=replace(seen.funding, rate_8h=rate))
    assets = {**ctx.observation.assets, "BTC": changed}

    made = terms(replace(ctx, observation=replace(ctx.observation, assets=assets)))

    sign = ""
    if rate:
        sign = "+" if rate > 0 else MINUS
    assert f"Bitcoin's funding is {sign}{abs(100 * rate):.4f}% per 8 hours: {who}." in " ".join(made.values())


@pytest.mark.parametrize("hours", [23, 25])
def test_realised_volatility_is_of_the_newest_hour_while_it_is_of_today(hours: int) -> None:
    due = tuple(made for made in predictions() if made.start_ms <= NOW_MS - (hours - 1) * HOUR_MS)
    newest = next(made for made in due if made.asset == "BTC")

    text = " ".join(terms(context(), due).values())

    assert newest.ranges is not None
    sigma = newest.ranges["1h"].last_day
    assert (f"Bitcoin's realised volatility was {sigma:.2f}% an hour" in text) is (hours < 24)


def test_in_a_replay_the_examples_are_of_the_replay() -> None:
    assert all(text.startswith("In the replay: ") for text in terms(context(SourceMode.RECORDED)).values())
