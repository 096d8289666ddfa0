"""One file that proves one forecast (C2SP tlog-proof): what was sealed, that the log holds it, and who saw it when."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.wire.foreign import read_json
from generator.arena.published import digest_of
from generator.catalog.formats import ms_of
from generator.catalog.log_kinds import step_of
from generator.record.audit.game import Read, Row
from generator.record.audit.rounds import rows_of
from generator.record.log.note import Verifier
from generator.record.log.policy import Policy
from generator.record.log.proofs import TreeHashes, inclusion_proof
from generator.record.log.tiles import WIDTH, Tile, unbundle
from generator.record.published import PREFIX, witnessed_path
from generator.record.verify import VerifyError, Witnessed, published_tile, witnessed_head, witnessed_sizes

FORMAT: Final = "c2sp.org/tlog-proof@v1"


@dataclass(frozen=True, slots=True)
class ForecastProof:
    """A proof's bytes, and when enough witnesses had seen the seal, in seconds since 1970."""

    data: bytes
    seen_at: int
    start: int  # of the round

    @property
    def in_time(self) -> bool:
        """Whether the seal was seen before the round started."""
        return self.seen_at < self.start


def prove(read: Read, body: Any, round_id: str, policy: Policy, keys: Sequence[Verifier]) -> ForecastProof:
    """Prove one forecast; raise VerifyError where it is not revealed, not logged, or no head of its time is witnessed.

    Args:
        body: the published `/arena/rounds.json`.
        policy: which witnesses are enough.
        keys: of the log, where the policy names none.
    """
    row = next((row for row in rows_of(body) if row.get("round_id") == round_id), None)
    if row is None:
        raise VerifyError(f"{round_id} is not among the finished rounds that this site publishes")
    if not row.get("log_entries") or not row.get("forecast"):
        raise VerifyError(f"the forecast of {round_id} was never sealed in the log")

    index = int(row["log_entries"][0])
    witnessed = _first_witnessed(read, index, policy, policy.logs or keys)
    entry = _entry(read, index, witnessed.head.size)
    _check(entry, row)

    extra = {"entry": entry.decode(), "forecast": row["forecast"], "salt": row["salt"]}
    tree = TreeHashes(witnessed.head.size, lambda tile: published_tile(read, tile)[1])
    lines = [
        FORMAT,
        f"extra {base64.b64encode(json.dumps(extra, separators=(',', ':')).encode()).decode()}",
        f"index {index}",
        *(base64.b64encode(value).decode() for value in inclusion_proof(tree, index)),
    ]
    note = read(witnessed_path(witnessed.head.size)) or b""
    data = "".join(f"{line}\n" for line in lines).encode() + b"\n" + note
    return ForecastProof(data, witnessed.at, ms_of(row["start"]) // 1000)


def _first_witnessed(read: Read, index: int, policy: Policy, keys: Sequence[Verifier]) -> Witnessed:
    """Return the first head with an entry that enough witnesses signed."""
    for size in sorted(size for size in witnessed_sizes(read) if size > index):
        head = witnessed_head(read, size, policy, keys)
        if head is not None:
            return head
    raise VerifyError("no head of the log with this seal has the witnesses that the policy asks for; try again later")


def _entry(read: Read, index: int, size: int) -> bytes:
    """Return one entry of a log."""
    tile = Tile(None, index // WIDTH, min(WIDTH, size - index // WIDTH * WIDTH))
    there, data = published_tile(read, tile)
    try:
        return unbundle(data)[index % WIDTH]
    except (ValueError, IndexError):
        raise VerifyError(f"{PREFIX}{there.path} does not hold entry {index}") from None


def _check(entry: bytes, row: Row) -> None:
    """Raise VerifyError where an entry is not the seal of a round's forecast."""
    try:
        sealed: Any = read_json(entry)
    except ValueError:
        sealed = {}
    named = (step_of(sealed), sealed.get("round_id")) if isinstance(sealed, dict) and "kind" in sealed else ()
    if named != ("round.sealed", row["round_id"]):
        raise VerifyError(f"the entry that {row['round_id']} names is not its seal")
    if sealed.get("commitment") != digest_of(row["forecast"], row["salt"]):
        raise VerifyError(f"the forecast of {row['round_id']} does not open to what was sealed")
