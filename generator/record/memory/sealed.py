"""The claims of sealed games as they are stored: one table for all of them."""

from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, select

from gateway.wire.foreign import read_json
from generator.arena import joint
from generator.arena.inputs import PlayInputs
from generator.arena.sealed import ACTIVE, Claim, ClaimChange, SaltOf, Sealed, SealedState, seal
from generator.catalog.durations import DAY_MS
from generator.catalog.formats import iso
from generator.record.audit.audit import Audit
from generator.record.audit.entries import Entry, claim_entries
from generator.record.memory import tables as t
from generator.record.memory.game import GameStore
from generator.record.memory.log import SECRET_KEY, LogState
from generator.record.memory.rows import get_meta, values_in
from generator.values.joint import JointScores

_C = t.claims.c
_OF_KIND = select(t.claims).where(_C.kind == bindparam("kind"))
_ACTIVE = _OF_KIND.where(_C.phase.in_([str(phase) for phase in ACTIVE])).order_by(_C.start_ms, _C.id)
_UPCOMING = _OF_KIND.where(_C.start_ms == bindparam("start_ms")).order_by(_C.id)
_JUDGED = (
    select(_C.horizon, _C.start_ms, _C.scores)
    .where(_C.kind == bindparam("kind"), _C.start_ms >= bindparam("since_ms"), _C.scores.is_not(None))
    .order_by(_C.start_ms)
)
RECORD_MS: Final = 90 * DAY_MS


def joint_record(connection: Connection, now_ms: int) -> tuple[JointScores, ...]:
    """Return how the joint scenarios of the last 90 days scored."""
    rows = connection.execute(_JUDGED, {"kind": joint.KIND, "since_ms": now_ms - RECORD_MS})
    return joint.record_of((row.horizon, row.start_ms, read_json(row.scores)) for row in rows)


class SealedStore(GameStore[SealedState, tuple[ClaimChange, ...]]):
    """The store of one sealed game."""

    table = t.claims
    key = ("kind", "start_ms", "horizon")

    def __init__(self, game: Sealed) -> None:
        self.kind = game.kind
        self._game = game

    def load(self, connection: Connection, inputs: PlayInputs) -> SealedState:
        """Load the claims that are not over and those of the upcoming span; nothing for a backtest, which has none."""
        if inputs.warm_up:
            return SealedState()
        active = self._claims(connection, _ACTIVE)
        start_ms = self._game.upcoming(inputs.now_ms)
        if start_ms is None:
            return SealedState(active)
        return SealedState(active, self._claims(connection, _UPCOMING, start_ms=start_ms))

    def changes(self, played: tuple[ClaimChange, ...]) -> tuple[ClaimChange, ...]:
        """Return the claims that a tick changed."""
        return played

    def entries(
        self,
        connection: Connection,
        played: tuple[ClaimChange, ...],
        now_ms: int,
        salt: SaltOf,
    ) -> list[Entry]:
        """Return what the log holds of them."""
        return claim_entries(self._game, played, now_ms, salt)

    def complaint(self, connection: Connection, audit: Audit) -> str | None:
        """Compare each claim that the log still knows with what it says of it, field by field."""
        logged = next(log.rows for log in audit.sealed if log.game.kind == self.kind)
        salt = LogState(secret=get_meta(connection, SECRET_KEY) or "").salt
        stored = {(iso(claim.start_ms), claim.horizon): claim for claim in self._claims(connection, _OF_KIND)}

        for key, row in logged.items():
            name = f"the {self.kind} claim of {' over '.join(key)}"
            if key not in stored:
                return f"{name} is in the log and not stored"
            for field, value in _logged_fields(stored[key], salt).items():
                if value != row[field]:
                    return f"{name}: {field} is stored as {value}, the log says {row[field]}"
        return None

    def _claims(self, connection: Connection, query: Select[Any], **given: int) -> tuple[Claim, ...]:
        return values_in(connection, Claim, query, {"kind": self.kind, **given})


def _logged_fields(claim: Claim, salt: SaltOf) -> dict[str, Any]:
    """Return what the log says of a claim, from what is stored; the digest holds its content and its span."""
    return {
        "made": iso(claim.made_ms),
        "commitment": seal(claim.sealed, salt).commitment,
        "phase": claim.phase,
        "at_start": claim.at_start,
        "at_end": claim.at_end,
        "scores": claim.scores,
        "void_reason": claim.void_reason,
    }
