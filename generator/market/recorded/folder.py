"""Find recorded files: which folder holds what, and which file is which asset."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from generator.errors import SourceError
from generator.market.recorded.csv import HEADERS, Kind, UnreadableFileError, kind_of

_QUOTES: Final = frozenset({"", "USD", "USDT", "USDC", "BUSD", "FDUSD", "USDTPERP", "USDPERP", "PERP"})
_SUFFIXES: Final = (".csv", ".csv.gz")
_EXPECTED: Final = "expected files like BTCUSDT.csv or BTCUSDT.csv.gz that begin with " + " or ".join(
    ",".join(header) for header in HEADERS.values()
)
# A venue's name is what stands before the cadence: binance-spot-5m-2022-10 -> binance-spot.
_VENUE: Final = re.compile(r"([a-z][a-z0-9]*(?:-[a-z][a-z0-9]*)*)-\d+[mhd](?:-|$)")
UNNAMED_VENUE: Final = "recording"


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of one kind in one folder; `unreadable` names assets whose file cannot be opened."""

    path: Path
    kind: Kind
    files: dict[str, Path]
    unreadable: dict[str, str] = field(default_factory=dict)

    @property
    def venue(self) -> str:
        """The venue by the folder's name, `recording` where the name does not tell."""
        match = _VENUE.match(self.path.name.lower())
        return match.group(1) if match else UNNAMED_VENUE


def find_folders(roots: Sequence[Path], assets: tuple[str, ...]) -> dict[Kind, Folder]:
    """Find the one folder of each kind under `roots`, themselves and one level below.

    Raises:
        SourceError: a root is no folder or holds no market data, two folders hold the same kind, or none has candles.
    """
    if not roots:
        raise SourceError(f"a recording needs a folder of candles; {_EXPECTED}")
    found: dict[Kind, Folder] = {}
    for root in dict.fromkeys(path.resolve() for path in roots):
        for folder in _in_root(root, assets):
            other = found.setdefault(folder.kind, folder)
            if other.path != folder.path:
                raise SourceError(f"two folders of {folder.kind.value}: {other.path} and {folder.path}; give one")
    if Kind.CANDLES not in found:
        named = ", ".join(str(root) for root in roots)
        raise SourceError(f"no candles in {named}; expected files that begin with {_columns(Kind.CANDLES)}")
    return found


def _columns(kind: Kind) -> str:
    return ",".join(HEADERS[kind])


def _in_root(root: Path, assets: tuple[str, ...]) -> list[Folder]:
    if not root.is_dir():
        raise SourceError(f"{root} is not a folder; {_EXPECTED}")
    unreadable: dict[str, str] = {}
    try:
        below = sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
        folders = [folder for path in (root, *below) for folder in _in_folder(path, assets, unreadable)]
    except OSError as error:
        raise SourceError(f"{root} cannot be read ({error.strerror}); {_EXPECTED}") from error
    if not folders:
        why = "".join(f" ({asset}: {reason})" for asset, reason in list(unreadable.items())[:1])
        raise SourceError(f"{root} holds no market data of {', '.join(assets)}{why}; {_EXPECTED}")
    return folders


def _in_folder(path: Path, assets: tuple[str, ...], told: dict[str, str]) -> list[Folder]:
    """Sort a folder's files by what they hold; a file that does not tell is a problem of its neighbours' kind.

    Args:
        path: the folder.
        assets: whose files are looked for.
        told: why a file of an asset cannot be read is put here.
    """
    by_kind: dict[Kind, dict[str, Path]] = defaultdict(dict)
    unreadable: dict[str, str] = {}
    for file in sorted(path.iterdir()):
        asset = _asset_of(file, assets)
        if asset is None:
            continue
        try:
            _add(by_kind[kind_of(file)], asset, file)
        except UnreadableFileError as error:
            unreadable[asset] = str(error)
    told.update(unreadable)
    return [Folder(path, kind, files, unreadable) for kind, files in by_kind.items()]


def _add(files: dict[str, Path], asset: str, file: Path) -> None:
    other = files.setdefault(asset, file)
    if other != file:
        raise SourceError(f"two files of {asset}: {other} and {file}; keep one of them")


def _asset_of(file: Path, assets: tuple[str, ...]) -> str | None:
    suffix = next((suffix for suffix in reversed(_SUFFIXES) if file.name.lower().endswith(suffix)), None)
    if suffix is None or file.name.startswith("."):
        return None
    pair = re.sub(r"[-_]", "", file.name[: -len(suffix)].upper())
    return next((asset for asset in assets if pair.startswith(asset) and pair[len(asset) :] in _QUOTES), None)
