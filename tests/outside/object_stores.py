"""A real S3 server process (moto), and a proxy before it that fails, hangs and forgets to answer where a test says so.

moto compares and then stores, in a thread for each request, with no lock between. The proxy therefore lets conditional
writes through one at a time, which is what S3 promises: of several at once exactly one wins.
"""

import contextlib
import http.client
import importlib.util
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from generator.wings.bucket.store import Bucket, open_bucket
from tests.support.servers import make_bucket, s3

MISSING = "" if importlib.util.find_spec("moto") else "moto is not installed (pip install 'moto[server]')"
BUCKET = "market"
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "hunter2-secret", "AWS_REGION": "us-east-1"}
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}


@dataclass
class Trouble:
    """What goes wrong for requests of `method` whose path contains `where`, from the `n`th on, `times` times."""

    how: str = ""  # "503", "403", "lost" (done, but not answered), "dropped" (neither)
    method: str = ""
    where: str = ""
    n: int = 0
    times: int = 10**9

    def hits(self, method: str, path: str) -> bool:
        if not self.how or self.method not in {"", method} or self.where not in path:
            return False
        self.n -= 1
        if self.n >= 0 or self.times <= 0:
            return False
        self.times -= 1
        return True


@dataclass
class Store:
    """A running server behind its proxy."""

    upstream: int
    proxy: ThreadingHTTPServer
    trouble: Trouble = field(default_factory=Trouble)
    judge: threading.Lock = field(default_factory=threading.Lock)
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.proxy.server_address[1]}"

    @property
    def environment(self) -> dict[str, str]:
        return KEYS | {"AWS_ENDPOINT_URL": self.endpoint}

    def bucket(self, prefix: str, monkeypatch: pytest.MonkeyPatch, request_s: float = 4.0) -> Bucket:
        """Open a prefix as the program does, through the proxy."""
        for name, value in self.environment.items():
            monkeypatch.setenv(name, value)
        opened = open_bucket(f"s3://{BUCKET}/{prefix}", request_s)
        assert isinstance(opened, Bucket)
        return opened

    def well(self) -> None:
        self.trouble = Trouble()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store: Store

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.store.judge:
            how = self.store.trouble.how if self.store.trouble.hits(self.command, self.path) else ""
        if how in {"503", "403"}:
            code = {"503": "SlowDown", "403": "AccessDenied"}[how]
            self._answer(int(how), {}, f"<Error><Code>{code}</Code><AWSAccessKeyId>AKIDTEST</AWSAccessKeyId></Error>")
            return
        if how == "dropped":
            self._hang_up()
            return
        try:
            status, headers, data = self._forward(body)
        except OSError:  # the server was ended while a late request was on its way
            self._hang_up()
            return
        if how == "lost":
            self._hang_up()
            return
        self._answer(status, headers, data)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._any
        raise AttributeError(name)

    def _forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        conditional = self.command == "PUT" and ("If-Match" in self.headers or "If-None-Match" in self.headers)
        with self.store.one_at_a_time if conditional else contextlib.nullcontext():
            upstream = http.client.HTTPConnection("127.0.0.1", self.store.upstream, timeout=30)
            try:
                upstream.request(self.command, self.path, body, dict(self.headers))
                answer = upstream.getresponse()
                return answer.status, dict(answer.getheaders()), answer.read()
            finally:
                upstream.close()

    def _answer(self, status: int, headers: Mapping[str, str], data: bytes | str) -> None:
        content = data.encode() if isinstance(data, str) else data
        length = headers.get("Content-Length", "0") if self.command == "HEAD" else str(len(content))
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", length)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(content)

    def _hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def object_store(folder: Path) -> Iterator[Store]:
    """Run moto and the proxy before it, with one empty bucket."""
    with s3(folder) as environment:
        make_bucket(environment, BUCKET)
        handler = type("Handler", (_Handler,), {})
        proxy = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        proxy.daemon_threads = True
        store = handler.store = Store(urlsplit(environment["AWS_ENDPOINT_URL"]).port or 0, proxy)  # type: ignore[attr-defined]
        thread = threading.Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        try:
            yield store
        finally:
            proxy.shutdown()
            proxy.server_close()
            thread.join()


def read_json(bucket: Bucket, path: str) -> Any:
    found = bucket.get(path)
    return None if found is None else json.loads(found.data)
