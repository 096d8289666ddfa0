"""What a backup says of itself: `manifest.json`, written last. A folder without one does not count."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, Self

from generator.errors import BackupError

FILE: Final = "manifest.json"
FORMAT: Final = 1
LEFT_OUT: Final = (
    "site: the next tick publishes it again",
    "vault: the next tick fills it again",
    "devnet: play money, and the keys of throwaway wallets",
)


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a backup, and where its content was: a database, a folder, or files by their absolute names."""

    holds: str  # memory, inbox, once, settings, keys, ledger
    file: str
    bytes: int
    sha256: str
    place: str  # a path, or a database's URL without its password
    owner: str = ""  # of the database's file or the folder; empty where there is none
    group: str = ""
    mode: int = 0o600


@dataclass(frozen=True, slots=True)
class Schemas:
    """The schemas of both databases; empty where there is no such database."""

    memory: str
    ledger: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """One backup. Times are UTC, ISO 8601; the cut is the start of the ledger's copy."""

    name: str
    version: str  # of the program
    schemas: Schemas
    began: str
    cut: str
    generation: int  # the last that the memory knows
    log_size: int  # entries of the transparency log
    parts: tuple[Part, ...]
    left_out: tuple[str, ...] = LEFT_OUT
    format: int = FORMAT

    def content(self) -> bytes:
        """Write it."""
        return json.dumps(asdict(self), indent=1).encode() + b"\n"

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Read it; BackupError for what is none, or of a newer program."""
        try:
            values: Mapping[str, Any] = json.loads(data)
            found = int(values["format"])
            if found > FORMAT:
                raise BackupError(f"the backup has format {found}, this program knows {FORMAT}: {NEWER}")

            parts = tuple(Part(**part) for part in values["parts"])
            whole = {**values, "parts": parts, "schemas": Schemas(**values["schemas"])}
            return cls(**{**whole, "left_out": tuple(values["left_out"])})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BackupError(f"{FILE} of the backup cannot be read: {error}") from error

    @property
    def cut_at(self) -> datetime:
        """When the ledger's copy began: what was settled before is in it."""
        return datetime.fromisoformat(self.cut)

    @property
    def total_bytes(self) -> int:
        """Bytes of all parts."""
        return sum(part.bytes for part in self.parts)

    def part(self, holds: str) -> Part | None:
        """Return the part that holds something, None where the backup has none."""
        return next((part for part in self.parts if part.holds == holds), None)

    def check_known(self, known: Schemas) -> None:
        """Raise BackupError where a newer program made this backup; `known` are this program's schemas."""
        for what, its, ours in (
            ("memory", self.schemas.memory, known.memory),
            ("payments ledger", self.schemas.ledger, known.ledger),
        ):
            if its.isdecimal() and int(its) > int(ours):
                raise BackupError(
                    f"backup {self.name} holds a {what} of schema {its}, newer than {ours}, the newest that this "
                    f"program knows: {NEWER}"
                )


NEWER: Final = "install the version that wrote it"
