"""The daily question: when it is asked, closed and measured, what is sealed, how it is scored, when it is void."""

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from generator.arena.daily import (
    DailyState,
    ask,
    complaint_of,
    day_now,
    play_daily,
    published_question,
    ranked,
    saved_of,
    score,
)
from generator.arena.inputs import PlayInputs
from generator.arena.outcome import PricePoint
from generator.arena.ranks import Entrant, Saved
from generator.catalog import formats
from generator.catalog.words import RoundPhase
from generator.values.questions import DailyQuestion
from tests.support.arena_inputs import HOUR, MINUTE, inputs_at, ms

ASKED = ms("2026-11-24T13:00")
CLOSES = ms("2026-11-25T12:00")
MEASURED = ms("2026-11-26T13:00")


def at(now_ms: int, **changes: object) -> PlayInputs:
    return replace(inputs_at(now_ms), **({"usual_day": 0.012} | changes))  # type: ignore[arg-type]


def price_at(now_ms: int) -> float | None:
    """Return the price that is published at a time."""
    return formats.price(at(now_ms).prices["BTC"].price)


USUAL_25 = [sign * 0.012 * (25 / 24) ** 0.5 * wide for sign, wide in ((-1, 2.43870), (-1, 1), (1, 1), (1, 2.43870))]
ANSWERS = {"A": (-120, -40, 35, 110), "B": (-300, -100, 100, 300)}


def asked(*active: DailyQuestion) -> DailyState:
    return DailyState(active, is_asked=True, answers=lambda _: ANSWERS)


def played(until_ms: int, **last: object) -> DailyQuestion:
    """Ask, close and measure, as far as the last tick is, which alone has the changes."""
    [(_, question)] = play_daily(DailyState(), at(ASKED), None)
    for now_ms in (CLOSES, MEASURED):
        if now_ms > until_ms:
            break
        more = last if now_ms == until_ms else {}
        [(_, question)] = play_daily(asked(question), at(now_ms, **more), now_ms - MINUTE)
    return question


def test_a_question_is_asked_at_13_closes_at_12_and_is_measured_at_13_a_day_later() -> None:
    question = played(ASKED)

    assert (question.question_id, question.asked_ms) == ("BTC-DAILY-20261124", ASKED)
    assert (question.closes_ms, question.measured_ms) == (CLOSES, MEASURED)
    assert question.measured_ms - question.closes_ms == 25 * HOUR


def test_between_12_and_13_no_question_takes_answers() -> None:
    days = [day_now(ms(f"2026-11-25T{time}")) for time in ("11:59", "12:00", "12:59", "13:00")]

    assert days == [ms("2026-11-24T00:00") // (24 * HOUR), None, None, ms("2026-11-25T00:00") // (24 * HOUR)]
    assert play_daily(DailyState(), at(CLOSES), None) == ()


def test_what_is_asked_once_is_not_asked_again_nor_by_a_backtest_or_after_a_jump() -> None:
    assert play_daily(asked(), at(ASKED + HOUR), None) == ()
    assert play_daily(DailyState(), at(ASKED, warm_up=True), None) == ()
    assert play_daily(DailyState(), at(ASKED, interrupted="moved"), None) == ()
    assert play_daily(asked(played(ASKED)), at(ASKED + HOUR), ASKED) == ()


@pytest.mark.parametrize("usual_day", [None, float("nan"), 0.0])
def test_without_ranges_or_a_usual_day_no_question_is_asked(usual_day: float | None) -> None:
    day = day_now(ASKED)
    assert day is not None

    assert ask(replace(at(ASKED), usual_day=usual_day), day) is None
    assert ask(at(ASKED, ranges={}), day) is None


@pytest.mark.parametrize("venues", [1, 0])
def test_no_question_is_asked_before_there_is_a_price_to_publish(venues: int) -> None:
    price, _ = at(ASKED).prices["BTC"]
    thin = at(ASKED, prices={"BTC": PricePoint(price if venues else None, venues)})

    assert play_daily(DailyState(), thin, None) == ()
    [(_, later)] = play_daily(DailyState(), at(ASKED + MINUTE), None)
    assert (later.asked_ms, later.base_price) == (ASKED + MINUTE, price_at(ASKED + MINUTE))


@pytest.mark.parametrize(("asked_ms", "hours"), [(ASKED, 48), (ASKED + 7 * HOUR, 41)])
def test_the_ranges_of_a_day_are_widened_to_the_time_until_it_is_measured_and_sealed(asked_ms: int, hours: int) -> None:
    [(_, question)] = play_daily(DailyState(), at(asked_ms), None)
    said = at(asked_ms).ranges["BTC"]["24h"]
    longer = (hours / 24) ** 0.5

    assert question.brain == tuple(
        round(100 * end * longer) for end in (said.low_90, said.low_50, said.high_50, said.high_90)
    )
    half = round(120 * longer)
    nine = round(120 * longer * 1.6449 / 0.6745)
    assert question.usual == (-nine, -half, half, nine)
    assert question.base_price == price_at(asked_ms)
    row: dict[str, Any] = dict(published_question(question))
    assert row["forecast"] is row["salt"] is None
    assert row["commitment"] == question.commitment


def test_what_answers_are_compared_with_is_of_the_close_round_the_price_then() -> None:
    price = 1.04 * (price_at(ASKED) or 0.0)
    [(_, live)] = play_daily(asked(played(ASKED)), at(CLOSES, prices={"BTC": PricePoint(price, 3)}), CLOSES - MINUTE)
    day = at(CLOSES).ranges["BTC"]["24h"].ends

    longer = (25 / 24) ** 0.5
    assert live.base_price is not None
    assert live.start_price is not None
    ends = [10_000 * (live.start_price * (1 + longer * end / 100) / live.base_price - 1) for end in day]
    assert live.closing_brain == tuple(map(round, ends))
    assert live.closing_usual == tuple(round(10_000 * (1.04 * (1 + move) - 1)) for move in USUAL_25)
    assert live.compared == (live.closing_brain, live.closing_usual)
    assert live.brain == played(ASKED).brain


@pytest.mark.parametrize("missing", [{"ranges": {}}, {"usual_day": None}])
def test_a_question_that_closes_without_ranges_is_void(missing: dict[str, Any]) -> None:
    [(_, question)] = play_daily(asked(played(ASKED)), at(CLOSES, **missing), CLOSES - MINUTE)

    assert (question.phase, question.void_reason) == (RoundPhase.VOID, "no ranges when answers closed")
    assert complaint_of(published_question(question)) is None


def test_a_question_asked_under_the_earlier_rule_keeps_the_price_of_its_close() -> None:
    early = replace(played(ASKED), base_price=None)
    [(_, live)] = play_daily(asked(early), at(CLOSES), CLOSES - MINUTE)
    [(_, over)] = play_daily(asked(live), at(MEASURED), MEASURED - MINUTE)
    row: dict[str, Any] = dict(published_question(over))

    assert (live.closing_brain, row["base"], row["closing"]) == (None, None, None)
    assert row["move"] == pytest.approx(100 * (row["end_price"] / row["start_price"] - 1), abs=5e-5)
    assert {name: row["scores"][name] for name in ("brain", "usual_day")} == {
        "brain": score(early.brain, row["move"]),
        "usual_day": score(early.usual, row["move"]),
    }
    assert set(row["scores"]) == {"brain", "usual_day", "people"}
    assert complaint_of(row) is None
    assert complaint_of({name: value for name, value in row.items() if name not in {"base", "closing"}}) is None


def test_a_measured_question_has_the_move_from_its_base_and_the_scores_of_the_close() -> None:
    question = played(MEASURED)
    row: dict[str, Any] = dict(published_question(question))

    base = row["base"]
    end = row["end_price"]
    assert base == price_at(ASKED) != row["start_price"]
    assert row["move"] == pytest.approx(100 * (end / base - 1), abs=5e-5)
    assert question.closing_brain is not None
    assert question.closing_usual is not None
    assert row["scores"] == {
        "brain": score(question.closing_brain, row["move"]),
        "usual_day": score(question.closing_usual, row["move"]),
        "brain_when_asked": score(question.brain, row["move"]),
        "usual_day_when_asked": score(question.usual, row["move"]),
        "people": pytest.approx(sum(score(ends, row["move"]) for ends in ANSWERS.values()) / 2, abs=1e-4),
    }
    assert (question.answers, question.answers_sha256) == (2, hashlib.sha256(b"A\nB\n").hexdigest())
    assert complaint_of(row) is None


def test_the_score_is_the_mean_of_both_interval_scores() -> None:
    inside = score((-120, -40, 35, 110), 0.1)
    beyond = score((-120, -40, 35, 110), 1.3)

    assert inside == (0.75 + 2.3) / 2
    assert beyond == pytest.approx((0.75 + 4 * 0.95 + 2.3 + 20 * 0.2) / 2)


def test_a_question_without_a_price_is_void_with_its_reason() -> None:
    late = play_daily(asked(played(ASKED)), at(CLOSES + MINUTE), CLOSES)[0][1]
    few = played(MEASURED, prices={})

    assert (late.phase, late.void_reason) == (RoundPhase.VOID, "no tick in the minute after the start")
    assert (few.phase, few.void_reason) == (RoundPhase.VOID, "no end price")
    assert all(complaint_of(published_question(question)) is None for question in (late, few))
    assert all(question.is_over for question in (late, few))


def test_a_question_that_is_closed_has_the_price_at_its_close() -> None:
    live = played(CLOSES)
    row = published_question(live)

    assert (live.phase, complaint_of(row)) == (RoundPhase.LIVE, None)
    assert complaint_of({**row, "start_price": None}) == "closed without a price"


def test_a_question_that_no_release_carried_or_a_moved_replay_cut_short_is_void() -> None:
    unseen = play_daily(asked(played(ASKED)), at(CLOSES), ASKED - MINUTE)[0][1]
    moved = play_daily(asked(played(CLOSES)), at(CLOSES + HOUR, interrupted="moved"), CLOSES)[0][1]

    assert unseen.void_reason == "the forecast was not published before the start"
    assert moved.void_reason == "moved"


def test_an_altered_row_is_refused_with_what_does_not_agree() -> None:
    row: dict[str, Any] = json.loads(json.dumps(published_question(replace(played(MEASURED), people=2.5))))
    bent = {**row["forecast"], "brain": {**row["forecast"]["brain"], "low_50": -1}}
    move, scores = row["move"], row["scores"]
    no_commitment = "forecast and salt do not give the commitment"
    complaints = (
        ({"question_id": "BTC-DAILY-20261125"}, "question_id does not name the day that it was asked on"),
        ({"asset": "ETH"}, "question_id does not name the day that it was asked on"),
        ({"closes": "2026-11-25T12:01:00Z"}, "it closes or is measured at another time than its day gives"),
        ({"measured": "2026-11-26T13:01:00Z"}, "it closes or is measured at another time than its day gives"),
        ({"asked": "2026-11-25T12:30:00Z"}, "it was not asked in its time"),
        ({"asked": row["closes"]}, "it was not asked in its time"),
        ({"asked": "2026-11-24T12:59:59Z"}, "it was not asked in its time"),
        ({"commitment": "0" * 64}, no_commitment),
        ({"salt": "0"}, no_commitment),
        ({"forecast": bent}, no_commitment),
        ({"move": move + 1}, f"move is {move + 1}, the prices give {move}"),
        ({"scores": scores | {"brain": 0.0}}, f"scores are {scores | {'brain': 0.0}}, the ranges give {scores}"),
        ({"end_price": None}, "phase 'resolved' without both prices"),
        ({"start_price": None}, "phase 'resolved' without both prices"),
        ({"base": row["base"] + 1}, f"move is {move}, the prices give"),
        ({"base": None}, "ranges of the close stand with a base, and only with one"),
        ({"closing": None}, "ranges of the close stand with a base, and only with one"),
        ({"closing": {**row["closing"], "brain": row["forecast"]["brain"]}}, f"scores are {scores}, the ranges give"),
        ({"phase": "void"}, "void without a reason"),
        ({"phase": "no phase"}, "row is not of the published form (ValueError: 'no phase' is not a valid RoundPhase)"),
        ({"closes": None}, "row is not of the published form"),
    )

    for change, complaint in complaints:
        assert (complaint_of({**row, **change}) or "").startswith(complaint), change


def test_an_answer_saves_what_it_scored_below_a_usual_day_of_the_close() -> None:
    question = played(MEASURED)
    usual = question.compared[1]
    move = question.move
    assert move is not None

    assert saved_of(question, usual) == 0
    assert saved_of(question, (-1, 0, 1, 2)) == round(1e4 * (score(usual, move) - score((-1, 0, 1, 2), move)))
    assert saved_of(replace(question, base_price=None), usual) is None
    assert saved_of(played(CLOSES), usual) is None


def test_who_answers_only_where_it_likes_ranks_below_who_answers_every_day() -> None:
    closes_ms = [CLOSES + day * 24 * HOUR for day in range(60)]
    gains = [5000 if day % 2 else 4000 for day in range(60)]
    always = Saved(60, sum(gains), sum(gain**2 for gain in gains))
    picker = Saved(30, sum(gains[::2]), sum(gain**2 for gain in gains[::2]))
    keys = [Entrant("P" * 58, picker, closes_ms[0]), Entrant("A" * 58, always, closes_ms[0])]
    new = Entrant("N" * 58, Saved(29, 10**6, 10**11), closes_ms[-29])

    ranking = ranked([*keys, new], closes_ms)

    assert ranking is not None
    assert [(place["voter"][0], place["answers"], place["questions"]) for place in ranking["places"]] == [
        ("A", 60, 60),
        ("P", 30, 60),
    ]
    assert [place["saved"] for place in ranking["places"]] == [0.45, 0.2]
    assert (ranking["voters"], ranking["too_early"]) == (3, 1)
    assert ranked([], []) is None
