"""A round as it is sealed, revealed and published, and the check that a reader can repeat on it.

A forecast is sealed by a digest before the votes close; it and its salt are published afterwards.
digest = SHA-256(canonical JSON of the forecast, UTF-8, followed by the salt's hex digits). Canonical JSON has sorted
keys, no spaces and whole numbers without a decimal point, as in RFC 8785.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from gateway.wire.notes import WHOLE
from generator.arena.lessons import lesson_of
from generator.arena.outcome import change_bps, outcome_of
from generator.arena.scores import confidence_percent
from generator.brain.forecast import EARNED, ENTER_SMALL, KEEP_SMALL, UNITS
from generator.catalog.formats import iso, ms_of
from generator.catalog.words import PREDICTION_OF_CALL, Call, Prediction, RoundPhase
from generator.values.hours import PredictionMade
from generator.values.rounds import Closing, Lesson, Round, Triple, move_chance
from generator.values.rows import (
    Chances,
    ClaimOfForecast,
    ClosingForecast,
    LessonRow,
    PublishedClosing,
    PublishedRound,
    SealedForecast,
)
from generator.values.votes import ChanceSums, Tally


def canonical_json(value: Any) -> bytes:
    """Return the one JSON text of a value; raise ValueError where it holds NaN or infinity.

    >>> canonical_json({"b": 2.0, "a": [0.5, None]})
    b'{"a":[0.5,null],"b":2}'
    """
    text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def digest_of(forecast: Mapping[str, Any], salt: str) -> str:
    """Return the commitment to a forecast, 64 hex digits."""
    return hashlib.sha256(canonical_json(forecast) + salt.encode()).hexdigest()


def forecast_of(sealed: Round) -> SealedForecast:
    """Return the sealed content of a round, as revealed when it goes live."""
    if sealed.probabilities is None or sealed.prediction is None or sealed.base_rate is None:
        raise ValueError(f"round {sealed.round_id} has no forecast")

    return {
        "round_id": sealed.round_id,
        "asset": sealed.asset,
        "start": iso(sealed.start_ms),
        "end": iso(sealed.end_ms),
        "band_bps": sealed.band_bps,
        "prediction": sealed.prediction,
        "probabilities": _named(sealed.probabilities),
        "base_rate": _named(sealed.base_rate),
        "confidence": sealed.confidence_percent,
        "regime_mode": sealed.regime_mode,
        **called(sealed),
    }


def closing_forecast(sealed: Round) -> ClosingForecast:
    """Return what is sealed of a round when its votes are about to close."""
    closing = sealed.closing
    if closing is None or closing.made_ms is None or closing.probabilities is None:
        raise ValueError(f"round {sealed.round_id} was not sealed again")

    return {
        "round_id": sealed.round_id,
        "made": iso(closing.made_ms),
        "band_bps": sealed.band_bps,
        "probabilities": _named(closing.probabilities),
    }


def published_closing(finished: Round) -> PublishedClosing | None:
    """Return the second seal of a round as its row has it; None of one from before the rule."""
    closing = finished.closing
    if closing is None:
        return None
    return {
        "commitment": closing.commitment,
        "forecast": None if closing.probabilities is None else closing_forecast(finished),
        "void_reason": closing.void_reason,
    }


def called(sealed: Round | PredictionMade) -> ClaimOfForecast:
    """Return what is sealed of a call and of the kind of its chances.

    Nothing of a forecast from before calls or kinds, whose digest had none.
    """
    move = sealed.move
    if sealed.call is None or move is None:
        return {}
    claim: ClaimOfForecast = {"call": sealed.call, "move": {"chance": move.chance, "base_rate": move.base_rate}}
    if sealed.chances_kind is not None:
        claim["chances_kind"] = sealed.chances_kind
    return claim


def _named(chances: tuple[float, float, float]) -> Chances:
    down, neutral, up = chances
    return {"down": down, "neutral": neutral, "up": up}


def published_round(
    finished: Round, tally: Tally, lesson: Lesson | None, simulated: Tally | None = None
) -> PublishedRound:
    """Return one row of `/arena/rounds.json`; `simulated` is the part of `tally` that the demo simulated.

    Votes are of all, with the simulated ones apart; sums of chances are of the real votes and of the simulated ones.
    """
    revealed = finished.probabilities is not None
    part = simulated or Tally()
    real = tally.chances.minus(part.chances)

    return {
        "round_id": finished.round_id,
        "asset": finished.asset,
        "phase": finished.phase,
        "opened": iso(finished.opens_ms),
        "start": iso(finished.start_ms),
        "end": iso(finished.end_ms),
        "warm_up": finished.warm_up,
        "commitment": finished.sealed_digest,
        "forecast": forecast_of(finished) if revealed else None,
        "salt": finished.salt,
        "closing": published_closing(finished),
        "previous_outcome": finished.previous,
        "price_basis": finished.price_basis,
        "start_price": finished.start_price,
        "end_price": finished.end_price,
        "change_bps": finished.change_bps,
        "outcome": finished.outcome,
        "void_reason": finished.void_reason,
        "votes": tally.votes,
        "simulated_votes": part.votes,
        "chance_sums": real.row,
        "simulated_chance_sums": part.chances.row,
        "lesson": None if lesson is None else _lesson(lesson),
    }


def _lesson(lesson: Lesson) -> LessonRow:
    """Return what can be recomputed of a lesson; one of a forecast from before calls says nothing of a call."""
    row: LessonRow = {
        "lesson_id": lesson.lesson_id,
        "brain_prediction": lesson.brain_prediction,
        "human_consensus": lesson.human_consensus,
        "actual_outcome": lesson.actual_outcome,
        "brain_correct": lesson.brain_correct,
        "crowd_correct": lesson.crowd_correct,
        "agreement": lesson.agreement,
        "shared_intelligence_score": lesson.shared_intelligence_score,
        "learning_score": lesson.learning_score,
        "pattern_type": lesson.pattern_type,
    }

    if lesson.brain_called is not None:
        row["brain_called"] = lesson.brain_called
    return row


def complaint_of(row: Mapping[str, Any]) -> str | None:
    """Recompute everything in a row that can be recomputed; return what does not agree, or None.

    A row of another form is a complaint too, never an exception.
    """
    try:
        common = _sealing_complaint(row) or _votes_complaint(row)
        if row["phase"] == "void":
            return common or _void_complaint(row)
        return common or _outcome_complaint(row) or _lesson_complaint(row)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, OverflowError) as error:
        return f"row is not of the published form ({type(error).__name__}: {error})"


def _sealing_complaint(row: Mapping[str, Any]) -> str | None:
    named = (row["round_id"], row["asset"], row["start"], row["end"])
    digits = re.sub(r"\D", "", row["start"])
    if row["round_id"] != f"{row['asset']}-{digits[:8]}-{digits[8:]}":
        return "round_id does not name the asset and the start"

    forecast = row["forecast"]
    if forecast is None:
        return "no forecast, yet a commitment" if row["commitment"] is not None else None
    if (forecast["round_id"], forecast["asset"], forecast["start"], forecast["end"]) != named:
        return "the sealed forecast is of another round"
    if digest_of(forecast, row["salt"]) != row["commitment"]:
        return "forecast and salt do not give the commitment"
    if not row["opened"] < row["start"] < row["end"]:
        return "the forecast was not sealed before the start"
    chances = _triple(forecast["probabilities"])
    return call_complaint(forecast, chances, _triple(forecast["base_rate"])) or _closing_complaint(row)


def _closing_complaint(row: Mapping[str, Any]) -> str | None:
    """Check the second seal; a row from before the rule has none, and nothing is to be compared in a void round."""
    closing = row.get("closing")
    if closing is None:
        return None

    again = closing["forecast"]
    if again is None:
        is_said = closing["commitment"] is None and (closing["void_reason"] or row["phase"] == "void")
        return None if is_said else "it was sealed at the close, and that is not opened"
    if digest_of(again, row["salt"]) != closing["commitment"]:
        return "the forecast at the close and the salt do not give its commitment"
    if (again["round_id"], again["band_bps"]) != (row["round_id"], row["forecast"]["band_bps"]):
        return "the forecast at the close is of another round or band"
    if not row["opened"] <= again["made"] < row["start"]:
        return "the forecast at the close was not sealed while votes were open"
    return None


def call_complaint(forecast: Mapping[str, Any], chances: Triple, base_rate: Triple) -> str | None:
    """Recompute what follows from a sealed forecast's chances: whether its call may be, its word, and the move.

    What was sealed before calls existed has none of it.
    """
    call = call_of(forecast)
    if call is None:
        return None
    if not may_be(call, chances):
        return f"the call is {call}, which the chances do not give"
    if forecast["prediction"] != PREDICTION_OF_CALL[call]:
        return f"the prediction is {forecast['prediction']}, the call is {call}"
    if "confidence" in forecast and forecast["confidence"] != confidence_percent(chances, call):
        return f"the confidence is {forecast['confidence']}, the chances give {confidence_percent(chances, call)}"

    move = move_chance(chances, base_rate)
    if move is None or forecast["move"] != {"chance": move.chance, "base_rate": move.base_rate}:
        return "the chance of a move is not one minus that of the band"
    return None


def may_be(call: Call, chances: Triple) -> bool:
    """Return whether some call before, and some rule of sides, lead to a call with these chances.

    >>> may_be(Call.SMALL_MOVE, (0.3, 0.46, 0.24)), may_be(Call.NONE, (0.2, 0.5, 0.3))
    (True, False)
    """
    down, neutral, up = (round(UNITS * chance) for chance in chances)
    least_lead = round(UNITS * EARNED.keep)
    if call is Call.SMALL_MOVE:
        return neutral >= max(KEEP_SMALL, up, down)
    if call is Call.UP:
        return up > neutral and up - down >= least_lead
    if call is Call.DOWN:
        return down > neutral and down - up >= least_lead
    return neutral < ENTER_SMALL


def _votes_complaint(row: Mapping[str, Any]) -> str | None:
    for choice in ("bullish", "bearish", "neutral"):
        votes = row["votes"][choice]
        simulated = row["simulated_votes"][choice]
        if type(votes) is not int or type(simulated) is not int or not 0 <= simulated <= votes:
            return f"{choice} votes {votes!r}, of which simulated {simulated!r}, are invalid"

    simulated = sum(row["simulated_votes"].values())
    real = sum(row["votes"].values()) - simulated
    for name, votes in (("chance_sums", real), ("simulated_chance_sums", simulated)):
        if not _are_sums(chance_sums_of(row, name), votes):
            return f"{name} {row[name]!r} are not those of at most {votes} votes"
    return None


def chance_sums_of(row: Mapping[str, Any], name: str) -> ChanceSums:
    """Return what a row says of the chances of its votes; nothing where it is of before a vote could give any."""
    return ChanceSums(**row[name]) if name in row else ChanceSums()


def _are_sums(sums: ChanceSums, votes: int) -> bool:
    parts = (sums.up, sums.neutral, sums.down)
    whole = all(type(number) is int and number >= 0 for number in (sums.votes, *parts))
    return whole and sums.votes <= votes and sum(parts) == WHOLE * sums.votes


def _void_complaint(row: Mapping[str, Any]) -> str | None:
    if not row["void_reason"]:
        return "void without a reason"
    if row["outcome"] is not None or row["lesson"] is not None:
        return "void, yet with an outcome or a lesson"
    return None


def _outcome_complaint(row: Mapping[str, Any]) -> str | None:
    if row["phase"] != "resolved":
        return f"phase {row['phase']!r} is neither resolved nor void"
    if row["forecast"] is None:
        return "resolved without a forecast"

    change = change_bps(row["start_price"], row["end_price"])
    if change != row["change_bps"]:
        return f"change_bps is {row['change_bps']}, the prices give {change}"

    outcome = outcome_of(change, row["forecast"]["band_bps"])
    if outcome != row["outcome"]:
        return f"outcome is {row['outcome']}, the prices give {outcome}"
    return None


def _lesson_complaint(row: Mapping[str, Any]) -> str | None:
    lesson = row["lesson"]
    expected = _lesson(lesson_of(round_of_row(row), Tally(**row["votes"]), created_ms=0))
    for name, value in expected.items():
        if lesson.get(name) != value:
            return f"lesson {name} is {lesson[name]}, recomputed {value}"
    return None


def round_of_row(row: Mapping[str, Any]) -> Round:
    """Read a resolved round out of its row as far as scores and lesson need it."""
    forecast = row["forecast"]
    previous = row["previous_outcome"]

    # Times and the salt are left out: nothing that is scored needs them.
    return Round(
        round_id=row["round_id"],
        asset=row["asset"],
        opens_ms=0,
        start_ms=ms_of(row["start"]),
        end_ms=0,
        phase=RoundPhase.RESOLVED,
        band_bps=forecast["band_bps"],
        prediction=Prediction(forecast["prediction"]),
        probabilities=_triple(forecast["probabilities"]),
        base_rate=_triple(forecast["base_rate"]),
        previous=None if previous is None else Prediction(previous),
        change_bps=row["change_bps"],
        outcome=Prediction(row["outcome"]),
        warm_up=bool(row["warm_up"]),
        call=call_of(forecast),
        chances_kind=forecast.get("chances_kind"),
        closing=_closing_of(row.get("closing")),
    )


def _closing_of(published: Mapping[str, Any] | None) -> Closing | None:
    if published is None:
        return None
    again = published["forecast"]
    if again is None:
        return Closing(void_reason=published["void_reason"])
    chances = _triple(again["probabilities"])
    return Closing(ms_of(again["made"]), chances, published["commitment"], published["void_reason"])


def call_of(forecast: Mapping[str, Any]) -> Call | None:
    """Return the call of a sealed forecast; None where it was sealed before calls existed."""
    return Call(forecast["call"]) if "call" in forecast else None


def _triple(named: Mapping[str, float]) -> Triple:
    return (named["down"], named["neutral"], named["up"])
