"""A supervisor hears that a process is ready and alive, by a path or by a name of the kernel's own."""

import os
from pathlib import Path

import pytest

from gateway.wire.notify import ALIVE, READY, notify_supervisor
from tests.support.supervisors import supervisor


@pytest.mark.parametrize("abstract", [True, False])
def test_a_supervisor_hears_each_message(tmp_path: Path, *, abstract: bool) -> None:
    name = f"emi-{os.getpid()}" if abstract else str(tmp_path / "notify")
    place, address = (f"\0{name}", f"@{name}") if abstract else (name, name)

    with supervisor(place, address) as listening:
        sent = [notify_supervisor(READY), notify_supervisor(ALIVE)]
        heard = [listening.recv(100), listening.recv(100)]

    assert (sent, heard) == ([True, True], [b"READY=1", b"WATCHDOG=1"])


@pytest.mark.parametrize("address", ["", "relative", "/no/such/place", "@no one-listens-here"])
def test_without_a_listener_nothing_is_sent_and_nothing_fails(address: str) -> None:
    before = dict(os.environ)
    os.environ["NOTIFY_SOCKET"] = address
    try:
        assert not notify_supervisor(ALIVE)
    finally:
        os.environ.clear()
        os.environ.update(before)


def test_a_supervisor_that_does_not_listen_keeps_no_one_waiting(tmp_path: Path) -> None:
    path = str(tmp_path / "notify")

    with supervisor(path, path):
        sent = [notify_supervisor(ALIVE) for _ in range(2_000)]

    assert sent[0]
    assert not sent[-1]
