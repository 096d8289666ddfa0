"""The pictures of Learn: true of the hours that they show."""

import re
from itertools import groupby
from statistics import NormalDist, median

import pytest

from generator.arena.values import Hour
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.chapters import CHAPTER_OF
from generator.catalog.text.concepts import CONCEPTS
from generator.catalog.words import RegimeLabel
from generator.site.charts.lessons import clearest_spells, few_cases, spells
from tests.support.page_view import rendered

START_MS = 1_790_000_000_000 // HOUR_MS * HOUR_MS
PLACES = {"risk_on": 0, "risk_off": 1, "range": 2, "high_volatility": 3}


def hour(number: int, label: str, chance: float, price: float = 100.0) -> Hour:
    chances = [(1 - chance) / 3] * 4
    if label in PLACES:
        chances[PLACES[label]] = chance
    at = START_MS + number * HOUR_MS
    return Hour(at, at, label, tuple(chances), "", {"BTC": price, "ETH": 2 * price})


def month(*runs: tuple[str, int, float]) -> list[Hour]:
    """Return hours of (regime, length, chance), whose price rises by a hundredth an hour."""
    hours: list[Hour] = []
    for label, length, chance in runs:
        hours += [hour(len(hours) + step, label, chance, 100 * 1.01 ** (len(hours) + step)) for step in range(length)]
    return hours


def test_the_picture_of_a_regime_is_the_spell_in_which_it_was_surest() -> None:
    hours = month(("range", 8, 0.9), ("risk_on", 7, 0.6), ("range", 30, 0.7), ("risk_on", 6, 0.8), ("risk_off", 5, 0.9))

    chosen = {spell.label: spell for spell in clearest_spells(hours)}

    surest: dict[str, tuple[float, int]] = {}
    for label, run in groupby(hours, key=lambda one: one.label):
        of_run = list(run)
        mean = sum(one.chances[PLACES[label]] for one in of_run if one.chances) / len(of_run)
        if len(of_run) >= 6:
            surest[label] = max(surest.get(label, (0.0, 0)), (mean, of_run[0].at_ms))
    assert {label: spell.hours[0].at_ms for label, spell in chosen.items()} == {
        RegimeLabel(label): begin for label, (_, begin) in surest.items()
    }


def test_a_spell_ends_where_an_hour_is_missing_and_shows_a_day_at_most() -> None:
    broken = [one for one in month(("range", 11, 0.9)) if one.at_ms != START_MS + 5 * HOUR_MS]
    (long,) = clearest_spells(month(("range", 40, 0.9)))

    assert clearest_spells(broken) == ()
    assert (len(long.hours), long.hours[-1].at_ms) == (24, START_MS + 39 * HOUR_MS)


def test_a_spell_says_how_the_median_asset_changed_over_it() -> None:
    (chart,) = spells(month(("risk_on", 7, 0.9)), "Source: a test.")

    change = 100 * (1.01**6 - 1)
    assert chart.caption.finding == f"Risk-on: the median asset +{median([change, change]):.2f}% in 7 hours"
    assert chart.caption.rows == (("BTC", f"+{change:.2f}%"), ("ETH", f"+{change:.2f}%"))


def test_all_pictures_of_regimes_have_one_scale() -> None:
    drawn = spells(month(("risk_on", 20, 0.9), ("range", 6, 0.9)), "Source: a test.")

    labels = [re.findall(r'<text class="tick halo"[^>]*>([^<]*)<', str(chart.svg())) for chart in drawn]

    assert len(drawn) == 2
    assert labels[0] == labels[1] != []


@pytest.mark.parametrize(("row", "right", "of"), [(0, 5, 10), (1, 50, 100), (2, 500, 1_000)])
def test_the_intervals_of_few_and_many_cases_are_wilsons(row: int, right: int, of: int) -> None:
    z = NormalDist().inv_cdf(0.975)
    rates = [step / 10_000 for step in range(1, 10_000)]
    # Wilson's interval: every true rate from which the share found is no more than z standard deviations away.
    possible = [rate for rate in rates if abs(right / of - rate) <= z * (rate * (1 - rate) / of) ** 0.5]
    low, high = possible[0], possible[-1]

    label, between = few_cases("few").caption.rows[row]

    assert label == f"{right:,} of {of:,}"
    assert between == f"{100 * low:.0f} to {100 * high:.0f}%"


def test_the_text_on_few_cases_says_what_its_picture_shows() -> None:
    text = re.sub(r"<[^>]+>", " ", rendered()["/learn/luck/index.html"].decode())

    assert "24 in 100, and as high as 76" in text
    assert "to three points either way" in text
    assert [between for _, between in few_cases("few").caption.rows][::2] == ["24 to 76%", "47 to 53%"]


def test_every_idea_of_a_lesson_has_a_chapter() -> None:
    assert {text.chapter for text in CONCEPTS.values()} <= CHAPTER_OF.keys()


def test_a_screen_of_learn_is_an_idea_in_few_words() -> None:
    html = rendered()["/learn/index.html"].decode()

    for idea in re.findall(r'<section class="idea.*?</section>', html, re.DOTALL):
        read = re.sub(r"<(svg|table|details|figure)\b.*?</\1>", " ", idea, flags=re.DOTALL)
        assert len(re.sub(r"<[^>]+>", " ", read).split()) <= 180
