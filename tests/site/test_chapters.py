"""Chapters of Learn: their questions are counted from the hours that they name, here a second time in another way."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from math import comb, isclose, sqrt
from statistics import NormalDist, correlation, fmean, median, pstdev
from typing import Any, Final

import numpy as np
import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.chapters import CHAPTERS, EARLIER
from generator.catalog.words import Call, Prediction
from generator.market.bars import BAR_FIELDS, BarFrame, FloatArray
from generator.site.pages.chapters.chapter import Ask, Facts, Guess
from generator.site.pages.learn import ASKED, chapter_view
from generator.site.words.month import HourlyMonth, hourly_month
from generator.values.hours import Move, PredictionMade
from tests.support.builders import empty_arena
from tests.support.page_view import Rendered, predictions, rendered, view
from tests.taught import refuted_square_root, simulated_months, verdicts_of

VOID: Final = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta", "path", "rect", "source", "wbr"})

HOURS = 240
START_MS = 1_790_035_200_000  # 00:00 UTC
Asked = Sequence[Ask]


def frame() -> BarFrame:
    """Return ten days of hourly bars of all assets, some values of which are unknown."""
    drawn = np.random.default_rng(20261126)
    shared = drawn.standard_t(3, size=(HOURS + 1, 1))
    steps = 0.4 * shared + 0.3 * drawn.standard_normal((HOURS + 1, len(ASSETS)))
    fields = {name: np.full((HOURS + 1, len(ASSETS)), np.nan) for name in BAR_FIELDS}
    fields["close"] = 100 * np.exp(np.cumsum(steps, axis=0) / 100)
    fields["close"][50] = np.nan
    fields["funding"] = drawn.normal(0.0001, 0.0002, fields["close"].shape)
    fields["open_interest"] = 1_000 + np.cumsum(drawn.standard_normal(fields["close"].shape), axis=0)
    fields["depth_usd"] = drawn.uniform(1e6, 9e6, fields["close"].shape)
    fields["imbalance"] = drawn.uniform(-0.5, 0.5, fields["close"].shape)
    fields["spread_bps"] = drawn.uniform(0.5, 2.0, fields["close"].shape)
    times = np.arange(HOURS + 1, dtype=np.int64) * HOUR_MS + START_MS - HOUR_MS
    return BarFrame(ASSETS, times, fields, HOUR_MS)


BARS = frame()
MONTH = hourly_month(BARS)
FIRST = next(one for one in predictions() if one.ranges)


def facts(month: HourlyMonth = MONTH, due: Sequence[PredictionMade] = ()) -> Facts:
    return Facts(month, due, empty_arena())


def made(asset: str, hour: int, move: float, **more: Any) -> PredictionMade:
    """Return a forecast of an hour of live play that came, with ranges of 0.2 and 0.5 either way."""
    assert FIRST.ranges is not None
    ranges = {"1h": replace(FIRST.ranges["1h"], low_90=-0.5, low_50=-0.2, high_50=0.2, high_90=0.5)}
    known = {"1h": Move(100.0, move)}
    return replace(FIRST, asset=asset, start_ms=hour * HOUR_MS, ranges=ranges, moves=known, **more)


def moves_of(asset: str, hours: int = 1) -> list[float]:
    """Count moves from the bars themselves, oldest first."""
    closes = BARS.fields["close"][:, ASSETS.index(asset)]
    found = 100 * (closes[hours:] / closes[:-hours] - 1)
    return [float(move) for move in found if not np.isnan(move)]


def guess_of(ask: Ask) -> Guess:
    assert ask.guess is not None
    return ask.guess


def answers(asked: Asked) -> list[float]:
    return [guess_of(ask).answer for ask in asked if ask.guess]


def test_a_month_holds_full_hours_and_no_number_for_what_is_unknown() -> None:
    assert MONTH.ends_ms[0] == START_MS
    assert len(MONTH.ends_ms) == HOURS + 1
    assert MONTH.values["close", "BTC"][50] is None
    assert START_MS + 50 * HOUR_MS not in MONTH.moves()
    assert START_MS + 51 * HOUR_MS not in MONTH.moves()
    assert list(MONTH.moves("ETH").values()) == pytest.approx(moves_of("ETH"))
    assert hourly_month(None) == HourlyMonth()


def test_bars_of_five_minutes_count_by_what_closed_at_full_hours() -> None:
    times = np.arange(25, dtype=np.int64) * 300_000 + START_MS
    fields = {name: np.full((25, len(ASSETS)), 7.0) for name in BAR_FIELDS}
    fields["close"] = np.arange(25 * len(ASSETS), dtype=float).reshape(25, len(ASSETS))

    month = hourly_month(BarFrame(ASSETS, times, fields))

    assert month.ends_ms == (START_MS + HOUR_MS, START_MS + 2 * HOUR_MS)
    assert month.values["close", "BTC"] == (11.0 * len(ASSETS), 23.0 * len(ASSETS))


def test_base_rates_are_those_of_the_month() -> None:
    asked = ASKED["base-rates"](facts())
    moves = moves_of("BTC")
    near = sum(abs(move) <= 0.25 for move in moves)
    known = dict(zip(MONTH.ends_ms, MONTH.values["close", "BTC"], strict=True))
    triples = [[known.get(end - back * HOUR_MS) for back in (2, 1, 0)] for end in MONTH.ends_ms[2:]]
    again = [c > b for a, b, c in triples if a is not None and b is not None and c is not None and b > a]
    midnights = [known[at] for at in MONTH.ends_ms if at % (24 * HOUR_MS) == 0]

    near_guess, again_guess, days_guess = answers(asked)
    assert near_guess == pytest.approx(100 * near / len(moves))
    assert asked[0].tell.startswith(f"{near} of {len(moves)}, {round(near_guess)} in 100 (")
    assert again_guess == pytest.approx(100 * fmean(again))
    assert days_guess == sum(after > before for before, after in pairwise(midnights) if before and after)
    assert f"right in {round(near_guess)} of 100 hours" in asked[3].question
    bars = [int(row[1].split()[0]) for row in chart_of(asked[0])]
    assert bars[0] == near
    assert sum(bars) == len(moves)


def chart_of(ask: Ask) -> tuple[tuple[str, ...], ...]:
    assert ask.picture is not None
    assert not isinstance(ask.picture, str)
    return ask.picture.caption.rows


def test_an_hour_that_did_not_move_is_counted_once() -> None:
    still = replace(MONTH, values={("close", "BTC"): (100.0,) * (HOURS + 1)})

    first, *_ = ASKED["base-rates"](facts(still))

    assert [row[1] for row in chart_of(first)] == [f"{HOURS} of {HOURS}", *[f"0 of {HOURS}"] * 3]


def test_moves_over_time_stand_next_to_the_rule_of_the_square_root() -> None:
    asked = ASKED["volatility"](facts())
    typical = {hours: median(map(abs, moves_of("BTC", hours))) for hours in (1, 4, 12, 24)}

    assert guess_of(asked[0]).answer == pytest.approx(typical[24])
    assert f"{typical[24]:.2f}%" in asked[0].tell
    assert f"{typical[1] * sqrt(24):.2f}%" in asked[0].tell
    for row, (hours, size) in zip(chart_of(asked[0]), typical.items(), strict=True):
        assert row[1] == f"{size:.2f}% (rule {typical[1] * hours**0.5:.2f}%)"
    # A day went half as far again as the rule says: the exercise does not apply it to a week.
    assert typical[24] / (typical[1] * 24**0.5) > 1.4
    assert f"24 hours the moves went {typical[24] / typical[1] / 24**0.5:.1f} times as far" in asked[-1].tell
    assert refuted_square_root(asked) is False


def month_of(steps: FloatArray) -> HourlyMonth:
    """Return a month in which Bitcoin moved by so many percent an hour."""
    closes = 100 * np.exp(np.cumsum(steps) / 100)
    return HourlyMonth(
        tuple(START_MS + hour * HOUR_MS for hour in range(len(steps))), {("close", "BTC"): tuple(closes.tolist())}
    )


INDEPENDENT: Final = np.random.default_rng(3).standard_normal(720)


def test_a_rule_is_applied_where_the_bars_agree_with_it_and_else_questioned() -> None:
    agreed, refuted = (ASKED["volatility"](facts(month_of(INDEPENDENT + drift))) for drift in (0.0, 0.5))
    day = median(map(abs, month_of(INDEPENDENT).moves(hours=24).values()))

    assert guess_of(agreed[-1]).answer == pytest.approx(day * 7**0.5)
    assert refuted[-1].question.endswith("Would you use the rule for a week?")
    assert [refuted_square_root(asked) for asked in (agreed, refuted)] == [False, False]
    # What stood there before: the rule below bars that deny it.
    assert refuted_square_root([refuted[0], agreed[-1]]) is True


def test_no_month_of_the_simulated_market_refutes_what_its_chapters_teach() -> None:
    verdicts = [verdict for month in simulated_months(range(1, 4)) for verdict in verdicts_of(month)]

    assert len(verdicts) == 12
    assert [rule for rule, is_refuted in verdicts if is_refuted is not False] == []


def test_an_idea_that_the_counts_of_its_page_deny_is_found() -> None:
    one_in_five = month_of(np.where(np.arange(720) % 5 == 0, 3.0, 0.1) * np.sign(INDEPENDENT))

    assert dict(verdicts_of(one_in_five))["wild hours come in groups"] is True
    assert dict(verdicts_of(MONTH))["wild hours come in groups"] is False


def test_wild_hours_are_a_fifth_and_their_followers_are_counted() -> None:
    (ask,) = [ask for ask in ASKED["volatility"](facts()) if "wild too" in ask.question]
    moves = MONTH.moves()
    edge = np.sort(np.abs(list(moves.values())))[-(len(moves) // 5)]
    followers = [abs(moves[at + HOUR_MS]) >= edge for at in moves if abs(moves[at]) >= edge and at + HOUR_MS in moves]

    assert sum(abs(move) >= edge for move in moves.values()) == pytest.approx(len(moves) / 5, abs=1)
    assert ask.tell.startswith(f"{sum(followers)} of {len(followers)}, ")


@pytest.mark.parametrize(
    ("move", "where"),
    [
        (0.0, "inside both ranges"),
        (0.3, "outside the 50% range and inside the 90% range"),
        (-3.0, "outside both ranges"),
    ],
)
def test_a_range_is_of_the_newest_hour_and_says_in_which_part_it_ended(move: float, where: str) -> None:
    due = (made("ETH", 9, 1.0), made("BTC", 8, move), made("BTC", 7, 9.9))

    (ask,) = ASKED["volatility"](facts(HourlyMonth(), due))

    assert guess_of(ask).answer == 0.5
    assert ask.at_ms == 8 * HOUR_MS
    assert where in ask.tell
    assert f"{abs(move):.2f}%" in ask.tell


def test_far_hours_are_counted_in_standard_deviations_of_their_asset() -> None:
    asked = ASKED["fat-tails"](facts())
    sizes = sorted(abs(move) / pstdev(moves_of(asset)) for asset in ASSETS for move in moves_of(asset))
    far = sum(size > 3 for size in sizes)
    squares = [size * size for size in sizes]

    count, largest, share = answers(asked)
    assert count == far
    assert f"about {0.0027 * len(sizes):.0f} of them" in asked[0].question
    assert largest == pytest.approx(sizes[-1])
    assert share == pytest.approx(100 * sum(squares[-(len(sizes) // 100) :]) / sum(squares))
    assert abs(2 * NormalDist().cdf(-3) - 0.0027) < 1e-5
    assert tail_share(0.01) == pytest.approx(8, abs=0.5)


def tail_share(part: float) -> float:
    """Return how much of the sum of squares the largest values of a normal distribution have, in percent."""
    values = np.abs([NormalDist().inv_cdf((place + 0.5) / 200_001) for place in range(200_001)])
    squares = np.sort(values**2)
    return float(100 * squares[-round(part * len(squares)) :].sum() / squares.sum())


def test_the_furthest_hour_outside_its_range_is_measured_by_the_end_that_it_passed() -> None:
    due = [made("BTC", hour, move) for hour, move in enumerate((0.1, 0.6, -1.25, 0.5))]

    (ask,) = ASKED["fat-tails"](facts(HourlyMonth(), due))

    assert "last 4 hours" in ask.question
    assert "2 ended outside" in ask.question
    assert ask.tell.startswith("2.5 times")
    assert guess_of(ask).answer == pytest.approx(2.5)


def test_seven_coins_are_as_many_bets_as_their_mean_says() -> None:
    asked = ASKED["correlation"](facts())
    rows = np.array([moves_of(asset) for asset in ASSETS])
    risen = (rows > 0).sum(axis=0)
    together, bets, shrunk, least = answers(asked)

    assert together == pytest.approx(100 * np.mean(np.maximum(risen, len(ASSETS) - risen) >= 6))
    # The variance of a mean is the mean of all covariances.
    covariances = np.cov(rows, bias=True)
    assert bets == pytest.approx(np.trace(covariances) / len(ASSETS) / covariances.mean())
    assert shrunk == pytest.approx(100 * (1 - sqrt(covariances.mean()) / fmean(map(pstdev, rows.tolist()))))
    assert least == pytest.approx(min(correlation(rows[0].tolist(), row.tolist()) for row in rows[1:]))
    assert 12 < 100 * 2 * (comb(len(ASSETS), 1) + 1) / 2 ** len(ASSETS) < 13
    assert sum(int(row[1].split()[0]) for row in chart_of(asked[0])) == rows.shape[1]


def test_funding_adds_up_over_the_hours_of_the_month() -> None:
    asked = ASKED["funding"](facts())
    rates = BARS.fields["funding"][:, 0]
    paid, longs, a_year, opened = answers(asked)

    assert paid == pytest.approx(1_000 * np.nanmean(rates) * (HOURS + 1) / 8)
    assert longs == pytest.approx(100 * np.mean(rates > 0))
    assert a_year == pytest.approx(rates[-1] * 3 * 365 * 100)
    moves = MONTH.moves()
    interest = dict(zip(MONTH.ends_ms, BARS.fields["open_interest"][:, 0], strict=True))
    usual = median(map(abs, moves.values()))
    rose = [interest[at] > interest[at - HOUR_MS] for at, move in moves.items() if move < -usual]
    assert opened == pytest.approx(100 * fmean(rose) if len(rose) >= 30 else sum(rose))


def test_a_sale_goes_as_far_into_a_book_as_its_bids_reach() -> None:
    asked = ASKED["order-books"](facts())
    depth = BARS.fields["depth_usd"]
    bids = depth[-1, 0] * (1 + BARS.fields["imbalance"][-1, 0]) / 2
    fall, deeper, when_wild, cost = answers(asked)

    # As many of the evenly spread bids are taken as the sale needs: 1% of the price holds them all.
    sale = next(size for size in (1e5, 2e5, 5e5, 1e6, 2e6) if size >= bids / 5)
    assert fall == pytest.approx(sale / bids)
    assert deeper == pytest.approx(depth[-1, 0] / depth[-1].min())
    assert cost == pytest.approx(1_000 * BARS.fields["spread_bps"][-1, 0] / 1e4)
    known = dict(zip(MONTH.ends_ms, depth[:, 0], strict=True))
    by_size = sorted(MONTH.moves().items(), key=lambda row: abs(row[1]))
    wild = [known[at] for at, _ in by_size[-(len(by_size) // 5) :]]
    calm = [known[at] for at, _ in by_size[: -(len(by_size) // 5)]]
    assert when_wild == pytest.approx(100 * median(wild) / median(calm))


def test_ranges_are_counted_by_whether_they_held_the_hour() -> None:
    due = [made("BTC", hour, move) for hour, move in enumerate((0.1, -0.2, 0.5, 0.6))]

    asked = ASKED["calibration"](facts(due=due))

    assert asked[0].tell.startswith("3 of 4.")
    assert asked[1].tell.startswith("2 of 4.")


def test_the_best_chance_to_give_each_time_is_how_often_it_came() -> None:
    words = [Prediction.BULLISH] * 30 + [Prediction.NEUTRAL] * 20
    due = [made("BTC", hour, 0.1, outcome=word) for hour, word in enumerate(words)]

    _, _, best, skill = ASKED["calibration"](facts(due=due))

    scores = {chance: fmean((chance / 100 - (hour < 30)) ** 2 for hour in range(50)) for chance in range(101)}
    assert guess_of(best).answer == min(scores, key=scores.__getitem__) == 60
    assert f"{scores[60]:.3f}; 50 in 100 would have had {scores[50]:.3f} and 90 in 100 {scores[90]:.3f}" in best.tell
    said = due[0].move
    assert said is not None
    own, base = (
        0.6 * (1 - chance) ** 2 + 0.4 * chance**2 for chance in (1 - due[0].probabilities[1], 1 - due[0].base_rate[1])
    )
    assert guess_of(skill).answer == pytest.approx(100 * (1 - own / base))


def test_rules_that_know_nothing_are_counted_over_the_newest_thirty_hours() -> None:
    asked = ASKED["luck"](facts())
    moves = sorted(MONTH.moves().items())
    newest, older = moves[-30:], moves[:-30]

    def right(rule: int, hours: Sequence[tuple[int, float]]) -> int:
        coins = hashlib.shake_256(f"rule {rule}".encode()).digest(128)
        places = [(at // HOUR_MS) % 1024 for at, _ in hours]
        bits = [coins[127 - place // 8] >> place % 8 & 1 for place in places]
        return sum(bool(bit) == (move > 0) for bit, (_, move) in zip(bits, hours, strict=True))

    hits = [right(rule, newest) for rule in range(100)]
    best, later, good, low = answers(asked)
    assert best == max(hits)
    assert later == pytest.approx(100 * right(hits.index(max(hits)), older) / len(older))
    assert good == sum(number >= 20 for number in hits)
    assert [int(row[1].split()[0]) for row in chart_of(asked[0])] == [
        sum(low <= number <= high for number in hits) for low, high in ((0, 11), (12, 14), (15, 17), (18, 20), (21, 30))
    ]
    assert low == 24


def test_the_best_of_a_hundred_coins_is_right_in_about_twenty_two_of_thirty() -> None:
    chances = [comb(30, right) / 2**30 for right in range(31)]
    at_most = [sum(chances[: right + 1]) for right in range(31)]
    best = sum(1 - at_most[right] ** 100 for right in range(30))

    first, _, third, _ = ASKED["luck"](facts())

    assert f"the best of a hundred about {best:.0f}." in first.tell
    assert f"Chance gives {100 * sum(chances[20:]):.0f} on average" in third.tell


def test_saying_nothing_counts_forecasts_without_a_call() -> None:
    calls = (Call.NONE, Call.UP, Call.NONE, None)
    due = [made("BTC", hour, 0.1, call=call) for hour, call in enumerate(calls)]

    asked = ASKED["silence"](facts(due=due))

    assert "last 3 hourly forecasts" in asked[0].question
    assert asked[0].tell.startswith("2 of 3.")
    assert [row[1] for row in chart_of(asked[0])] == ["2 of 3", "0 of 3", "1 of 3", "0 of 3"]


def test_the_likelier_side_is_right_opposite_or_in_the_band() -> None:
    cases = (
        ((0.2, 0.3, 0.5), Prediction.BULLISH),
        ((0.5, 0.3, 0.2), Prediction.BULLISH),
        ((0.5, 0.3, 0.2), Prediction.NEUTRAL),
        ((0.3, 0.4, 0.3), Prediction.BULLISH),
    )
    due = [
        made("BTC", hour, 0.1, call=Call.NONE, probabilities=said, outcome=came)
        for hour, (said, came) in enumerate(cases)
    ]

    *_, likelier, lead = ASKED["silence"](facts(due=due))

    assert likelier.tell.startswith("1 of 3; the opposite happened in 1 of 3,")
    assert isclose(guess_of(lead).answer, 100 * median((0.3, 0.3, 0.3, 0.0)), abs_tol=1e-9)


def test_a_backtest_is_counted_only_where_there_is_nothing_else_and_named() -> None:
    due = [made("BTC", hour, move, warm_up=hour > 1) for hour, move in enumerate((0.1, 0.1, 0.9, 0.9))]

    live, tested = (ASKED["calibration"](facts(due=some))[0] for some in (due, due[2:]))

    assert live.tell.startswith("2 of 2.")
    assert tested.tell.startswith("0 of 2.")
    assert "backtest" in tested.question
    assert "backtest" not in live.question


@pytest.mark.parametrize("name", [chapter.name for chapter in CHAPTERS])
def test_before_the_first_hour_a_chapter_has_no_number(name: str) -> None:
    shown = chapter_view(name, facts(HourlyMonth()))

    page = rendered(empty=True)[f"/learn/{name}/index.html"].decode()
    assert shown.chapter.title in page
    assert "unknown" not in str(shown.first)
    assert "None" not in str(shown.others)


def test_a_market_without_any_move_breaks_no_chapter() -> None:
    closes = {("close", asset): (100.0,) * (HOURS + 1) for asset in ASSETS}
    still = replace(MONTH, values={**MONTH.values, **closes})

    asked = {name: ask(facts(still)) for name, ask in ASKED.items()}

    assert asked["base-rates"][0].tell.startswith(f"{HOURS} of {HOURS}")
    assert len(asked["order-books"]) == 3
    assert asked["correlation"] == ()


@pytest.mark.parametrize("name", [chapter.name for chapter in CHAPTERS])
def test_every_answer_lies_on_its_slider_and_in_no_question(name: str) -> None:
    due = [made(asset, hour, 0.1 * (hour % 7), call=Call.NONE) for hour in range(50) for asset in ASSETS]

    asked = ASKED[name](facts(due=due))

    assert len(asked) == 4, "a guess first and three questions"
    assert asked[0].picture is not None or name in {"funding", "calibration"}  # drawn where the arena has them
    for ask in asked:
        assert len(ask.question.split()) <= 45
        if ask.guess:
            assert ask.guess.least <= ask.guess.answer <= ask.guess.most, ask.question
            assert ask.guess.least <= ask.guess.start <= ask.guess.most
            assert (ask.guess.most - ask.guess.least) / ask.guess.step <= 1_000


def test_a_chapter_is_a_screen_of_an_idea_with_its_questions_by_number() -> None:
    for number, chapter in enumerate(CHAPTERS, 1):
        html = rendered()[f"/learn/{chapter.name}/index.html"].decode()

        assert f"chapter {number} of 9" in html
        assert sum(len(paragraph.split()) for paragraph in chapter.idea) <= 130
        assert html.count('aria-current="page"') == 1
        for after in CHAPTERS:
            assert f'href="/learn/{after.name}/"' in html


def test_chapters_lead_from_the_first_to_the_last_and_the_old_anchors_to_them() -> None:
    learn = rendered()["/learn/index.html"].decode()
    listed = re.findall(r'<li id="([^"]+)">(.*?)<a href="([^"]+)"', learn)

    assert [(name, path) for name, _, path in listed] == [(each.name, f"/learn/{each.name}/") for each in CHAPTERS]
    assert {name: tuple(re.findall(r'id="([^"]+)"', spans)) for name, spans, _ in listed if spans} == EARLIER
    for before, after in pairwise(CHAPTERS):
        html = rendered()[f"/learn/{before.name}/index.html"].decode()
        assert f'Next: <a href="/learn/{after.name}/">' in html


class _Targets(HTMLParser):
    """Collect the ids that a reader without scripts can be led to: those inside of nothing that is hidden then."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self._open: list[bool] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        is_hidden = any(self._open) or "data-script" in named or "hidden" in named
        if named.get("id") and not is_hidden:
            self.found.add(str(named["id"]))
        if tag not in VOID:
            self._open.append(is_hidden)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self._open.pop()


def test_what_leads_into_the_practice_page_has_its_target_without_scripts() -> None:
    there = _Targets(rendered()["/learn/practice/index.html"].decode()).found
    led = {
        anchor
        for page, content in rendered().items()
        if page.endswith(".html")
        for anchor in re.findall(r'href="/learn/practice/#([^"]+)"', content.decode())
    }

    assert led >= {chapter.practice for chapter in CHAPTERS if chapter.practice} != set()
    assert led | {"daily"} <= there  # the feed leads to that one
    assert "random" not in there  # it needs scripts


def test_a_twin_has_no_trace_of_what_needs_a_script() -> None:
    pages = Rendered(replace(view(), month=MONTH))

    chapter, practice = (pages[f"/learn/{name}/index.md"].decode() for name in ("luck", "practice"))

    assert "hundred rules" in chapter
    assert "Your guess" not in chapter
    assert "Show the answer" not in practice
