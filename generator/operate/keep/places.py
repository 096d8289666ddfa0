"""What is backed up, and where it lies on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from generator.operate.keep.databases import Database
from generator.operate.keep.files import names_below

MEMORY: Final = "memory"
LEDGER: Final = "ledger"
INBOX: Final = "inbox"
ONCE: Final = "once"
SETTINGS: Final = "settings"
KEYS: Final = "keys"
EXPORTS: Final = "exports"


@dataclass(frozen=True, slots=True)
class Places:
    """Where everything lies that cannot be made again."""

    memory: Database
    ledger: Database
    inbox: Path
    site: Path | None  # None where it lies in an object store
    exports: Path | None = None  # folder of the monthly files of payments that left the ledger
    settings: tuple[Path, ...] = ()  # files, or folders of files; there or not
    keys: Mapping[str, Path] = field(default_factory=dict)  # by the name in a backup
    states: Mapping[str, Path] = field(default_factory=dict)  # STATE_DIR of each program, by its database's name

    @property
    def once(self) -> Path | None:
        """Folder of what was published once and for all."""
        return None if self.site is None else self.site / "once"

    @property
    def is_published(self) -> bool:
        """Whether readers have a release here."""
        return self.site is not None and (self.site / "current").exists()


def settings_files(places: Places) -> list[Path]:
    """Return the files of the settings that are there, by absolute paths."""
    files: list[Path] = []
    for path in places.settings:
        if path.is_dir():
            files += [path.absolute() / name for name in names_below(path)]
        elif path.exists():
            files.append(path.absolute())
    return files


def exports_in(folder: Path) -> list[str]:
    """Return the names of the monthly files in a folder."""
    return sorted(path.name for path in folder.glob("settled-*.csv"))


def ballots_in(inbox: Path) -> list[str]:
    """Return the names of ballots in an inbox."""
    return [name for name in names_below(inbox) if is_ballot(name)]


def is_ballot(name: str) -> bool:
    """Return whether a file of an inbox is a ballot: neither what is still being written, nor what the generator says.

    >>> [is_ballot(name) for name in ("A.ballot", ".open-round", "A.tmp", "folder/A.ballot")]
    [True, False, False, False]
    """
    return "/" not in name and not name.startswith(".") and name[-4:] != ".tmp"
