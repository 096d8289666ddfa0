"""Read over HTTP while releases are published ten times a second, and count what must never be seen.

Run: python -m tests.torture                      60 s against the preview server
     python -m tests.torture --url http://127.0.0.1:8080 --site DIR    against an edge that serves DIR/current
"""

import argparse
import contextlib
import gzip
import hashlib
import http.client
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import brotli
from starlette.applications import Starlette
from starlette.routing import Mount

from gateway.app.preview import Preview
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import reasoning_path
from generator.release.release import Releases
from generator.release.variants import Variants
from tests.support.local_servers import serving

STATUS: Final = "/status.json"
# Every so many releases a file changes: most in each, as in production, some hardly ever.
PERIODS: Final = {
    STATUS: 1,
    **{row.path: 1 + place // 3 for place, row in enumerate(ENDPOINTS)},
    reasoning_path("BTC"): 3,
    "/openapi.json": 50,
}
ENCODINGS: Final = ("identity", "gzip", "br", "gzip, br")
FAULTS: Final = {
    "torn files",
    "mixed sets through /g/",
    "same ETag, other body",
    "same Last-Modified, other body",
    "answers that are not 200 or 304",
}


def torture(  # noqa: PLR0917
    seconds: float,
    readers: int,
    rate: float,
    url: str | None = None,
    site: Path | None = None,
    known: Collection[str] = (),
) -> Counter[str]:
    """Publish so many releases a second and read meanwhile.

    Args:
        url: origin of an edge that serves `site`; default: a preview server of our own.
        known: faults that are not counted.
    """
    with contextlib.ExitStack() as stack:
        folder = site or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "site"
        writer = Writer(folder)
        writer.publish()
        origin = url or stack.enter_context(_served(folder))
        pool = stack.enter_context(ProcessPoolExecutor(readers, get_context("spawn")))
        running = [pool.submit(read, origin, seconds) for _ in range(readers)]
        while not all(one.done() for one in running):
            due = time.monotonic() + 1 / rate
            writer.publish()
            time.sleep(max(0.0, due - time.monotonic()))
    seen = Counter({"releases": writer.number})
    for one in running:
        seen.update(one.result())
    return Counter({name: count for name, count in seen.items() if name not in known})


class Writer:
    """Publish releases whose files differ, and show that they are whole."""

    def __init__(self, site: Path) -> None:
        self._releases = Releases(site)
        self._releases.open()
        self._variants = Variants()
        self.number = self._releases.generation()

    def publish(self) -> None:
        """Publish the next release."""
        self.number += 1
        files = {path: body(path, self.number) for path in PERIODS}
        self._releases.publish(f"{self.number:012d}", self._variants.add(files), time.time())


def body(path: str, generation: int) -> bytes:
    """Return the file of a path in a release: it changes every so many releases, and in its size."""
    made = generation - generation % PERIODS[path]
    chance = random.Random(f"{path} {made}")
    text = " ".join(chance.choices(("calm", "normal", "elevated", "extreme", "unknown"), k=chance.randrange(20, 3_000)))
    inner = {"path": path, "made": made, "text": text}
    return json.dumps({**inner, "sha256": _digest(inner)}, separators=(",", ":")).encode()


def _digest(inner: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(inner).encode()).hexdigest()


@dataclass
class Reader:
    """One client with one connection."""

    origin: str
    counts: Counter[str] = field(default_factory=Counter)
    bodies: dict[tuple[str, str], bytes] = field(default_factory=dict)  # path and ETag -> digest of the bytes sent
    dates: dict[tuple[str, str], bytes] = field(default_factory=dict)  # path and Last-Modified -> digest of the text
    tags: dict[str, str] = field(default_factory=dict)
    held: list[int] = field(default_factory=list)
    connection: http.client.HTTPConnection | None = None

    def turn(self, chance: random.Random) -> None:
        """Read one set of files through /g/, files of an older one, and files as they are now."""
        generation = self.get(STATUS, STATUS, chance.choice(ENCODINGS))
        if generation is None:
            return
        whole = True
        for path in chance.sample(list(PERIODS), len(PERIODS)):
            whole &= self.get(f"/g/{generation:012d}{path}", path, chance.choice(ENCODINGS), generation) is not None
        self.counts["sets"] += whole
        self.held.append(generation)
        older = chance.choice(self.held)
        path = chance.choice(list(PERIODS))
        self.get(f"/g/{older:012d}{path}", path, chance.choice(ENCODINGS), older)
        for path in chance.sample(list(PERIODS), 4):
            self.get(path, path, chance.choice(ENCODINGS), tag=self.tags.get(path))

    def get(
        self, url: str, path: str, encoding: str, generation: int | None = None, tag: str | None = None
    ) -> int | None:
        """Fetch and check one file; return the generation that the answer names, None after a fault."""
        headers = {"Accept-Encoding": encoding} | ({"If-None-Match": tag} if tag else {})
        try:
            status, found, sent = self._fetch(url, headers)
        except (OSError, http.client.HTTPException):
            self.connection = None
            self.counts["torn files"] += 1
            return None
        self.counts["requests"] += 1
        if status == 304 and tag:
            self.counts["304"] += 1
            return None
        if status != 200:
            self.counts["answers that are not 200 or 304"] += 1
            return None
        self.tags[path] = found.get("etag", "")
        return self._checked(path, found, sent, generation)

    def _fetch(self, url: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        if self.connection is None:
            parts = urlsplit(self.origin)
            self.connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
        self.connection.request("GET", url, headers=headers)
        answer = self.connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    def _checked(self, path: str, found: dict[str, str], sent: bytes, pinned: int | None) -> int | None:
        """Check a file; return its generation, which `STATUS` states itself where the edge sends no X-Generation."""
        try:
            unpack = {"gzip": gzip.decompress, "br": brotli.decompress}.get(found.get("content-encoding", ""), bytes)
            text = unpack(sent)
            body = json.loads(text)
            whole = body.pop("sha256") == _digest(body) and body["path"] == path
        except (ValueError, KeyError, OSError, EOFError, brotli.error):
            whole = False
        if not whole:
            self.counts["torn files"] += 1
            return None
        self._same(self.bodies, (path, found["etag"]), sent, "same ETag, other body")
        self._same(self.dates, (path, found["last-modified"]), text, "same Last-Modified, other body")
        named = int(found.get("x-generation", body["made"]))
        generation = named if pinned is None else pinned
        if body["made"] != generation - generation % PERIODS[path] and (pinned is not None or path == STATUS):
            self.counts["mixed sets through /g/"] += 1
            return None
        return named

    def _same(self, known: dict[tuple[str, str], bytes], key: tuple[str, str], data: bytes, fault: str) -> None:
        digest = hashlib.sha256(data).digest()
        if known.setdefault(key, digest) != digest:
            self.counts[fault] += 1


def read(origin: str, seconds: float) -> Counter[str]:
    """Read for some seconds; return the counts."""
    reader, chance = Reader(origin), random.Random()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        reader.turn(chance)
    return reader.counts


@contextlib.contextmanager
def _served(site: Path) -> Iterator[str]:
    """Run a preview server, as `emi gateway --preview` does, without the gateway around it."""
    with serving(Starlette(routes=[Mount("/", Preview(site, "torture"))])) as origin:
        yield origin


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--url", help="origin of an edge that serves --site; default: a preview server of our own")
    options.add_argument("--site", type=Path, help="site folder that the edge serves")
    asked = options.parse_args()
    for what, count in torture(asked.seconds, 2, 10, asked.url, asked.site).items():
        print(f"| {what} | {count:,} |")
