"""The published record and what its reader can recompute."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from generator.arena.inputs import PlayInputs
from generator.arena.lessons import lesson_of
from generator.arena.play import PlayState, play
from generator.arena.published import complaint_of, digest_of, published_round, round_of_row
from generator.values.rounds import Lesson, Round
from generator.values.rows import LessonRow
from generator.values.votes import Tally
from tests.support.arena_inputs import HOUR, MINUTE, NOON, inputs_at, state_of

VOTES = Tally(5, 2, 1)


def moved(item: Round, inputs: PlayInputs) -> tuple[Round, Lesson | None]:
    state = state_of(active=(item,), real={item.round_id: VOTES}, taken=frozenset({item.end_ms}))
    result = play(state, inputs)
    return result.rounds.changes[0][1], result.rounds.lessons[0] if result.rounds.lessons else None


def a_row(opens_ms: int = NOON) -> dict[str, Any]:
    opened = play(PlayState(), inputs_at(opens_ms)).rounds.changes[0][1]
    sealed, _ = moved(opened, inputs_at(opens_ms + HOUR - 5 * MINUTE))
    live, _ = moved(sealed, inputs_at(opens_ms + HOUR))
    resolved, lesson = moved(live, inputs_at(opens_ms + 2 * HOUR))
    row: dict[str, Any] = json.loads(json.dumps(published_round(resolved, VOTES, lesson)))
    return row


def a_void_row() -> dict[str, Any]:
    opened = play(PlayState(), inputs_at(NOON)).rounds.changes[0][1]
    void, _ = moved(opened, inputs_at(NOON + 5 * HOUR))
    return dict(published_round(void, Tally(), None))


def test_an_honest_row_has_no_complaint() -> None:
    assert complaint_of(a_row()) is None
    assert complaint_of(a_void_row()) is None


def set_in(*path: str, to: object) -> Callable[[dict[str, Any]], None]:
    def change(row: dict[str, Any]) -> None:
        place = row
        for key in path[:-1]:
            place = place[key]
        assert place[path[-1]] != to
        place[path[-1]] = to

    return change


VALUE = r"(-?\d+\.\d+|BULLISH|BEARISH|NEUTRAL)"
TAMPERED = {
    "probability": (set_in("forecast", "probabilities", "up", to=0.9), "forecast and salt do not give the commitment"),
    "prediction": (set_in("forecast", "prediction", to="NONE"), "forecast and salt do not give the commitment"),
    "band": (set_in("forecast", "band_bps", to=1.0), "forecast and salt do not give the commitment"),
    "salt": (set_in("salt", to="00"), "forecast and salt do not give the commitment"),
    "commitment": (set_in("commitment", to="00"), "forecast and salt do not give the commitment"),
    "probability at the close": (
        set_in("closing", "forecast", "probabilities", "up", to=0.9),
        "the forecast at the close and the salt do not give its commitment",
    ),
    "commitment at the close": (
        set_in("closing", "commitment", to="00"),
        "the forecast at the close and the salt do not give its commitment",
    ),
    "forecast at the close hidden": (
        set_in("closing", "forecast", to=None),
        "it was sealed at the close, and that is not opened",
    ),
    "another round's forecast": (
        set_in("forecast", "round_id", to="BTC-20261120-140000"),
        "the sealed forecast is of another round",
    ),
    "start moved": (set_in("start", to="2026-11-20T13:30:00Z"), "round_id does not name the asset and the start"),
    "asset": (set_in("asset", to="ETH"), "round_id does not name the asset and the start"),
    "sealed late": (set_in("opened", to="2026-11-20T13:00:00Z"), "the forecast was not sealed before the start"),
    "end price": (set_in("end_price", to=1.0), rf"\w+ is \S+, the prices give {VALUE}"),
    "start price": (set_in("start_price", to=1.0), rf"\w+ is \S+, the prices give {VALUE}"),
    "change": (set_in("change_bps", to=0.01), rf"\w+ is \S+, the prices give {VALUE}"),
    "outcome": (set_in("outcome", to="NONE"), rf"\w+ is \S+, the prices give {VALUE}"),
    "votes": (set_in("votes", "neutral", to=500), rf"lesson \w+ is \S+, recomputed {VALUE}"),
    "minus votes": (set_in("votes", "neutral", to=-1), r"neutral votes -?\d+, of which simulated \d+, are invalid"),
    "simulated votes": (
        set_in("simulated_votes", "neutral", to=99),
        r"neutral votes -?\d+, of which simulated \d+, are invalid",
    ),
    "learning": (set_in("lesson", "learning_score", to=99.9), r"lesson learning_score is 99\.9, recomputed \d+\.\d"),
    "shared": (
        set_in("lesson", "shared_intelligence_score", to=99.9),
        r"lesson shared_intelligence_score is 99\.9, recomputed \d+\.\d",
    ),
    "flag": (set_in("lesson", "brain_correct", to=7), r"lesson brain_correct is 7, recomputed [01]"),
    "pattern": (
        set_in("lesson", "pattern_type", to="crowd_only"),
        r"lesson pattern_type is crowd_only, recomputed [a-z_]+",
    ),
    "phase": (set_in("phase", to="live"), "phase 'live' is neither resolved nor void"),
    "lesson gone": (set_in("lesson", to=None), r"row is not of the published form \(\w+: .+\)"),
    "forecast gone": (set_in("forecast", to=None), "no forecast, yet a commitment"),
    "a text for a price": (set_in("start_price", to="100"), r"row is not of the published form \(\w+: .+\)"),
    "zero price": (set_in("start_price", to=0), r"row is not of the published form \(\w+: .+\)"),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_a_tampered_row_is_found_by_name(case: str) -> None:
    change, complaint = TAMPERED[case]
    row = a_row()
    change(row)

    assert re.fullmatch(complaint, complaint_of(row) or "no complaint")


RESEALED = {
    "a call that the chances do not give": ({"call": "up"}, "the call is up, which the chances do not give"),
    "a small move": ({"call": "small_move"}, "the call is small_move, which the chances do not give"),
    "another word than the call's": ({"prediction": "BULLISH"}, "the prediction is BULLISH, the call is none"),
    "a confidence without a call": ({"confidence": 40.0}, "the confidence is 40.0, the chances give None"),
    "another chance of a move": (
        {"move": {"chance": 0.9, "base_rate": 0.64}},
        "the chance of a move is not one minus that of the band",
    ),
    "an unknown call": ({"call": "maybe"}, r"row is not of the published form \(\w+: .+\)"),
}


@pytest.mark.parametrize("case", RESEALED)
def test_a_call_that_was_sealed_against_its_own_chances_is_found(case: str) -> None:
    changes, complaint = RESEALED[case]
    row = a_row()
    assert row["forecast"]["call"] == "none"

    row["forecast"] |= changes
    row["commitment"] = digest_of(row["forecast"], row["salt"])

    assert re.fullmatch(complaint, complaint_of(row) or "no complaint")


@pytest.mark.parametrize("hours", range(8))
def test_every_kind_of_call_is_published_with_what_follows_from_it(hours: int) -> None:
    row = a_row(NOON + hours * HOUR)
    forecast = row["forecast"]
    chances = forecast["probabilities"]

    named = {"up": chances["up"], "down": chances["down"], "small_move": chances["neutral"]}
    assert complaint_of(row) is None
    assert forecast["confidence"] == (round(100 * named[forecast["call"]], 1) if forecast["call"] in named else None)
    assert forecast["move"] == {"chance": round(1 - chances["neutral"], 4), "base_rate": 0.64}
    assert row["lesson"]["brain_called"] == int(forecast["call"] in named)


def test_a_row_from_before_calls_needs_none() -> None:
    row = a_row()
    for name in ("call", "move"):
        del row["forecast"][name]
    row["forecast"]["confidence"] = 31.0
    row["commitment"] = digest_of(row["forecast"], row["salt"])
    right = row["outcome"] == row["forecast"]["prediction"]
    named = round_of_row(row)
    lesson = lesson_of(named, VOTES, 0)

    assert named.call is None
    assert lesson.brain_correct == int(right)
    row["lesson"] = {name: getattr(lesson, name) for name in LessonRow.__required_keys__}
    assert complaint_of(row) is None


@pytest.mark.parametrize("key", sorted(a_row()))
def test_a_row_with_a_missing_part_is_a_complaint_or_needs_it_not(key: str) -> None:
    row = a_row()
    del row[key]

    # The last three: of before chances, and of before a second seal.
    needless = {"price_basis", "void_reason", "chance_sums", "simulated_chance_sums", "closing"}
    assert (complaint_of(row) is None) == (key in needless)


def test_a_void_round_has_a_reason_and_no_outcome() -> None:
    row = a_void_row()

    assert complaint_of({**row, "void_reason": None}) == "void without a reason"
    assert complaint_of({**row, "outcome": "BULLISH"}) == "void, yet with an outcome or a lesson"
