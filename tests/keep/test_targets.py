"""What an object store is sent, and what it is believed."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import obstore
import pytest
from obstore.store import MemoryStore, S3Store

from generator.errors import BackupError
from generator.operate.keep.targets import STEP_BYTES, BucketTarget, manifests, open_target

NAME = "20261125T200409Z"


class SlowStore(ThreadingHTTPServer):
    """An S3 as far as an upload in parts needs one; it sees how much is sent at once."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Upload)
        self.lock = threading.Lock()
        self.at_once = 0
        self.most_at_once = 0
        self.sizes: list[int] = []


class _Upload(BaseHTTPRequestHandler):
    server: SlowStore
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(b"<ListBucketResult></ListBucketResult>")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        kind = "InitiateMultipartUploadResult" if "uploads" in self.path else "CompleteMultipartUploadResult"
        self._answer(f"<{kind}><Bucket>b</Bucket><Key>k</Key><UploadId>u</UploadId><ETag>e</ETag></{kind}>".encode())

    def do_PUT(self) -> None:
        store = self.server
        with store.lock:
            store.at_once += 1
            store.most_at_once = max(store.most_at_once, store.at_once)
        size = len(self.rfile.read(int(self.headers["content-length"])))
        with store.lock:
            store.at_once -= 1
            store.sizes.append(size)
        self._answer(b"")

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("ETag", '"e"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def server() -> Iterator[SlowStore]:
    with SlowStore() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


def test_a_large_part_has_the_whole_line_for_each_of_its_pieces(server: SlowStore, tmp_path: Path) -> None:
    endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    store = S3Store("b", endpoint=endpoint, skip_signature=True, client_options={"allow_http": True})

    with BucketTarget("s3://b/emi", tmp_path, store).adding(NAME) as folder:
        (folder / "memory.sqlite3.gz").write_bytes(bytes(4 * STEP_BYTES))

    assert server.most_at_once == 1
    assert server.sizes == [STEP_BYTES] * 4


def test_a_file_of_an_object_store_is_read_in_steps_up_to_what_it_may_be(tmp_path: Path) -> None:
    store = MemoryStore()
    target = BucketTarget("s3://b/emi", tmp_path, store)
    content = bytes(range(256)) * (STEP_BYTES // 200)
    obstore.put(store, f"{NAME}/once.tar.gz", content)

    pieces = list(target.read(NAME, "once.tar.gz", len(content)))

    assert b"".join(pieces) == content
    assert max(map(len, pieces)) == STEP_BYTES
    with pytest.raises(BackupError, match=r"once\.tar\.gz is larger than it may be"):
        list(target.read(NAME, "once.tar.gz", len(content) - 1))
    with pytest.raises(BackupError, match=r"NotFoundError|status 404"):
        list(target.read(NAME, "inbox.tar.gz", 10))


def test_a_manifest_that_cannot_be_read_is_none_and_hides_no_other(tmp_path: Path) -> None:
    store = MemoryStore()
    target = BucketTarget("s3://b/emi", tmp_path, store)
    obstore.put(store, f"{NAME}/manifest.json", b"half")

    assert manifests(target) == {NAME: None}


@pytest.mark.parametrize("where", ["", " ", "\t"])
def test_an_empty_target_is_refused(tmp_path: Path, where: str) -> None:
    with pytest.raises(BackupError, match="the target is empty"):
        open_target(where, tmp_path)
