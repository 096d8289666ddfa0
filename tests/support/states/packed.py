"""The states of earlier versions, unpacked for one test."""

import tarfile
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent


def unpacked(version: str, folder: Path) -> Path:
    """Unpack the state of a version into a folder; return its STATE_DIR."""
    with tarfile.open(HERE / f"{version}.tar.xz") as archive:
        archive.extractall(folder, filter="tar")
    return folder / "state"
