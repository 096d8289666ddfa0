"""The certificate fault, by looks at certificates of real TLS connections."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.wire.limits import CERTIFICATE_DAYS
from generator.cli._looking import certificate_of
from generator.operate.watch.judge import Anchors, judge
from generator.operate.watch.seen import Seen
from tests.support.certificates import self_signed
from tests.support.local_servers import open_port

LOOK_S = 20
NOW = datetime.now(UTC).replace(microsecond=0)  # OpenSSL compares with the machine's clock


@contextlib.contextmanager
def edge(folder: Path, until: datetime) -> Iterator[str]:
    """Answer handshakes with a certificate that ends at a time; gives the origin."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*self_signed(folder, until=until))
    listener = open_port()
    listener.listen()

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), context.wrap_socket(connection, server_side=True) as secure:
                secure.recv(1)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(20)


def found_at(origin: str) -> dict[str, str]:
    seen = Seen(at=NOW.timestamp(), up_s=1_000, boot="a", certificate=certificate_of(origin, LOOK_S))
    found = judge(seen, Anchors("a", 0.0, {}))["certificate"] or {}
    return {subject: finding.text for subject, finding in found.items()}


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (CERTIFICATE_DAYS - 1, "the certificate ends in 13.0 days"),
        (CERTIFICATE_DAYS + 1, ""),
        (-1, "readers do not accept the certificate: certificate has expired"),
    ],
)
def test_a_certificate_is_a_fault_from_two_weeks_before_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int, text: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))

    with edge(tmp_path, NOW + timedelta(days=days)) as origin:
        found = found_at(origin)

    assert found == ({"": text} if text else {})


def test_a_certificate_that_readers_do_not_trust_is_a_fault(tmp_path: Path) -> None:
    with edge(tmp_path, NOW + timedelta(days=90)) as origin:
        found = found_at(origin)

    assert found == {"": "readers do not accept the certificate: self-signed certificate"}


def test_an_edge_that_never_answers_the_handshake_ends_the_look() -> None:
    listener = open_port()
    listener.listen()

    with pytest.raises(TimeoutError):
        certificate_of(f"https://127.0.0.1:{listener.getsockname()[1]}", 0.05)
    listener.close()
