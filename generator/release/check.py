"""The last look at the bytes of a release, before any of them is written."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from gateway.wire.foreign import read_json
from generator.catalog.discovery import JSON_FILES, LASTING_JSON, is_voters_file
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import STATUS_JSON
from generator.errors import PublishError

MAX_FILE_BYTES: Final = 8 * 1024 * 1024
MAX_RELEASE_BYTES: Final = 256 * 1024 * 1024
PACKED: Final = (".gz", ".br")
PAGES: Final = (".html", ".md", ".txt", ".xml", ".yaml", ".css", ".js", ".svg")
NAMED: Final = 5  # of many faults, in one line


class Checker:
    """Refuse what must not be published; content that was found good is not parsed again."""

    def __init__(self, max_file_bytes: int = MAX_FILE_BYTES, json_files: Collection[str] = JSON_FILES) -> None:
        self._max_file_bytes = max_file_bytes
        self._json_files = json_files
        self._every_tick = frozenset(json_files) - LASTING_JSON  # these say of which tick they are
        self._good: dict[str, bytes] = {}

    def check(self, generation: str, files: Mapping[str, bytes]) -> None:
        """Look at every byte of a release; PublishError counts the faults and names the first."""
        faults = list(self._faults(generation, files))
        if faults:
            named = "; ".join(faults[:NAMED])
            more = f" and {len(faults) - NAMED} more" if len(faults) > NAMED else ""
            raise PublishError(f"release {generation} not published: {len(faults)} faults: {named}{more}")

        self._good = dict(files)

    def fault(self, path: str, content: bytes, generation: str = "") -> str | None:
        """Return what is wrong with one file, None if nothing is; without a generation, of one that names no tick."""
        fault = _outside(path, content, self._max_file_bytes)
        says_which_tick = bool(generation) and path in self._every_tick
        if fault is None and (says_which_tick or self._good.get(path) != content):
            fault = self._inside(path, content, generation)
        if fault is None:
            self._good[path] = content
        return fault

    @staticmethod
    def check_paid(generation: str, bodies: Mapping[str, Mapping[str, Any]]) -> None:
        """Refuse paid bodies (product -> body) that are dated later than the time at which they were made."""
        for product, body in bodies.items():
            fault = _future_fault(body, body["updated"])
            if fault is not None:
                raise PublishError(f"release {generation} not published: {product}: {fault}")

    def _faults(self, generation: str, files: Mapping[str, bytes]) -> Iterator[str]:
        for endpoint in ENDPOINTS:
            if endpoint.path not in files:
                yield f"{endpoint.path}: missing"
        if sum(map(len, files.values())) > MAX_RELEASE_BYTES:
            yield f"the release is larger than {MAX_RELEASE_BYTES} bytes"

        for path, content in files.items():
            if path.endswith(PACKED) and path[:-3] not in files:
                fault: str | None = "a variant of nothing"
            else:
                fault = self.fault(path, content, generation)
            if fault is not None:
                yield f"{path}: {fault}"

    def _inside(self, path: str, content: bytes, generation: str) -> str | None:
        """Return what is wrong with a content."""
        if path.endswith((".php", ".json")):
            if path not in self._json_files and not is_voters_file(path):
                return "not a path of the contract (JSON_FILES in the catalog)"
            return _json_fault(path, content, generation)
        if path.endswith(PAGES):
            return _text_fault(path, content)
        return None


def _outside(path: str, content: bytes, max_bytes: int) -> str | None:
    """Return what is wrong with a name or a size."""
    if not path.startswith("/") or path.endswith("/") or "//" in path or "/../" in path or not path.isprintable():
        return "not a path"
    if not content:
        return "empty"
    if len(content) > max_bytes:
        return f"larger than {max_bytes} bytes"
    return None


def _json_fault(path: str, content: bytes, generation: str) -> str | None:
    try:
        body: Any = read_json(content)
    except ValueError as error:
        return f"not JSON: {error}"
    if not isinstance(body, dict):
        return "not a JSON object"

    # A body says of which tick it is: one of another would make a mixed set.
    tick = body if path == STATUS_JSON else body.get("freshness", {})
    stated = tick.get("generation", generation)
    if stated != generation:
        return f"of generation {stated}"
    return _future_fault(body, tick.get("generated_at"))


def _future_fault(body: Mapping[str, Any], made_at: str | None) -> str | None:
    """Return what in a body is dated later than the market time at which it was made."""
    now = (body.get("replay") or {}).get("market_time", made_at)
    if now is None:
        return None

    latest = max(_as_of(body), default=now)  # ISO 8601 in UTC sorts as text
    if latest <= now:
        return None
    return f"as of {latest}, later than its own time {now}: was the clock set back?"


def _as_of(part: Any) -> Iterator[str]:
    """Return the times that any object within a body says it is of."""
    waiting = [part]
    while waiting:
        values = waiting.pop()
        if isinstance(values, dict):
            if isinstance(values.get("as_of"), str):
                yield values["as_of"]
            values = values.values()
        waiting += [value for value in values if isinstance(value, (dict, list, tuple))]


def _text_fault(path: str, content: bytes) -> str | None:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8: {error.reason}"
    if not text.strip():
        return "empty"
    if path.endswith(".html") and not text.rstrip().endswith("</html>"):
        return "not a whole page"
    return None
