"""Serve the published site from memory beside the gateway's routes; for one machine, never for the public."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import OrderedDict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from gateway.app.negotiation import asked_of, coding_for, verdict
from gateway.app.problem import ALLOWED_METHODS, SECURITY_HEADERS, SITE_CORS_HEADERS, preflight, problem
from gateway.app.site_files import Headers, LoadedSite, SiteFile, load_once, load_site

POINTER: Final = "current"
POLL_S: Final = 0.5
REASONING: Final = "/api/reasoning.php"
DEFAULT_ASSET: Final = "BTC"
CACHE_CONTROL: Final = "public, max-age=60, stale-while-revalidate=60, stale-if-error=600"
PINNED_CACHE_CONTROL: Final = "public, max-age=600, immutable"
ONCE_CACHE_CONTROL: Final = "public, max-age=31536000, immutable"
ONCE_PREFIXES: Final = ("/log/tile/", "/files/")
PINNED: Final = re.compile(r"/g/([0-9]{12})(/.*)", re.DOTALL)
RELEASES_KEPT: Final = 4  # beside the newest; each is only what changed since, the rest is shared
ONCE_KEPT_BYTES: Final = 8 * 1024 * 1024


class Preview:
    """The site as a raw ASGI application.

    Args:
        site: the folder that holds the pointer `current`, the releases and the put-once files.
        project: the service's name, for problem documents.
    """

    def __init__(self, site: Path, project: str) -> None:
        self._site = site
        self._pointer = site / POINTER
        self._project = project
        self._seen: tuple[str, int, int] | None = None  # where the pointer leads, its inode and mtime
        self._loaded: LoadedSite | None = None
        self._older: OrderedDict[str, LoadedSite] = OrderedDict()
        self._once: OrderedDict[str, SiteFile] = OrderedDict()
        self._once_bytes = 0
        self._loading = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Follow the pointer while the context is open."""
        await self.refresh()
        task = asyncio.create_task(self._follow())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def refresh(self) -> bool:
        """Load the release that the pointer names, in a thread, and swap it in whole.

        Returns:
            True when another release stands now.
        """
        try:
            target, link = str(self._pointer.readlink()), self._pointer.lstat()
            seen = (target, link.st_ino, link.st_mtime_ns)
            if seen == self._seen:
                return False
            loaded = await asyncio.to_thread(load_site, self._site / target, CACHE_CONTROL, self._loaded)
        except OSError:
            # Before the first release, or pruned while reading: the last one stands, the next look tries again.
            return False
        self._swap(loaded)
        self._seen = seen
        return True

    def _swap(self, loaded: LoadedSite) -> None:
        before, self._loaded = self._loaded, loaded
        if before is None:
            return
        if loaded.generation > before.generation:
            self._keep(before)
        else:  # the state was removed: the same numbers now name other files
            self._older.clear()
            self._once.clear()
            self._once_bytes = 0

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(POLL_S)
            await self.refresh()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        loaded, path = self._loaded, scope["path"]
        # Looked up in a table of what was read: no path of a request for a release ever touches the disk.
        file = loaded.files.get(path) if loaded is not None and not scope["query_string"] else None
        if file is not None and scope["method"] == "GET":
            await self._send(scope, receive, send, file)
            return
        found = await self._find(scope, path)
        if isinstance(found, Response):
            await found(scope, receive, send)
        else:
            await self._send(scope, receive, send, *found)

    async def _find(self, scope: Scope, path: str) -> Response | tuple[SiteFile, bytes | None]:
        """Return the file and what its Cache-Control is instead of its own, or another answer."""
        loaded = self._loaded
        if scope["method"] not in {"GET", "HEAD"} or loaded is None:
            return self._refusal(scope)
        if path.startswith(ONCE_PREFIXES):
            once = await self._put_once(path, loaded)
            return (once, None) if once else self._problem(scope, 404, "Nothing is published at this path.")
        pinned = PINNED.fullmatch(path)
        if pinned is None:
            return self._in_release(scope, loaded, path, None)
        older = await self._release(pinned[1], loaded)
        if older is None:
            return self._problem(scope, 404, "This release is not kept any more, or never was.")
        return self._in_release(scope, older, pinned[2], PINNED_CACHE_CONTROL.encode())

    def _refusal(self, scope: Scope) -> Response:
        if scope["method"] == "OPTIONS":
            return preflight()
        if scope["method"] not in {"GET", "HEAD"}:
            return self._problem(scope, 405, "Use GET or HEAD.", allow=ALLOWED_METHODS)
        return self._problem(scope, 503, "Nothing has been published yet.", retry_after="5")

    def _in_release(
        self, scope: Scope, loaded: LoadedSite, path: str, cache_control: bytes | None
    ) -> Response | tuple[SiteFile, bytes | None]:
        if path == REASONING:
            query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            asked = query.get("asset", [""])[0]
            asset = asked.strip().upper() or DEFAULT_ASSET
            if asset not in loaded.assets:
                return problem(
                    400,
                    f"The asset {asked[:20]!r} is not supported.",
                    instance=scope["path"],
                    project=self._project,
                    supported_assets=list(loaded.assets),
                )
            path = REASONING if asset == DEFAULT_ASSET else f"/api/reasoning/{asset}.json"
        file = loaded.files.get(path)
        if file is not None:
            return file, cache_control
        if f"{path}/" in loaded.files:
            headers = {**SITE_CORS_HEADERS, **SECURITY_HEADERS, "x-generation": loaded.generation}
            return RedirectResponse(f"{scope['path']}/", status_code=308, headers=headers)
        return self._problem(scope, 404, "Nothing is published at this path.")

    async def _release(self, generation: str, newest: LoadedSite) -> LoadedSite | None:
        """Return a release by its number; one that never was the newest is not shown."""
        if generation == newest.generation:
            return newest
        if generation > newest.generation:
            return None
        async with self._loading:
            older = self._older.get(generation)
            if older is None:
                folder = self._site / "releases" / generation
                try:
                    older = await asyncio.to_thread(load_site, folder, PINNED_CACHE_CONTROL, newest)
                except OSError:
                    return None
            self._keep(older)
        return older

    def _keep(self, older: LoadedSite) -> None:
        self._older[older.generation] = older
        self._older.move_to_end(older.generation)
        while len(self._older) > RELEASES_KEPT:
            self._older.popitem(last=False)

    async def _put_once(self, path: str, loaded: LoadedSite) -> SiteFile | None:
        file = self._once.get(path)
        if file is None:
            folder = self._site / "once"
            file = await asyncio.to_thread(load_once, folder, path, ONCE_CACHE_CONTROL, loaded.generation)
            if file is not None and path not in self._once:
                self._once[path] = file
                self._once_bytes += _bytes(file)
                while self._once_bytes > ONCE_KEPT_BYTES:
                    self._once_bytes -= _bytes(self._once.popitem(last=False)[1])
        return file

    async def _send(
        self, scope: Scope, receive: Receive, send: Send, file: SiteFile, cache_control: bytes | None = None
    ) -> None:
        asked = asked_of(scope["headers"])
        answer = file.answers[coding_for(asked.accept_encoding, file.answers) if asked.accept_encoding else "identity"]
        status = verdict(asked, answer.variant.etag, file.modified_s) if asked.conditions else 200
        if status == 412:
            changed = self._problem(scope, 412, "The file is not the one that the request names.")
            await changed(scope, receive, send)
            return
        headers = answer.headers if status == 200 else answer.unchanged
        if cache_control is not None:
            headers = _with(headers, cache_control)
        body = answer.variant.content if status == 200 and scope["method"] == "GET" else b""
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _problem(self, scope: Scope, status: int, detail: str, *, allow: str = "", retry_after: str = "") -> Response:
        headers = {name: value for name, value in (("allow", allow), ("retry-after", retry_after)) if value}
        return problem(status, detail, instance=scope["path"], project=self._project, headers=headers)


def _with(headers: Headers, cache_control: bytes) -> Headers:
    return [(b"cache-control", cache_control), *headers[1:]]


def _bytes(file: SiteFile) -> int:
    return sum(len(answer.variant.content) for answer in file.answers.values())
