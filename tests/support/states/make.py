"""Make a small state folder with `emi up` of a checkout of any version: rounds, votes, two payments, a signed log.

Run: python -m tests.support.states.make CHECKOUT TARGET.tar.xz

The two bought bodies are kept in `bought.json`, each with the header that paid for it.
"""

import base64
import contextlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from tests.support.ports import free_port
from tests.support.process_clock import ProcessClock
from tests.support.processes import clean_environment

BEGINS: Final = datetime(2026, 11, 20, 12, 20, tzinfo=UTC)
CONSENSUS: Final = "/api/human-consensus.php"


class Checkout:
    """The commands of one version, in one folder, on one clock."""

    def __init__(self, code: Path, folder: Path) -> None:
        self.code, self.folder = code, folder
        self.clock = ProcessClock(folder / "clock")
        self.clock.set_to(BEGINS)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        environment = clean_environment(PYTHONPATH=str(self.code), EMI_STATE_DIR="state", **self.clock.environment)
        command = [sys.executable, "-m", "generator.cli", *words]
        return subprocess.Popen(command, cwd=self.folder, env=environment)

    def run(self, *words: str) -> None:
        assert self.start(*words).wait(120) == 0, words


def main() -> None:
    code, target = (Path(word).resolve() for word in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="emi-state-") as name:
        folder = Path(name)
        bought = _live(Checkout(code, folder))
        (folder / "state" / "bought.json").write_text(json.dumps(bought, indent=1))
        _slim(folder / "state")
        with tarfile.open(target, "w:xz", preset=9) as pack:
            pack.add(folder / "state", "state")
    print(f"{target}: {target.stat().st_size} bytes")


def _live(emi: Checkout) -> list[dict[str, str]]:
    """Vote, buy, and stay up until the round of the votes has ended."""
    port = free_port(and_next=1)
    origin, devnet = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}"
    up = emi.start("up", "--port", str(port))
    try:
        body = _wait(origin + CONSENSUS, lambda found: found["open_round"])
        emi.run("vote", "BULLISH")
        emi.run("vote", "NEUTRAL", "--key-file", "other.key")
        with _recorded(origin) as (proxy, bought):
            for product in ("market-regime", "atlas"):
                emi.run("buy", product, "--json", "--url", proxy, "--devnet-url", devnet)
        target = body["open_round"]["round_id"]
        for _ in range(2):
            emi.clock.go_to(59 * 60 + 50)
            time.sleep(75)
        _wait(origin + CONSENSUS, lambda found: (found["round"] or {}).get("round_id", "") > target)
    finally:
        up.terminate()
        up.wait(60)
    return bought


def _wait(url: str, wanted: Callable[[Any], Any]) -> Any:
    until = time.monotonic() + 240
    while time.monotonic() < until:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=30) as answer:
            if wanted(found := json.load(answer)):
                return found
        time.sleep(0.5)
    raise AssertionError(f"{url} did not come to it")


@contextlib.contextmanager
def _recorded(origin: str) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Pass requests on, and note what was paid for and with what."""
    bought: list[dict[str, str]] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            request = urllib.request.Request(origin + self.path, headers=dict(self.headers))
            try:
                answer = urllib.request.urlopen(request, timeout=60)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                body = answer.read()
            if answer.status == 200:
                header = self.headers["PAYMENT-SIGNATURE"]
                bought.append({"path": self.path, "header": header, "body": base64.b64encode(body).decode()})
            self.send_response(answer.status)
            for field, value in answer.headers.items():
                if field.lower() not in {"transfer-encoding", "connection", "date", "server"}:
                    self.send_header(field, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Be quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", bought
    finally:
        server.shutdown()


def _slim(state: Path) -> None:
    """Leave out what the next tick makes again: older releases; of the newest, pictures and compressed variants."""
    newest = (state / "site" / "current").resolve()
    for release in newest.parent.iterdir():
        if release != newest:
            shutil.rmtree(release)
    for path in newest.rglob("*"):
        if path.suffix in {".png", ".svg", ".gz", ".br"}:
            path.unlink()


if __name__ == "__main__":
    main()
