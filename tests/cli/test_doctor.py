"""`emi doctor` says when what is served is not fresh."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from generator.cli._doctor import examine
from tests.ports import free_port


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    ("generation", "valid_s", "good", "said"),
    [
        ("000000000007", 100, True, "available"),
        ("000000000007", -100, False, "STALE for 100 s"),
        ("000000000000", 100, False, "the generator has made no tick yet"),
    ],
)
def test_what_is_served_is_called_fresh_only_when_it_is(
    tmp_path: Path, generation: str, valid_s: int, good: bool, said: str
) -> None:
    until = (datetime.now(UTC) + timedelta(seconds=valid_s)).strftime("%Y-%m-%dT%H:%M:%SZ")
    status = {"generation": generation, "valid_until": until, "status": "available"}
    (tmp_path / "status.json").write_text(json.dumps(status))

    with served(tmp_path) as origin:
        first = examine(origin)[0]

    assert first.good is good
    assert said.removesuffix("100 s") in first.found


def test_an_origin_without_any_answer_is_one_line() -> None:
    checks = examine(f"http://127.0.0.1:{free_port()}")

    assert [check.good for check in checks] == [False]
    assert "no answer" in checks[0].found
    assert "is it running?" in checks[0].found
