"""The vault: what is for sale, written before the site, read by the gateway through `manifest.json` alone."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

import structlog

from generator.catalog.products import PRODUCTS
from generator.errors import PublishError
from generator.lease import Fence, one_writer
from generator.release.disk import SHARED, Disk, LocalDisk
from generator.release.vault_manifest import MANIFEST, Offer, body_path, has_room, manifest_bytes, manifest_of

__all__ = ["MANIFEST", "Offer", "Vault"]
log = structlog.get_logger("emi.publish")


class Vault:
    """Snapshots below one folder; the manifest is the pointer and moves last."""

    def __init__(self, folder: Path, disk: Disk | None = None, fence: Fence = one_writer) -> None:
        self._folder = folder
        self._disk: Disk = disk or LocalDisk(SHARED)
        self._fence = fence
        self._snapshots: list[dict[str, Any]] = []
        self._seen: tuple[int, int] | None = None  # inode and mtime of the manifest that holds them

    def open(self) -> None:
        """Create the folder and read the snapshots that can still be paid.

        Raises:
            PublishError: the folder cannot be written, or its manifest is not one.
        """
        try:
            self._disk.folder(self._folder / "snapshots")
            self._look()
        except OSError as error:
            raise PublishError(f"vault folder {self._folder}: cannot use: {error.strerror or error}") from error

    def generation(self) -> int:
        """Return the generation of the newest snapshot; 0 before the first."""
        return int(self._snapshots[0]["snapshot_id"]) if self._snapshots else 0

    def publish(self, offer: Offer) -> None:
        """Write the bodies, then swap the manifest; a vault full of what can still be paid stays as it is.

        Raises:
            PublishError: the last manifest stands.
        """
        try:
            self._look()
            if self.generation() >= int(offer.generation):
                raise PublishError(f"vault {offer.generation} not published: {self.generation():012d} is there already")
            if not has_room(offer, self._snapshots):
                log.warning("too many quotes can still be paid: nothing newer is for sale", generation=offer.generation)
                return
            manifest = manifest_of(offer, self._snapshots)
            for product in PRODUCTS:
                self._disk.write(self._folder / body_path(offer, product), offer.bodies[product.id])
            self._disk.sync(self._folder)
            self._fence()
            self._disk.replace_text(self._folder / MANIFEST, manifest_bytes(manifest))
            self._seen = self._look_of()
        except OSError as error:
            raise PublishError(f"vault {offer.generation} not published: {error.strerror or error}") from error
        self._snapshots = manifest["snapshots"]
        self._prune()

    def _look(self) -> None:
        """Read the manifest that readers have, unless it is the one written last.

        A swap may have happened although it raised, and another leader may have written meanwhile: what they sold can
        still be paid, so it stays.
        """
        seen = self._look_of()
        if seen == self._seen:
            return
        where = self._folder / MANIFEST
        try:
            self._snapshots = list(json.loads(where.read_bytes())["snapshots"]) if seen else []
        except (ValueError, KeyError, TypeError) as error:
            raise PublishError(f"{where} is not a vault manifest; move it away to start a new vault") from error
        self._seen = seen

    def _look_of(self) -> tuple[int, int] | None:
        try:
            found = (self._folder / MANIFEST).stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns

    def _prune(self) -> None:
        """Drop snapshots that the manifest no longer names; a gateway that still reads one has it in memory."""
        kept = {snapshot["snapshot_id"] for snapshot in self._snapshots}
        with contextlib.suppress(OSError):  # published it is; the next tick prunes again
            for folder in list((self._folder / "snapshots").iterdir()):
                if folder.name not in kept:
                    shutil.rmtree(folder, ignore_errors=True)
