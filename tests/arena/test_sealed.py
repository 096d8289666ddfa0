"""The one life of what is sealed: made before its start, opened at it, judged at its end, void for a reason."""

from dataclasses import replace
from typing import Any

import pytest

from generator.arena.games import GAMES, SEALED
from generator.arena.holds import GAME, KIND
from generator.arena.inputs import SET_BACK, UNSEEN, PlayInputs
from generator.arena.sealed import Claim, SealedState, published, seal
from generator.catalog.words import RoundPhase
from generator.record.memory.games import game_stores
from tests.support.arena_inputs import CHANCES, HOUR, MINUTE, NOON, inputs_at

FOUR = 4 * HOUR
BEFORE = NOON - 5 * MINUTE


def at(now_ms: int, label: str = "range", **changes: Any) -> PlayInputs:
    inputs = inputs_at(now_ms, seals_labels=True)
    assert inputs.regime is not None
    return replace(inputs, **{"regime": inputs.regime._replace(label=label), **changes})


def played(inputs: PlayInputs, *active: Claim, seen_ms: int | None = None) -> list[Claim]:
    """Return the claims that a tick changes."""
    upcoming = tuple(claim for claim in active if claim.start_ms == GAME.upcoming(inputs.now_ms))
    return [after for _, after in GAME.play(SealedState(active, upcoming), inputs, seen_ms)]


def sealed() -> Claim:
    [claim] = played(at(BEFORE))
    return claim


def opened() -> Claim:
    [claim] = played(at(NOON), sealed())
    return claim


def test_what_is_sealed_names_its_game_and_span_and_holds_the_chances() -> None:
    chances = dict(zip(("risk_on", "risk_off", "range", "high_volatility"), CHANCES[1], strict=True))

    assert sealed().phase is RoundPhase.OPEN
    assert sealed().sealed == {
        "game": "holds",
        "horizon": "4h",
        "start": "2026-11-20T12:00:00Z",
        "end": "2026-11-20T16:00:00Z",
        "content": {"kind": KIND, "label": "range", "chances": chances},
    }


def test_the_last_tick_before_the_hour_counts_and_the_same_again_changes_nothing() -> None:
    same = played(at(NOON - 3 * MINUTE), sealed())
    [other] = played(at(NOON - 2 * MINUTE), sealed())

    assert same == []
    assert (other.made_ms, other.content["chances"]["risk_on"]) == (NOON - 2 * MINUTE, CHANCES[0][0])
    assert played(at(NOON - 11 * MINUTE)) == []
    assert played(at(BEFORE, regime=None)) == []
    assert played(at(BEFORE, "transition")) == []


@pytest.mark.parametrize(
    ("label", "brier", "persistence", "held"), [("range", 0.285, 0.0, 1.0), ("risk_on", 0.885, 2.0, 0.0)]
)
def test_a_claim_is_scored_by_the_label_four_hours_after_the_hour(
    label: str, brier: float, persistence: float, held: float
) -> None:
    early = played(at(NOON + FOUR - MINUTE), opened())
    [judged] = [claim for claim in played(at(NOON + FOUR, label), opened()) if claim.start_ms == NOON]

    assert (opened().phase, opened().at_start) == (RoundPhase.LIVE, {"label": "range"})
    assert [claim.start_ms for claim in early] == [NOON + FOUR]
    assert (judged.phase, judged.at_end) == (RoundPhase.RESOLVED, {"label": label})
    assert judged.scores == {"brier": brier, "persistence": persistence, "chance": 0.55, "held": held}


def test_a_claim_that_cannot_count_is_void_for_its_reason() -> None:
    reasons = {
        "late": played(at(NOON + MINUTE), sealed()),
        "late end": played(at(NOON + FOUR + MINUTE), opened()),
        "no label": played(at(NOON, "unknown"), sealed()),
        "no label at the end": played(at(NOON + FOUR, regime=None), opened()),
        "unseen": played(at(NOON), sealed(), seen_ms=BEFORE - 1),
        "set back": played(at(BEFORE, next_close_ms=BEFORE), sealed()),
        "moved": played(at(NOON + HOUR, interrupted="moved"), opened()),
    }

    assert {case: claims[0].void_reason for case, claims in reasons.items()} == {
        "late": "no tick in the minute after the start",
        "late end": "no tick in the minute after the end",
        "no label": "no label at the start",
        "no label at the end": "no label at the end",
        "unseen": UNSEEN,
        "set back": SET_BACK,
        "moved": "moved",
    }
    assert {claim.phase for claims in reasons.values() for claim in claims} == {RoundPhase.VOID}
    assert [claim.phase for claim in played(at(NOON), sealed(), seen_ms=BEFORE)] == [RoundPhase.LIVE]


def test_what_began_or_is_void_is_not_sealed_again_and_a_backtest_seals_nothing() -> None:
    void = sealed().voided("moved")

    for known in (opened(), void):
        assert GAME.play(SealedState(upcoming=(known,)), at(NOON - 2 * MINUTE), None) == ()
    assert played(at(BEFORE, interrupted="moved")) == []
    assert played(at(BEFORE, warm_up=True)) == []
    assert played(at(NOON, warm_up=True), sealed()) == []


def test_a_seal_opens_to_its_content_and_salt_alone() -> None:
    row = published(sealed(), lambda content: f"salt of {len(content)}")

    again = seal(row["forecast"], lambda _: row["salt"])
    other = seal({**row["forecast"], "horizon": "1h"}, lambda _: row["salt"])

    assert again.commitment == row["commitment"] != other.commitment
    assert seal(row["forecast"], lambda _: "another").commitment != row["commitment"]


def test_every_game_that_is_played_has_a_store_and_follows_those_that_it_reads() -> None:
    kinds = [game.kind for game in GAMES]

    assert all(set(game.reads) <= set(kinds[:place]) for place, game in enumerate(GAMES))
    assert sorted(store.kind for store in game_stores()) == sorted(kinds)
    assert {game.kind for game in SEALED} < set(kinds)
