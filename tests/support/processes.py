"""The real processes, started and stopped by tests and benchmarks on loopback."""

import contextlib
import io
import logging
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from generator.cli import main
from tests.support.ports import free_port

REPOSITORY = Path(__file__).parents[2]
BOOTSTRAP = "000000000000"  # the generation before the first tick


def clean_environment(**extra: str) -> dict[str, str]:
    """Return our environment without the `EMI_` settings of whoever runs the tests.

    Every process may keep what it compiled: the next one starts two seconds earlier.
    """
    ours = {name: value for name, value in os.environ.items() if not name.startswith("EMI_")}
    ours.pop("PYTHONDONTWRITEBYTECODE", None)
    return ours | extra


def emi(*arguments: str, cwd: Path, timeout_s: float = 110, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run one `emi` command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "generator.cli", *arguments],
        cwd=cwd,
        env=clean_environment(PYTHONPATH=str(REPOSITORY), **extra),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def emi_here(*arguments: str, cwd: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run one `emi` command in this process: the same text and exit code, without the start of a Python.

    For commands that end by themselves and take no signals; what they set for the whole process is put back.
    """
    out, err, code = io.StringIO(), io.StringIO(), 0
    environment, words, logs, umask = os.environ.copy(), sys.argv, structlog.get_config(), os.umask(0o022)
    handlers = logging.root.handlers[:]
    try:
        clean = clean_environment(**extra)
        os.environ.clear()
        os.environ.update(clean)
        sys.argv = ["emi", *arguments]
        with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = words
        os.umask(umask)
        structlog.configure(**logs)
        logging.root.handlers[:] = handlers
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def without_unix(folder: Path, *commands: str) -> subprocess.CompletedProcess[str]:
    """Run `emi` commands, each a text, one after the other in one process that lacks what Windows lacks."""
    return python(folder, "-m", "tests.support.not_unix", *commands)


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python to its end, in `folder`, with nothing to read."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=clean_environment(PYTHONPATH=str(REPOSITORY)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


@dataclass
class Running:
    """A started `emi` process; its output goes to a file that tests can read."""

    process: subprocess.Popen[bytes]
    log: Path
    origin: str
    started: float = field(default_factory=time.monotonic)

    def text(self) -> str:
        """Return what it printed so far."""
        return self.log.read_text(errors="replace")

    def wait_answer(self, path: str = "/api/market-regime.php", within_s: float = 110) -> float:
        """Wait until `path` answers 200 from a release of a tick; return the seconds since the start."""
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise AssertionError(f"ended with {self.process.returncode}:\n{self.text()}")
            with contextlib.suppress(OSError), urllib.request.urlopen(self.origin + path, timeout=60) as answer:
                if answer.headers["X-Generation"] != BOOTSTRAP:
                    return time.monotonic() - self.started
            time.sleep(0.05)
        raise AssertionError(f"no answer from {path}:\n{self.text()}")

    def wait_page(self, path: str, wanted: str, within_s: float = 110) -> None:
        """Wait until what is served at `path` has a text in it."""
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            with contextlib.suppress(OSError), urllib.request.urlopen(self.origin + path, timeout=60) as answer:
                if wanted in answer.read().decode():
                    return
            time.sleep(0.5)
        raise AssertionError(f"{path} has no {wanted!r}:\n{self.text()}")

    def wait_text(self, wanted: str, within_s: float = 110) -> None:
        """Wait until `wanted` was printed."""
        until = time.monotonic() + within_s
        while wanted not in self.text():
            if time.monotonic() > until or self.process.poll() is not None:
                raise AssertionError(f"{wanted!r} was not printed:\n{self.text()}")
            time.sleep(0.05)

    def wait_open(self, path: str = "/", within_s: float = 60) -> None:
        """Wait until `path` is answered, whatever the answer says."""
        until = time.monotonic() + within_s
        while time.monotonic() < until and self.process.poll() is None:
            with contextlib.suppress(OSError):
                get(self.origin + path)
                return
            time.sleep(0.05)
        raise AssertionError(f"no answer from {self.origin}{path}:\n{self.text()}")

    def stop(self, with_signal: int = signal.SIGINT) -> int:
        """Send a signal and return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        return self.process.wait(90)


@contextlib.contextmanager
def emi_up(folder: Path, *arguments: str, **extra: str) -> Iterator[Running]:
    """Run `emi up` in `folder` on free ports; it is ended with the block."""
    port = free_port(and_next=1)  # the devnet's
    with running(folder, ["up", "--port", str(port), *arguments], f"http://127.0.0.1:{port}", **extra) as process:
        yield process


@contextlib.contextmanager
def running(folder: Path, arguments: Sequence[str], origin: str, **extra: str) -> Iterator[Running]:
    """Run one `emi` command in `folder` for the length of the block."""
    command = [sys.executable, "-m", "generator.cli", *arguments]
    with started(command, folder, clean_environment(PYTHONPATH=str(REPOSITORY), **extra), origin) as process:
        yield process


@contextlib.contextmanager
def started(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], origin: str = "", given: str = ""
) -> Iterator[Running]:
    """Run any program in `folder` for the length of the block; `given` is its standard input."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"process-{time.monotonic_ns()}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=output, stderr=output
        )
        try:
            assert process.stdin is not None
            process.stdin.write(given.encode())
            process.stdin.close()
            yield Running(process, log, origin)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def get(url: str, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
    """Return status, lower-case headers and body of one GET, whatever the status."""
    request = urllib.request.Request(url, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, {name.lower(): value for name, value in error.headers.items()}, error.read()
