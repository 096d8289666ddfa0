"""What a tick adds to the transparency log: one entry for each thing that must never be bent afterwards.

An entry is canonical JSON (see `sealing`); docs/reference/formats.md lists them. The last prediction of an asset
that was made before its hour counts. What was backtested before the start (`warm_up`) is not in the log.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from generator.arena.ballots import FORM
from generator.arena.daily import published_question
from generator.arena.ladders.hour import LadderHour, sealed_of
from generator.arena.published import called, canonical_json, published_round
from generator.arena.rounds import Lock, RoundsPlayed
from generator.arena.sealed import ClaimChange, SaltOf, Seal, Sealed, published, seal
from generator.arena.teacher import PredictionChange
from generator.catalog.formats import iso
from generator.catalog.log_kinds import kind_and_game
from generator.catalog.words import RoundPhase
from generator.values.hours import Move, PredictionMade
from generator.values.questions import DailyQuestion
from generator.values.rounds import Lesson, Round
from generator.values.votes import Tally

HOURLY_STEPS: Final = ("predictions.judged", "predictions.started", "predictions.sealed", "ranges.judged")
"""In the order in which a tick writes them."""
DigestOfBallots = Callable[[str], str]  # round id -> SHA-256 hex over its counted ballots


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the record."""

    step: str  # as `step_of` gives it
    subject: str | None  # round id, or the start of the hour; None for what is about neither
    data: bytes  # canonical JSON, what the log holds


def entry(step: str, at_ms: int, subject: str | None = None, **fields: Any) -> Entry:
    """Write an entry about a step, e.g. `round.sealed`."""
    return Entry(step, subject, canonical_json({**kind_and_game(step), "at": iso(at_ms), **fields}))


def round_entries(played: RoundsPlayed, now_ms: int, digest: DigestOfBallots) -> list[Entry]:
    """Return what one tick's changes of rounds add to the log, by their start.

    Args:
        played: what changes.
        now_ms: wall time of the tick.
        digest: of the counted ballots of a round.
    """
    locks = {lock.round_id: lock for lock in played.locks}
    lessons = {lesson.round_id: lesson for lesson in played.lessons}
    entries: list[Entry] = []
    for before, after in sorted(played.changes, key=lambda change: change[1].start_ms):
        if after.warm_up:
            continue
        if before is None or before.warm_up or before.phase is not after.phase:
            entries += _round(after, now_ms, locks.get(after.round_id), lessons.get(after.round_id), digest)
        if after.phase is RoundPhase.OPEN and after.closing is not None and after.closing.made_ms == now_ms:
            again = {"round_id": after.round_id, "commitment": after.closing.commitment}
            entries.append(entry("round.resealed", now_ms, after.round_id, **again))
    return entries


def ladder_entry(hour: LadderHour, now_ms: int, salt: SaltOf) -> Entry:
    """Return what the log holds of an hour's ladder before it begins."""
    start = iso(hour.start_ms)
    return entry("ladder.sealed", now_ms, start, start=start, commitment=sealed_ladder(hour, salt).commitment)


def sealed_ladder(hour: LadderHour, salt: SaltOf) -> Seal:
    """Seal an hour's ladder."""
    return seal(sealed_of(hour, iso(hour.start_ms)), salt)


def claim_entries(game: Sealed, changes: Iterable[ClaimChange], now_ms: int, salt: SaltOf) -> list[Entry]:
    """Return what the log holds of the claims of a game that a tick changed."""
    entries = []
    for _, claim in changes:
        step, names = game.step(claim.phase)
        row = published(claim, salt)
        shown = {name: row[name] for name in ("start", "horizon", *names)}
        entries.append(entry(f"{game.kind}.{step}", now_ms, iso(claim.start_ms), **shown))
    return entries


# What each entry about a daily question holds of its published row, by the phase that the question came to.
ASKED: Final = ("question_id", "asset", "asked", "closes", "measured", "commitment")
OF_BASE: Final = ("base", "closing")  # an entry about a question that was asked under the earlier rule has neither
OF_DAILY: Final[Mapping[RoundPhase, tuple[str, tuple[str, ...]]]] = {
    RoundPhase.OPEN: ("daily.sealed", (*ASKED, "base")),
    RoundPhase.LIVE: (
        "daily.started",
        ("question_id", "forecast", "salt", "start_price", "price_basis", "closing", "answers", "answers_sha256"),
    ),
    RoundPhase.RESOLVED: ("daily.judged", ("question_id", "end_price", "move", "scores")),
    RoundPhase.VOID: ("daily.void", ("question_id", "void_reason", "forecast", "salt")),
}


def daily_entry(question: DailyQuestion, now_ms: int) -> Entry:
    """Return what the log holds of a daily question that came to its phase in this tick."""
    kind, names = OF_DAILY[question.phase]
    row: Mapping[str, Any] = published_question(question)
    form = {"ballot_form": FORM} if question.phase is RoundPhase.OPEN else {}
    return entry(kind, now_ms, question.question_id, **{name: row[name] for name in names}, **form)


# What each entry about a round holds of its published row.
AT_CLOSE: Final = "close"
"""With the brain's forecast at the close people are compared, from the first round on that says so."""
SLOT: Final = ("round_id", "asset", "opened", "start", "end")
REVEALED: Final = ("forecast", "salt", "previous_outcome")
SUMS: Final = ("chance_sums", "simulated_chance_sums")  # an entry of before votes could give chances has none
LOCKED: Final = ("round_id", "votes", "simulated_votes", *SUMS, "start_price", "price_basis", *REVEALED)
RESOLVED: Final = ("round_id", "end_price", "change_bps", "outcome", "lesson")


def _round(after: Round, now_ms: int, lock: Lock | None, lesson: Lesson | None, digest: DigestOfBallots) -> list[Entry]:
    real, simulated = (lock.real, lock.simulated) if lock else (Tally(), Tally())
    row: Mapping[str, Any] = published_round(after, real.plus(simulated), lesson, simulated)

    def about(kind: str, names: tuple[str, ...], **more: Any) -> list[Entry]:
        return [entry(kind, now_ms, after.round_id, **{name: row[name] for name in names}, **more)]

    # A round from before the rule says nothing of a second seal.
    is_sealed_twice = after.closing is not None
    rule = {"compared_at": AT_CLOSE} if is_sealed_twice else {}
    closing = {"closing": row["closing"]} if is_sealed_twice else {}

    if after.phase is RoundPhase.OPEN:
        return about("round.sealed", (*SLOT, "commitment"), band_bps=after.band_bps, ballot_form=FORM, **rule)
    if after.phase is RoundPhase.LIVE and lock is not None:
        return about("round.started", LOCKED, ballots_sha256=digest(after.round_id), **closing)
    if after.phase is RoundPhase.RESOLVED and lesson is not None:
        return about("round.judged", RESOLVED)
    return about("round.void", (*SLOT, "void_reason", *REVEALED), **closing) if after.phase is RoundPhase.VOID else []


def hour_entries(changes: Iterable[PredictionChange], now_ms: int, salt: SaltOf) -> list[Entry]:
    """Write the hourly predictions in one entry an hour and step; one that only was made again says nothing new."""
    hours: dict[tuple[str, int, str], dict[str, Any]] = {}  # by kind, start and horizon ("" for none): asset -> what

    def note(kind: str, after: PredictionMade, what: Any, horizon: str = "") -> None:
        hours.setdefault((kind, after.start_ms, horizon), {})[after.asset] = what

    for before, after in changes:
        if after.warm_up:
            continue
        for horizon, move in after.moves.items() if after.start_price is not None else ():
            if before is None or horizon not in before.moves:
                note("ranges.judged", after, moved(move), horizon)
        ended_before = before is not None and (before.outcome, before.void_reason) == (after.outcome, after.void_reason)
        if after.outcome is not None and not ended_before:
            note("predictions.judged", after, _judged(after))
        elif after.void_reason is not None and not ended_before:
            note("predictions.judged", after, {**_revealed(after, salt), **_judged(after)})
        elif after.start_price is not None and (before is None or before.start_price is None):
            note("predictions.started", after, {**_revealed(after, salt), "start_price": after.start_price})
        elif after.start_price is None and (before is None or replace(before, made_ms=after.made_ms) != after):
            note("predictions.sealed", after, seal(_made(after), salt).commitment)
    return [
        entry(step, now_ms, iso(start), start=iso(start), assets=assets, **({"horizon": horizon} if horizon else {}))
        for step in HOURLY_STEPS
        for (of, start, horizon), assets in sorted(hours.items())
        if of == step
    ]


def _revealed(after: PredictionMade, salt: SaltOf) -> dict[str, Any]:
    """Return what is sealed of an hourly prediction, and the salt that it is sealed with."""
    sealed = seal(_made(after), salt)
    return {"forecast": sealed.content, "salt": sealed.salt}


def moved(move: Move) -> dict[str, Any]:
    """Write the move over one horizon."""
    if move.void_reason is not None:
        return {"void_reason": move.void_reason}
    return {"end_price": move.end_price, "move": move.move}


def _made(after: PredictionMade) -> dict[str, Any]:
    """Return what is sealed of an hourly prediction."""
    return {
        "asset": after.asset,
        "start": iso(after.start_ms),
        "prediction": str(after.prediction),
        "probabilities": list(after.probabilities),
        "base_rate": list(after.base_rate),
        **called(after),
        "band_bps": after.band_bps,
        "previous_outcome": None if after.previous is None else str(after.previous),
        # Hours that were sealed before ranges existed have none, and must give the same digest again.
        **(
            {}
            if after.ranges is None
            else {"ranges": {name: asdict(forecast) for name, forecast in after.ranges.items()}}
        ),
    }


def _judged(after: PredictionMade) -> dict[str, Any]:
    if after.outcome is None:
        return {"void_reason": after.void_reason}
    return {"end_price": after.end_price, "change_bps": after.change_bps, "outcome": str(after.outcome)}
