"""What a backup says of itself: `manifest.json`, signed and written last. A folder without one does not count.

Whoever can write to the place where backups lie can write manifests too: nothing in one is believed before `of` has
checked it, and who made it is known only by its signature (`signing`).
"""

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from gateway.wire.foreign import ForeignBytesError, read_json
from generator.errors import BackupError
from generator.operate.keep.databases import POSTGRES, SQLITE
from generator.operate.keep.figures import Figures
from generator.operate.keep.places import EXPORTS, INBOX, KEYS, LEDGER, MEMORY, ONCE, SETTINGS

FILE: Final = "manifest.json"
FORMAT: Final = 2
MOST_BYTES: Final = 1 << 20
LEFT_OUT: Final = (
    "site: the next tick publishes it again",
    "vault: the next tick fills it again",
    "devnet: play money, and the keys of throwaway wallets",
)
NEEDED: Final = (MEMORY, LEDGER)
"""Without these a backup is none, unless it was made without them on purpose."""
FILES: Final = {
    MEMORY: (f"{MEMORY}{SQLITE}", f"{MEMORY}{POSTGRES}"),
    LEDGER: (f"{LEDGER}{SQLITE}", f"{LEDGER}{POSTGRES}"),
    **{holds: (f"{holds}.tar.gz",) for holds in (INBOX, ONCE, SETTINGS, EXPORTS)},
    KEYS: (f"{KEYS}.tar.gz.age",),
}
"""The parts that there are, and the names that the file of each may have."""

Holds = Literal["memory", "inbox", "once", "settings", "keys", "ledger", "exports"]
Line = Annotated[str, Field(max_length=4096, pattern=r"^[^\x00-\x1f\x7f]*$")]
Count = Annotated[int, Field(ge=0, le=2**62)]
_STRICT: Final = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a backup, and where its content was: a database, a folder, or files by their absolute names."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    holds: Holds
    file: Line
    bytes: Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    place: Line  # a path, or a database's URL without its password
    owner: Line = ""  # of the database's file or the folder; empty where there is none
    group: Line = ""
    mode: Annotated[int, Field(ge=0, le=0o3777)] = 0o600
    plain: Count | None = None  # bytes once unpacked; format 1 did not say


@dataclass(frozen=True, slots=True)
class Schemas:
    """The schemas of both databases; empty where there is no such database."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    memory: Line
    ledger: Line


@dataclass(frozen=True, slots=True)
class Manifest:
    """One backup. Times are UTC, ISO 8601; the cut is the start of the ledger's copy."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    name: Line
    version: Line  # of the program
    schemas: Schemas
    began: Line
    cut: Line
    generation: Count
    log_size: Count
    parts: tuple[Part, ...]
    left_out: tuple[Line, ...] = LEFT_OUT
    format: int = FORMAT
    payments: Count = 0
    without: tuple[Holds, ...] = ()  # parts that were left out on purpose
    signature: Line = ""  # of all the rest, see `signing`; format 1 had none

    def content(self) -> bytes:
        """Write it."""
        return json.dumps(asdict(self), indent=1).encode() + b"\n"

    def unsigned(self) -> bytes:
        """Write what is signed: all but the signature."""
        return replace(self, signature="").content()

    @classmethod
    def of(cls, data: bytes, name: str) -> Self:
        """Read the manifest of the backup of a name; BackupError for what is none, or of a newer program."""
        try:
            values: Any = read_json(data, MOST_BYTES)
            form = values.get("format") if isinstance(values, dict) else None
            if isinstance(form, int) and form > FORMAT:
                raise BackupError(f"the backup has format {form}, this program knows {FORMAT}: {NEWER}")

            manifest: Self = _MANIFEST.validate_python(values)
            begun, cut = (datetime.fromisoformat(time) for time in (manifest.began, manifest.cut))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(step) for step in first["loc"])
            raise BackupError(f"{FILE} of backup {name} cannot be read: {where}: {first['msg']}"[:300]) from error
        except (ForeignBytesError, ValueError) as error:
            raise BackupError(f"{FILE} of backup {name} cannot be read: {error}"[:300]) from error

        if complaint := manifest._complaint(name, begun, cut):
            raise BackupError(f"{FILE} of backup {name} cannot be right: {complaint}")
        return manifest

    def _complaint(self, name: str, begun: datetime, cut: datetime) -> str | None:
        """Say what cannot be right in it, None where all can."""
        if self.name != name:
            return f"it is that of {self.name!r}"

        if begun.tzinfo is None or cut.tzinfo is None:
            return "its times name no zone"

        if len(self.holds) < len(self.parts):
            return "it names a part twice"

        # A name with a path in it would be written anywhere.
        for part in self.parts:
            if part.file not in FILES.get(part.holds, ()):
                return f"{part.holds} does not lie in a file named {part.file!r}"
        return None

    @property
    def cut_at(self) -> datetime:
        """When the ledger's copy began: what was settled before is in it."""
        return datetime.fromisoformat(self.cut)

    @property
    def figures(self) -> Figures:
        """How much it holds."""
        return Figures(self.generation, self.log_size, self.payments)

    @property
    def holds(self) -> frozenset[str]:
        """What it has parts of."""
        return frozenset(part.holds for part in self.parts)

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

    def check_whole(self) -> None:
        """Raise BackupError where it lacks what no backup may, and was not made without it on purpose."""
        missing = [holds for holds in NEEDED if holds not in self.holds and holds not in self.without]
        if missing:
            raise BackupError(f"backup {self.name} holds no {' and no '.join(missing)}: choose another backup")


_MANIFEST: Final[TypeAdapter[Any]] = TypeAdapter(Manifest)
NEWER: Final = "install the version that wrote it"
