"""The servers that several machines share, on loopback: a PostgreSQL of Debian's, and an S3 of moto's."""

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.support.ports import free_port
from tests.support.processes import Running, clean_environment, started

# moto looks for the name of the service and of the key; it checks no signature.
_SCOPE = "test/20261120/us-east-1/s3/aws4_request"
WHO = {"Authorization": f"AWS4-HMAC-SHA256 Credential={_SCOPE}, SignedHeaders=host, Signature=none"}
SERVER_USERS = ("postgres", "daemon")
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}


class Postgres:
    """A running server; `url` reaches it over its socket."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.process = process
        self.url = f"postgresql+psycopg://emi@/postgres?host={folder}"

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the server and to every process of a connection."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in (self.process.pid, *map(int, children)):
            os.kill(pid, number)

    @contextlib.contextmanager
    def hung(self) -> Iterator[None]:
        """Stop it within: the kernel takes what is sent to it, and no one answers."""
        self.send(signal.SIGSTOP)
        try:
            yield
        finally:
            self.send(signal.SIGCONT)


@contextlib.contextmanager
def postgres() -> Iterator[Postgres]:
    """Run a PostgreSQL of its own."""
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("needs the extra `postgres` (psycopg)")
    initdb, server, user = _program("initdb"), _program("postgres"), _server_user()
    with tempfile.TemporaryDirectory(prefix="emi-pg-") as name:
        folder = Path(name)
        if user is not None:
            shutil.chown(folder, user)
        words = [initdb, "-D", str(folder / "data"), "-U", "emi", "-A", "trust", "-E", "UTF8", "--locale=C"]
        subprocess.run(words, check=True, capture_output=True, user=user, cwd=folder)
        process = subprocess.Popen(
            [server, "-D", str(folder / "data"), "-k", str(folder), "-c", "listen_addresses="],
            user=user,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            running = Postgres(process, folder)
            _wait(running.url)
            yield running
        finally:
            # Fast shutdown: it does not wait for connections that a failed test left open.
            process.send_signal(signal.SIGINT)
            process.wait(30)


def make_database(server: str, name: str) -> str:
    """Make an empty database on a server and return its URL."""
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"create database {name}")
    engine.dispose()
    return server.replace("/postgres?", f"/{name}?")


def _program(name: str) -> str:
    found = shutil.which(name) or next((str(path) for path in Path("/usr/lib/postgresql").glob(f"*/bin/{name}")), None)
    if found is None:
        pytest.skip("needs a PostgreSQL server (Debian: apt-get install postgresql)")
    return found


def _server_user() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in SERVER_USERS if name in names)


def _wait(url: str) -> None:
    engine = sa.create_engine(url)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with contextlib.suppress(sa.exc.OperationalError):
            engine.connect().close()
            engine.dispose()
            return
        time.sleep(0.1)
    raise AssertionError("PostgreSQL did not come up")


@contextlib.contextmanager
def s3(folder: Path) -> Iterator[tuple[dict[str, str], Running]]:
    """Run an S3 of its own; yield the environment that reaches it, and the process."""
    if importlib.util.find_spec("moto") is None:
        pytest.skip("needs moto[server]")
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with started(command, folder, clean_environment(), f"http://127.0.0.1:{port}") as process:
        process.wait_open()
        yield {"AWS_ENDPOINT_URL": process.origin, **CREDENTIALS}, process


def make_bucket(environment: dict[str, str], name: str) -> None:
    """Make a bucket on such an S3."""
    request = urllib.request.Request(f"{environment['AWS_ENDPOINT_URL']}/{name}", method="PUT", headers=WHO)
    with urllib.request.urlopen(request, timeout=10):
        pass
