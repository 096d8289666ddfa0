"""The Cloudflare Worker under workerd, on a machine without a cloud."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gateway.wire.media_types import content_type
from generator.catalog.discovery import ONCE_CACHE_CONTROL
from generator.release.bucket.site import BucketSite
from tests.outside.processes import PEERS
from tests.support.buckets import attributes, memory
from tests.support.ports import free_port
from tests.support.processes import REPOSITORY

EDGE_PEERS = PEERS / "edge"
CLOUDFLARE = REPOSITORY / "site" / "edge" / "cloudflare"
OFFICIAL_EDGE = os.environ.get("OFFICIAL_EDGE", "")
"""A folder whose node_modules has miniflare and wrangler."""
NODE_MISSING = "" if shutil.which("node") else "node is not installed"
WORKER_MISSING = NODE_MISSING or (
    "" if OFFICIAL_EDGE else "OFFICIAL_EDGE names no folder with miniflare in node_modules"
)


def names(release: Path) -> dict[str, Path]:
    """Return path with leading slash to file, variants included."""
    files = sorted(path for path in release.rglob("*") if path.is_file())
    return {"/" + path.relative_to(release).as_posix(): path for path in files}


class Worker:
    """A running Worker, and the bucket behind it."""

    def __init__(self, process: subprocess.Popen[str], origin: str, prefix: str, folder: Path) -> None:
        self._process = process
        self._folder = folder
        self._bucket = memory()
        self._site = BucketSite(self._bucket, "test")
        self._stored: set[str] = set()
        self.origin = origin
        self.proxied = ""
        """The Worker behind an imitation of Cloudflare's own edge."""
        self._prefix = prefix

    def start(self, config: Mapping[str, object]) -> None:
        """Start the Worker."""
        self.proxied = str(self.tell(config)["origin"]).rstrip("/")

    def tell(self, command: Mapping[str, object]) -> dict[str, object]:
        """Send one command and wait until it is done."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the Worker's host ended with {self._process.poll()}"
        answer: dict[str, object] = json.loads(line)
        return answer

    def fault(self, mode: str) -> None:
        """Make the bucket fail: `down`, `hang`, `lie`; an empty mode heals it."""
        self.tell({"fault": mode})

    def put(self, key: str, file: Path, headers: Mapping[str, str]) -> None:
        """Store a file with the headers that the generator's publisher gives it."""
        kind, cache = headers["Content-Type"], headers["Cache-Control"]
        coding = {"encoding": headers["Content-Encoding"]} if "Content-Encoding" in headers else {}
        self.tell({"put": self._prefix + key, "file": str(file), "type": kind, "cache": cache, **coding})

    def put_immutable(self, path: str, file: Path) -> None:
        """Store a file that never changes."""
        self._store(
            {
                f"once{path}": (
                    file.read_bytes(),
                    {"Content-Type": content_type(path), "Cache-Control": ONCE_CACHE_CONTROL},
                )
            }
        )

    def publish(self, release: Path, generation: str, only: Collection[str] = ()) -> None:
        """Publish a release, or these files of it, as the generator does."""
        files = {name: file.read_bytes() for name, file in names(release).items() if not only or name in only}
        self._site.publish(generation, files, time.time())

        pointer = "current.json"
        paths = [path for path in self._bucket.files("o") if path not in self._stored]
        self._store({path: self._object(path) for path in paths})
        self._store({pointer: self._object(pointer)})

    def _object(self, path: str) -> tuple[bytes, dict[str, str]]:
        found = self._bucket.get(path)
        assert found is not None
        return found.data, attributes(self._bucket, path)

    def _store(self, objects: Mapping[str, tuple[bytes, Mapping[str, str]]]) -> None:
        file = self._folder / "object"
        for path, (data, headers) in objects.items():
            file.write_bytes(data)
            self.put(path, file, headers)
            self._stored.add(path)


@contextmanager
def worker(folder: Path, prefix: str = "", **bindings: str) -> Iterator[Worker]:
    """Run the shipped Worker under miniflare until the context ends."""
    folder.mkdir(parents=True, exist_ok=True)
    modules = folder / "node_modules"
    if not modules.exists():
        modules.symlink_to(Path(OFFICIAL_EDGE).resolve() / "node_modules")
    for program in ("miniflare.mjs", "faulty.mjs"):
        shutil.copy(EDGE_PEERS / program, folder / program)
    port = free_port()
    with (folder / "worker.log").open("w") as log:
        process = subprocess.Popen(
            ["node", "miniflare.mjs"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
    running = Worker(process, f"http://127.0.0.1:{port}", prefix, folder)
    try:
        running.start({"worker": str(CLOUDFLARE), "port": port, "bindings": {"PREFIX": prefix, **bindings}})
        yield running
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()
