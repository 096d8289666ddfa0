"""Where the files of a vault come from: a folder of this machine, or an object store. Neither is trusted.

Credentials and endpoints of an object store come from the environment that obstore reads (AWS_…, GOOGLE_…, AZURE_…),
and nothing that a store answers is put into a text as it is: it may repeat a signed request.
"""

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gateway.errors import VaultUnreadable
from gateway.wire.object_store import REQUEST_S, RETRIES, open_store, plain_error, store_errors

MANIFEST: Final = "manifest.json"
MAX_MANIFEST_BYTES: Final = 8 * 1024 * 1024
MAX_BODY_BYTES: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest's bytes, and what to ask with whether it was replaced."""

    data: bytes
    mark: Hashable


def vault_files(folder: Path, url: str | None, request_s: float = REQUEST_S, retries: int = RETRIES) -> "VaultFiles":
    """Return the files of the object store at `url`, or of the folder of this machine when there is none.

    Args:
        folder: of this machine.
        url: of a bucket.
        request_s: seconds that one try at an object store may take.
        retries: further tries of a request that failed.

    Raises:
        VaultUnreadable: the environment lacks what the object store needs.
    """
    if url is None:
        return Folder(folder)
    try:
        return BucketFiles(open_store(url, request_s, retries), url)
    except store_errors() as error:
        raise VaultUnreadable(f"{url} cannot be opened: {plain_error(error)}") from None


class Folder:
    """A vault on a disk of this machine."""

    poll_s = 0.0  # a stat: at every look

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def manifest(self, held: Hashable) -> Manifest | None:
        """Return the manifest, None when it is the one that `held` marks; raise VaultUnreadable where there is none."""
        path = self._folder / MANIFEST
        try:
            stat = path.stat()
            mark = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
            if mark == held:
                return None

            if stat.st_size > MAX_MANIFEST_BYTES:
                raise VaultUnreadable(f"the manifest is larger than {MAX_MANIFEST_BYTES} bytes")
            return Manifest(await asyncio.to_thread(path.read_bytes), mark)
        except OSError as error:
            raise VaultUnreadable(f"no manifest: {error.strerror}") from error

    async def body(self, path: str) -> bytes:
        """Return a file that the manifest names; raise VaultUnreadable when it cannot be read."""
        try:
            return await asyncio.to_thread((self._folder / path).read_bytes)
        except OSError as error:
            raise VaultUnreadable(f"the body {path} cannot be read: {error.strerror}") from error


class BucketFiles:
    """A vault below one prefix of an obstore store, which texts call by its name."""

    poll_s = 5.0  # a conditional GET, paid for by the request

    def __init__(self, store: Any, name: str) -> None:
        self._store = store
        self._name = name

    async def manifest(self, held: Hashable) -> Manifest | None:
        """Return the manifest if it was replaced; see `Folder`."""
        manifest = await self._get(MANIFEST, MAX_MANIFEST_BYTES, held)
        if manifest is None:
            return None
        if held is not None and manifest.mark == held:
            # A store that does not know conditional requests.
            return None
        return manifest

    async def body(self, path: str) -> bytes:
        """Return a body; see `Folder`."""
        body = await self._get(path, MAX_BODY_BYTES, None)
        return b"" if body is None else body.data

    async def _get(self, path: str, max_bytes: int, held: Hashable) -> Manifest | None:
        import obstore  # noqa: PLC0415  only who has an object store pays for it
        from obstore.exceptions import NotModifiedError  # noqa: PLC0415

        options: Any = {"if_none_match": held} if isinstance(held, str) else None
        try:
            answer = await obstore.get_async(self._store, path, options=options)
            if answer.meta["size"] > max_bytes:
                raise VaultUnreadable(f"{self._name}/{path} is larger than {max_bytes} bytes")
            return Manifest(bytes(await answer.bytes_async()), answer.meta["e_tag"])
        except NotModifiedError:
            return None
        except store_errors() as error:
            raise VaultUnreadable(f"{self._name}/{path} cannot be read: {plain_error(error)}") from None


VaultFiles = Folder | BucketFiles
