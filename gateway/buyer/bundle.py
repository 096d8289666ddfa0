"""The optional script with Pera and Defly, which `emi buyer-wallets build` puts into STATE_DIR/buyer-wallets.

Without it the page offers the wallets that need no code of others. With it, and only on this page, the policy lets
these two reach their own servers.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

FOLDER: Final = "buyer-wallets"
SCRIPT: Final = "wallets.js"
BUNDLE_PATH: Final = "/x402-buyer/wallets.js"
MAX_BYTES: Final = 8 * 1024 * 1024
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# Both wallets draw a dialog with its own styles and pictures, and speak over their bridges.
POLICY_WITH_BUNDLE: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src data:; connect-src 'self' data: https://wc.perawallet.app wss://*.perawallet.app https://static.defly.app "
    "wss://*.defly.app https://bridge.walletconnect.org wss://*.bridge.walletconnect.org; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class _Read:
    mark: tuple[int, int]
    plain: bytes
    packed: bytes | None
    version: str


class WalletBundle:
    """Look for the bundle, and serve it.

    Args:
        state_dir: the folder of STATE_DIR.
    """

    def __init__(self, state_dir: Path) -> None:
        self._script = state_dir / FOLDER / SCRIPT
        self._read: _Read | None = None

    def version(self) -> str | None:
        """Return a short digest of the bundle, None when there is none that can be read."""
        found = self._look()
        return found.version if found else None

    def policy(self) -> str:
        """Return the page's Content-Security-Policy."""
        return POLICY_WITH_BUNDLE if self._look() else POLICY

    async def show(self, request: Request) -> Response:
        """Serve the script; 404 without one."""
        found = self._look()
        if found is None:
            return Response(status_code=404, headers={"cache-control": "no-store"})
        packed = found.packed is not None and "gzip" in request.headers.get("accept-encoding", "")
        headers = {
            # The page names the version, so that a new bundle never meets an old copy.
            "cache-control": "public, max-age=86400",
            "vary": "Accept-Encoding",
            "x-content-type-options": "nosniff",
            **({"content-encoding": "gzip"} if packed else {}),
        }
        content = found.packed if packed and found.packed is not None else found.plain
        return Response(content, media_type="text/javascript", headers=headers)

    def _look(self) -> _Read | None:
        """Read the script again only when it was replaced."""
        try:
            seen = self._script.stat()
            mark = (seen.st_ino, seen.st_mtime_ns)
            if self._read is None or self._read.mark != mark:
                self._read = self._load(mark) if 0 < seen.st_size <= MAX_BYTES else None
        except OSError:
            self._read = None
        return self._read

    def _load(self, mark: tuple[int, int]) -> _Read:
        plain = self._script.read_bytes()
        try:
            packed = self._script.with_suffix(".js.gz").read_bytes()
        except OSError:
            packed = None
        return _Read(mark, plain, packed, hashlib.sha256(plain).hexdigest()[:16])
