"""Serve the published site next to the gateway's routes; for one machine, never for the public."""

import asyncio
import os
import re
import stat
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from gateway.http.answers import ALLOWED_METHODS, CORS_HEADERS, SECURITY_HEADERS, preflight, problem
from gateway.wire.media_types import ENCODINGS, content_type

REASONING: Final = "/api/reasoning.php"
DEFAULT_ASSET: Final = "BTC"
CACHE_CONTROL: Final = "public, max-age=60, stale-while-revalidate=60, stale-if-error=600"
# The release before the first reading must be neither kept nor indexed: it says that there is none yet.
START: Final = "000000000000"
START_HEADERS: Final = {"cache-control": "no-store", "x-robots-tag": "noindex"}
PINNED_CACHE_CONTROL: Final = "public, max-age=600, immutable"
ONCE_CACHE_CONTROL: Final = "public, max-age=31536000, immutable"
ONCE_PREFIXES: Final = ("/log/tile/", "/files/")
PINNED: Final = re.compile(r"/g/([0-9]{12})(/.*)", re.DOTALL)
HIDDEN: Final = re.compile(r"/\.(?!well-known/)|//")
PREFERRED: Final = {"br": ".br", "gzip": ".gz"}
ZERO: Final = re.compile(r"q\s*=\s*0(\.0*)?\s*$")
PAGE_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
OF_THE_BODY: Final = {"content-type", "content-length", "content-encoding"}
NOT_FOUND: Final = "/not-found/index.html"
WORKER: Final = "/learn/worker.js"  # a service worker fetches under the policy that it came with
CATALOG: Final = "/.well-known/api-catalog"
NOTHING: Final = "Nothing is published at this path."


class Preview(StaticFiles):
    """The site, a folder with the pointer `current`, the releases and the immutable files, as an ASGI application."""

    def __init__(self, site: Path, project: str) -> None:
        super().__init__(directory=site, check_dir=False)
        self._site = site
        self._project = project

    async def check_config(self) -> None:
        """Start also before the first release, which makes the folder."""

    def get_path(self, scope: Scope) -> str:
        """Return the path as it was requested: its last slash counts."""
        return str(scope["path"])

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the answer for a path of the newest release, of an older one, or of the immutable files."""
        # Files are sent whole: a range that cannot be would be an answer without the service's own fields.
        scope["headers"] = [(name, value) for name, value in scope["headers"] if name != b"range"]
        return await asyncio.to_thread(self._answer, path, scope)

    def _answer(self, path: str, scope: Scope) -> Response:
        if scope["method"] == "OPTIONS":
            return preflight()
        if scope["method"] not in {"GET", "HEAD"}:
            return self._problem(scope, 405, "Use GET or HEAD.", {"allow": ALLOWED_METHODS})
        try:
            newest = (self._site / "current").readlink().name
        except OSError:
            return self._problem(scope, 503, "Nothing has been published yet.", {"retry-after": "5"})
        return self._published(scope, path, newest)

    def _published(self, scope: Scope, path: str, newest: str) -> Response:
        if path.startswith(ONCE_PREFIXES):
            return self._file(scope, "once", path, newest, ONCE_CACHE_CONTROL)
        pinned = PINNED.fullmatch(path)
        if pinned is None:
            return self._of_release(scope, newest, path, CACHE_CONTROL)
        # A release that was never the newest may be half written.
        if pinned[1] > newest or not (self._site / "releases" / pinned[1]).is_dir():
            return self._problem(scope, 404, "This release is not kept any more, or never was.")
        return self._of_release(scope, pinned[1], pinned[2], PINNED_CACHE_CONTROL)

    def _of_release(self, scope: Scope, generation: str, path: str, cache_control: str) -> Response:
        folder = f"releases/{generation}"
        if path == REASONING:
            # One path for the files of all assets, chosen by `?asset=`.
            query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            asked = query.get("asset", [""])[0]
            asset = asked.strip().upper() or DEFAULT_ASSET
            assets = sorted(file.stem for file in (self._site / folder / "api" / "reasoning").glob("*.json"))
            if asset not in assets:
                detail = f"The asset {asked[:20]!r} is not supported."
                return self._problem(scope, 400, detail, supported_assets=assets)
            if asset != DEFAULT_ASSET:
                path = f"/api/reasoning/{asset}.json"

        return self._file(scope, folder, path, generation, cache_control)

    def _file(self, scope: Scope, folder: str, path: str, generation: str, cache_control: str) -> Response:
        name = f"{path}index.html" if path.endswith("/") else path
        is_variant = name.endswith(tuple(ENCODINGS)) and self._found(folder, name[:-3])
        if HIDDEN.search(path) or is_variant:
            return self._problem(scope, 404, NOTHING)

        common = {"x-generation": generation, **CORS_HEADERS, **SECURITY_HEADERS}
        if self._found(folder, name) is None:
            if self._found(folder, f"{path}/index.html"):
                return RedirectResponse(f"{scope['path']}/", status_code=308, headers=common)
            return self._nothing(scope, folder, common)

        request = Headers(scope=scope)
        headers = {
            "cache-control": cache_control,
            **common,
            "vary": "Accept-Encoding",
            "accept-ranges": "none",
            **_page_headers(name),
        }
        if generation == START and cache_control != ONCE_CACHE_CONTROL:
            headers |= START_HEADERS

        # The smallest variant that there is and that the client takes, else the file itself.
        variant = name
        for coding in _taken(request.get("accept-encoding", "")):
            if self._found(folder, name + PREFERRED[coding]):
                variant = name + PREFERRED[coding]
                headers["content-encoding"] = coding
                break

        file = self._found(folder, variant)
        if file is None:  # pruned meanwhile
            return self._problem(scope, 404, NOTHING)

        full, status = file
        answer = FileResponse(full, headers=headers, media_type=content_type(name), stat_result=status)
        if self.is_not_modified(answer.headers, request):
            kept = {key: value for key, value in answer.headers.items() if key not in OF_THE_BODY}
            return Response(status_code=304, headers=kept)
        return answer

    def _nothing(self, scope: Scope, folder: str, common: dict[str, str]) -> Response:
        """Answer a browser with the page for it, everything else with a problem document."""
        wanted = "text/html" in Headers(scope=scope).get("accept", "")
        page = self._found(folder, NOT_FOUND) if wanted else None
        if page is None:
            return self._problem(scope, 404, NOTHING)
        headers = {**common, "cache-control": "no-store", "vary": "Accept", "content-security-policy": PAGE_POLICY}
        return FileResponse(page[0], 404, headers, content_type(NOT_FOUND), stat_result=page[1])

    def _found(self, folder: str, path: str) -> tuple[str, os.stat_result] | None:
        try:
            full, status = self.lookup_path(folder + path)
        except (OSError, ValueError):  # too long, or not a file name at all
            return None
        inside = Path(full).is_relative_to((self._site / folder).resolve())
        return (full, status) if status and inside and stat.S_ISREG(status.st_mode) else None

    def _problem(
        self, scope: Scope, status: int, detail: str, headers: dict[str, str] | None = None, **members: Any
    ) -> Response:
        path = scope["path"]
        return problem(status, detail, instance=path, project=self._project, headers=headers, **members)


def _page_headers(name: str) -> dict[str, str]:
    """Return the link between a page and its Markdown version (RFC 8288), and that of the catalog (RFC 9727)."""
    if name == CATALOG:
        return {"link": f'<{CATALOG}>; rel="api-catalog"'}
    folder, _, file = name.rpartition("/")
    if file == "index.md":
        return {"link": f'<{folder}/>; rel="canonical"'}

    headers = {}
    if file.endswith(".html") or name == WORKER:
        headers["content-security-policy"] = PAGE_POLICY
    if file == "index.html":
        headers["link"] = f'<{folder}/index.md>; rel="alternate"; type="text/markdown"'
    return headers


def _taken(accepted: str) -> list[str]:
    """Return the codings that a client takes, the smallest first; a weight counts only where it is zero."""
    parts = (part.partition(";") for part in accepted.lower().split(","))
    weights = {name.strip(): weight for name, _, weight in parts}

    taken = []
    for coding in PREFERRED:
        weight = weights.get(coding, weights.get("*"))
        if weight is not None and not ZERO.search(weight):
            taken.append(coding)
    return taken
