"""Each row on lessons and on whole releases finds a planted fault, and nothing where there is none."""

import json
import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, replace
from functools import cache
from typing import Any

import pytest

from generator.arena.lessons import lesson_of
from generator.arena.published import published_round
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import change as published_change
from generator.catalog.words import Call, Concept, Prediction
from generator.compose.all import compose
from generator.compose.free import FreeBodies
from generator.site.pages.recipes import PageView
from generator.site.pages.render import Pages
from generator.values.rounds import Round
from generator.values.votes import Tally
from tests.arena.test_concepts import MONDAY_NOON, a_round
from tests.contradictions.lesson_rows import LESSON, SEQUENCE, LessonSequence, LessonText
from tests.contradictions.release_rows import RELEASE, Counted, Release, visible
from tests.contradictions.story_rows import STORY, PaidTexts, paid_texts
from tests.contradictions.whole_rows import WHOLE, WholeTick
from tests.support.builders import full_context
from tests.support.page_view import Rendered, view_of
from tests.support.ten_moments import names, ten_moments


def lesson(played: Round, *changed: tuple[str, str], votes: Tally | None = None, **fields: Any) -> LessonText:
    """Return the lesson of a round, with a fault planted in its summary or in its fields."""
    made = lesson_of(played, votes or Tally(), MONDAY_NOON)
    for old, new in changed:
        assert old in made.summary
        made = replace(made, summary=made.summary.replace(old, new))
    row = published_round(played, votes or Tally(), made)
    return LessonText({**json.loads(json.dumps(asdict(made))), **fields}, json.loads(json.dumps(row)))


FIRST = a_round(start_ms=0)  # up came; the chances were down 41, small move 13, up 46
CALLED = replace(FIRST, call=Call.SMALL_MOVE, prediction=Prediction.NEUTRAL)
LIKELIEST = "The outcome was the likeliest of three, but only by 2.0 in 100."
PLANTED_LESSONS = {
    "a lesson against its chances": lesson(FIRST, ("46 in 100", "36 in 100")),
    "an outcome that is called likelier than it was": lesson(a_round(change_bps=-50.0), point=LIKELIEST),
    "an outcome said to be expected that was not the likeliest": lesson(CALLED),
    "a forecast without a call judged right or wrong": lesson(
        FIRST, ("Its Brier", "The brain was wrong: it expected a small move. Its Brier")
    ),
    "a move of a lesson that is not its round's": lesson(FIRST, ("rose 0.50%", "fell 0.50%")),
    "the wrong side of the band, or hours that are not on record": lesson(FIRST, ("beyond the", "inside the")),
    "a score of a lesson that its chances do not give": lesson(FIRST, ("better by", "worse by")),
    "votes in a backtest": lesson(
        replace(FIRST, warm_up=True), ("It was a backtest: voting was not possible.", "No one voted.")
    ),
    "an idea that its round does not show": lesson(FIRST, concept=Concept.WEEKEND.value),
    "a text with a gap": lesson(FIRST, ("Bitcoin", "{name}")),
}


@pytest.mark.parametrize("row", LESSON)
def test_a_planted_contradiction_of_a_lesson_is_found(row: str) -> None:
    assert LESSON[row](PLANTED_LESSONS[row])


@pytest.mark.parametrize("change_bps", [50.0, -50.0, 4.0, -0.2])
def test_no_lesson_contradicts_its_round(change_bps: float) -> None:
    for hour in range(24 * 7):
        played = a_round(change_bps=change_bps, start_ms=MONDAY_NOON + hour * HOUR_MS, warm_up=hour % 2 == 0)

        text = lesson(played)

        assert [row for row, broken in LESSON.items() if broken(text)] == [], text.text


PLANTED_SEQUENCES = {
    "two of a day's three lessons with one idea": LessonSequence((), [["luck"], ["luck", "luck", "no_call"]]),
}


@pytest.mark.parametrize("row", SEQUENCE)
def test_a_planted_fault_of_a_sequence_of_lessons_is_found(row: str) -> None:
    assert SEQUENCE[row](PLANTED_SEQUENCES[row])


def test_days_may_share_an_idea() -> None:
    fine = LessonSequence((), [["luck", "weekend", "no_call"], ["luck"]])

    assert [row for row, fault in SEQUENCE.items() if fault(fine)] == []


@cache
def release() -> Release:
    """Return the bodies and pages of a tick that knows everything; its record has no case of either kind."""
    composed = compose(full_context())
    bodies = {name: body.model_dump(mode="json") for name, body in {**composed.free, **composed.paid}.items()}
    pages = Pages().render(PageView(ctx=full_context(), bodies=FreeBodies(composed.free)))
    names = {path.removeprefix("/api/").removesuffix(".php"): body for path, body in bodies.items()}
    shown = {
        path: visible(page.decode()) for path, page in pages.items() if path in {"/index.html", "/learn/index.html"}
    }
    return Release(names, shown)


def with_body(name: str, change: Callable[[Any], None], **more: Any) -> Release:
    bodies = {**release().bodies, name: deepcopy(release().bodies[name])}
    change(bodies[name])
    return release()._replace(bodies=bodies, **more)


def saying(text: str) -> Release:
    return release()._replace(pages={"/index.html": text})


def in_record(**changed: Any) -> Callable[[Any], None]:
    return lambda body: body["public_performance"].update(changed)


def counted(**changed: int) -> Counted:
    record = release().bodies["main-brain"]["public_performance"]
    right = sum(rate["hits"] for rate in record["by_call"].values())
    return Counted(record["n"], right, record["no_calls"], record["resolved"])._replace(**changed)


@cache
def whole() -> WholeTick:
    """Return what one tick publishes."""
    ctx = full_context()
    page = Rendered(view_of(ctx))["/index.html"].decode()
    observed = {name: published_change(seen.change_24h_percent) for name, seen in ctx.observation.assets.items()}
    return WholeTick(release().bodies, page, observed)


def other(name: str, change: Callable[[Any], None]) -> dict[str, Any]:
    """Return the bodies with one changed."""
    return dict(with_body(name, change).bodies)


@cache
def planted_whole() -> dict[str, dict[str, Any]]:
    """Return what each row is to find in a tick; made for the tests alone, not when they are collected."""
    return {
        "bodies with different headlines": {
            "bodies": other("reasoning", lambda body: body.update(headline="All quiet."))
        },
        "bodies with different regimes": {
            "bodies": other("market-regime", lambda body: body["regime"].update(volatility="extreme"))
        },
        "two changes of one asset": {
            "bodies": other("liquidity-lite", lambda body: body["assets"]["ETH"].update(change_24h=-9.0))
        },
        "a page with another headline": {"landing": "<h1>Normal volatility, no trend.</h1>"},
    }


@pytest.mark.parametrize("row", WHOLE)
def test_a_planted_contradiction_within_a_tick_is_found(row: str) -> None:
    assert WHOLE[row](whole()._replace(**planted_whole()[row])) != ""
    assert WHOLE[row](whole()) == ""


@cache
def planted_releases() -> dict[str, Release]:
    """Return what each row is to find in a release."""
    return {
        "one quantity, two values": with_body("main-brain", lambda body: body["coins"]["BTC"].update(change_24h=-9.0)),
        "two names for one thing on a page": saying("It was bullish."),
        "not known said of what a field knows": saying("Bitcoin: no price is known."),
        "a rate in words of fewer than 30": saying("It was right in 60.0% of 5 rounds."),
        "a hit rate that counts no call": release()._replace(hourly=counted(calls=3)),
        "a rate with a backtest in its n": release()._replace(hourly=counted(resolved=1)),
        "a hit rate compared with a guess among three": saying("25.4%; a blind guess gets 33.3%"),
        "a side on the landing page that the bodies contradict": release()._replace(
            pages={"index.html": "Volatility normal Last 24 hours flat day by their move"}
        ),
        "two chances of one move": with_body(
            "reasoning/BTC.json",
            lambda body: body["reasoning"].update(summary="It ends elsewhere (51%; usually 68%)."),
        ),
        "a confidence without a call, or of another outcome": with_body(
            "main-brain", lambda body: body["coins"]["BTC"].update(call="none", confidence=33.0)
        ),
    }


@pytest.mark.parametrize("row", RELEASE)
def test_a_planted_contradiction_of_a_release_is_found(row: str) -> None:
    assert RELEASE[row](planted_releases()[row])


@pytest.mark.parametrize("row", RELEASE)
def test_a_release_that_knows_everything_contradicts_nothing(row: str) -> None:
    assert RELEASE[row](release()) == ""


@cache
def sold() -> PaidTexts:
    """Return what is sold at one moment, with its month."""
    composed = ten_moments()[names()[4]].composed
    return paid_texts({name: body.model_dump(mode="json") for name, body in {**composed.free, **composed.paid}.items()})


def resold(name: str, change: Callable[[Any], None]) -> PaidTexts:
    """Return what is sold with a fault planted in one body."""
    body = deepcopy(sold().named[name])
    change(body)
    return PaidTexts({**sold().named, name: body})


def reworded(name: str, field: str, old: str, new: str) -> PaidTexts:
    """Return what is sold with other words in a text."""

    def reword(body: Any) -> None:
        within = body["summary"] if field == "text" else body
        assert re.search(old, within[field]), within[field]
        within[field] = re.sub(old, new, within[field])

    return resold(name, reword)


SOLD_OTHERWISE: dict[str, Callable[[], PaidTexts]] = {
    "a paid text on another state than the axes'": lambda: reworded(
        "x402-market-regime", "summary", r"(?i)(?:rising|falling|flat) day|day of ups and downs", "flat day"
    ),
    "a paid text that gives the state another age": lambda: reworded(
        "x402-market-regime", "summary", r"\d+ hours", "90 hours"
    ),
    "odds of a level in words that no field has": lambda: reworded(
        "x402-main-brain", "text", r"^.*$", "It may touch 1% with a chance of 97%."
    ),
    "a longer time with a narrower range": lambda: resold(
        "main-brain", lambda body: body["coins"]["BTC"]["ranges"]["24h"].update(low_90=-0.2, high_90=0.2)
    ),
    "parts of the next four hours that are not the fields'": lambda: reworded(
        "x402-atlas", "summary", "down 40", "down 36"
    ),
}


@pytest.mark.parametrize("row", STORY)
def test_a_planted_contradiction_of_what_is_sold_is_found(row: str) -> None:
    assert STORY[row](SOLD_OTHERWISE[row]())


def test_what_is_sold_at_ten_moments_contradicts_nothing() -> None:
    for moment in ten_moments().values():
        bodies = {**moment.composed.free, **moment.composed.paid}
        texts = paid_texts({name: body.as_json() for name, body in bodies.items()})

        assert {row: found for row, untrue in STORY.items() if (found := untrue(texts))} == {}, moment.name
