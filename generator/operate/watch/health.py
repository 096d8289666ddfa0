"""What the generator says of itself in a small file after each tick, as the gateway does at /readyz."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from gateway.wire.foreign import read_json

FILE = "generator.json"


@dataclass(frozen=True, slots=True)
class Health:
    """What cannot be seen from outside; texts are for the operator, times are Unix seconds.

    Args:
        at: when it was said.
        memory: what is wrong with the file of the memory.
        record: why the record that readers have is not continued.
        log_key: what is wrong with the file of the log's key.
        store: why the object store did not take the last ticks.
        store_refusals: how many of them, in a row.
        witnesses: by witness that does not sign, since when.
        ahead: by witness that has seen more of the log than there is, what it has seen.
    """

    at: float = 0.0
    memory: str | None = None
    record: str | None = None
    log_key: str | None = None
    store: str | None = None
    store_refusals: int = 0
    witnesses: dict[str, float] = field(default_factory=dict)
    ahead: dict[str, str] = field(default_factory=dict)

    def dumped(self) -> bytes:
        """Write it."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def of(cls, data: bytes) -> "Health | None":
        """Read it; None for what is none, such as one of another version."""
        try:
            values: dict[str, Any] = read_json(data)
            return cls(**values)
        except (ValueError, TypeError):
            return None
