"""Headlines and short texts, held against the raw closes by oracles that know nothing of how they are made."""

import re
import string
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from generator.catalog.assets import ASSET_NAMES
from generator.catalog.text.happened import Coin, MarketFacts, Moment, Records, Situation
from generator.catalog.text.headline import LONGEST, MOST_NUMBERS
from generator.catalog.text.now import BOOK, asset_line, first_screen, headline, regime_summary
from generator.catalog.words import MarketSide
from tests.words.claims import Complaint
from tests.words.markets import DAY, Market, Reader, eventful, read_every
from tests.words.oracles import History, Raw, complaints

EVERY = 7
SEED = 11


@pytest.fixture(scope="module")
def market() -> Market:
    return eventful(SEED)


@pytest.fixture(scope="module")
def texts(market: Market) -> list[tuple[int, MarketFacts, str]]:
    """Each seventh bar of three days or more on record, with its facts and its headline."""
    named = ((bar, replace(facts, names=ASSET_NAMES)) for bar, facts in read_every(market, EVERY))
    return [(bar, facts, headline(facts)) for bar, facts in named if facts.situation is not Situation.UNKNOWN]


@pytest.fixture(scope="module")
def history(market: Market) -> History:
    return History(tuple(ASSET_NAMES), market.closes, market.high, market.low)


def found_in(history: History, bar: int, text: str) -> list[Complaint]:
    return complaints(text, Raw(history, bar))


def test_every_headline_holds_against_the_closes(history: History, texts: list[tuple[int, MarketFacts, str]]) -> None:
    bad = [(bar, text, wrong) for bar, _, text in texts if (wrong := found_in(history, bar, text))]

    assert bad == []
    assert len({facts.situation for _, facts, _ in texts}) >= 9


def test_a_headline_that_is_turned_round_is_found(history: History, texts: list[tuple[int, MarketFacts, str]]) -> None:
    turned = {"up": "down", "down": "up", "fallen": "risen", "risen": "fallen", "fell": "rose", "rose": "fell"}
    words = re.compile(rf"\b({'|'.join(turned)})\b")
    spoilt = [
        (bar, words.sub(lambda match: turned[match.group(1)], text)) for bar, _, text in texts if words.search(text)
    ]

    missed = [(bar, text) for bar, text in spoilt if not found_in(history, bar, text)]

    assert len(missed) <= 0.01 * len(spoilt), missed[:5]


def test_a_headline_with_another_figure_is_found(history: History, texts: list[tuple[int, MarketFacts, str]]) -> None:
    figure = re.compile(r"(\d+(?:\.\d)?)%")
    spoilt = [
        (bar, figure.sub(lambda match: f"{float(match.group(1)) * 1.4 + 0.4:.1f}%", text, count=1))
        for bar, _, text in texts
        if figure.search(text)
    ]

    missed = [(bar, text) for bar, text in spoilt if not found_in(history, bar, text)]

    assert len(missed) <= 0.01 * len(spoilt), missed[:5]


def test_a_headline_three_hours_old_is_found_where_prices_moved(
    history: History, texts: list[tuple[int, MarketFacts, str]]
) -> None:
    later = [(bar + 36, text) for bar, _, text in texts if bar + 36 < len(history.closes)]
    closes = history.closes
    moved = [(bar, text) for bar, text in later if abs((closes[bar] / closes[bar - 36]).mean() - 1.0) > 0.01]

    missed = [(bar, text) for bar, text in moved if not found_in(history, bar, text)]

    assert moved
    assert len(missed) <= 0.1 * len(moved), missed[:5]


def test_a_headline_has_at_most_110_characters_and_three_numbers(
    texts: list[tuple[int, MarketFacts, str]],
) -> None:
    longest = max(len(text) for _, _, text in texts)
    most = max(len(re.findall(r"\d+(?:[.,]\d+)*", text)) for _, _, text in texts)

    assert longest <= LONGEST
    assert most <= MOST_NUMBERS


def test_no_text_forecasts_a_direction_or_says_trend(texts: list[tuple[int, MarketFacts, str]]) -> None:
    every_text = [f"{text}. {first_screen(facts)} {regime_summary(facts)}" for _, facts, text in texts]

    assert not [text for text in every_text if re.search(r"\b(trend|will rise|will fall|buy|sell|because)\b", text)]


def test_the_first_screen_names_the_price_and_says_that_no_one_knows(
    texts: list[tuple[int, MarketFacts, str]],
) -> None:
    for _, facts, _ in texts[::50]:
        text = first_screen(facts)

        assert text.startswith(f"Bitcoin is at ${facts.coins['BTC'].price:,.0f}, ")
        assert "Which way? Nobody knows, nor do we." in text


def test_a_day_is_called_flat_only_over_a_line_that_is(texts: list[tuple[int, MarketFacts, str]]) -> None:
    flat = next(facts for _, facts, _ in texts if facts.side is MarketSide.FLAT and facts.line_low is not None)
    wide = replace(flat, line_high=Moment(3 * (flat.usual_day or 0.0), flat.now_ms))
    far = replace(flat, usual_day=0.9 * abs(flat.day or 0.0))

    assert regime_summary(flat).startswith("A flat day: crypto is ")
    assert regime_summary(wide).startswith("Crypto is ")
    assert regime_summary(far).startswith("Crypto is ")


def test_a_great_day_names_bitcoin_where_it_went_the_other_way() -> None:
    def text_of(bitcoin: float, largest: bool) -> str:
        days = {"BTC": bitcoin, "ETH": 4.0, "XRP": 5.0, "ALGO": 9.0}
        coins = {asset: Coin(100.0, day, day / 2) for asset, day in days.items()}
        facts = MarketFacts(
            0, Situation.GREAT_DAY, coins, ASSET_NAMES, hour=1.7, usual_hour=0.2, usual_day=1.0, record_days=40.0
        )
        return headline(replace(facts, records=Records(rise_of_day=True), hour=0.0) if largest else facts)

    assert text_of(-0.4, largest=False).endswith("in a day and 1.7% in the last hour; Bitcoin is down 0.4%")
    assert text_of(0.4, largest=False).endswith("in a day (Algorand 9.0%) and 1.7% in the last hour")
    assert text_of(-0.4, largest=True).endswith("; Bitcoin is down 0.4%")
    assert "Bitcoin" not in text_of(0.4, largest=True)


def test_situations_do_not_change_more_than_six_times_a_day(
    texts: list[tuple[int, MarketFacts, str]],
) -> None:
    shown = [facts.situation for _, facts, _ in texts]
    changes = sum(before is not after for before, after in pairwise(shown))

    assert changes / (len(texts) * EVERY / DAY) < 6


@pytest.mark.parametrize("situation", list(Situation))
def test_a_fact_that_is_missing_leaves_its_sentence_out_and_fails_nothing(situation: Situation) -> None:
    coins = {asset: Coin(100.0, moved) for asset, moved in zip(ASSET_NAMES, (0.4, 0.6, -0.2, 0.5), strict=False)}
    facts = MarketFacts(now_ms=0, situation=situation, coins=coins, record_days=40.0, alone="HBAR", names=ASSET_NAMES)

    assert headline(facts)
    assert "$100.00" in first_screen(facts)
    assert regime_summary(facts) == "What the market did over the last day is not known."
    assert all(asset_line(facts, asset) for asset in ASSET_NAMES)


def test_every_place_of_a_sentence_is_filled_by_the_table() -> None:
    places = Counter(
        name
        for group in BOOK.groups.values()
        for sentence in group
        for _, name, _, _ in string.Formatter().parse(sentence.text)
        if name
    )

    assert {name for name in places if name not in BOOK.slots and name not in BOOK.groups} == set()
    assert {name for name in BOOK.slots if name not in places} == set()


def test_no_case_has_two_wordings_and_no_wording_two_cases_in_a_group() -> None:
    for group, rows in BOOK.groups.items():
        if group != "headline":
            texts = [sentence.text for sentence in rows]
            assert len(set(texts)) == len(texts), group


def test_a_block_bars_alone_and_a_restart_tell_the_same(market: Market) -> None:
    bars = 4 * DAY + 50
    block, alone = Reader(), Reader()
    block.read(market, 0, bars)
    block.at(-1)
    alone.read(market, 0, bars - 40)
    alone.at(-1)

    restarted = Reader()
    for part, kept in zip(restarted.parts, alone.parts, strict=True):
        for name in part.STATE:
            setattr(part, name, np.array(getattr(kept, name)))
    restarted._last_ms = alone._last_ms
    for bar in range(bars - 40, bars):
        for reader in (alone, restarted):
            reader.read(market, bar, bar + 1)
            reader.at(-1)

    t_ms = int(market.t_ms[bars - 1])
    assert block.facts(t_ms) == alone.facts(t_ms) == restarted.facts(t_ms)


def test_what_comes_later_changes_nothing_that_was_said(market: Market) -> None:
    bars = 5 * DAY
    changed = market._replace(closes=market.closes.copy(), high=market.high * 1.5)
    changed.closes[bars:] *= 0.5
    changed.high[:bars] = market.high[:bars]
    plain, altered = Reader(), Reader()
    plain.read(market, 0, bars + 300)
    altered.read(changed, 0, bars + 300)

    plain.at(bars - 1)
    altered.at(bars - 1)

    t_ms = int(market.t_ms[bars - 1])
    assert plain.facts(t_ms) == altered.facts(t_ms)
