"""`emi up`: the whole service on one machine."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Final

import typer

from gateway.wire.foreign import read_json
from gateway.wire.loopback import is_loopback
from gateway.wire.refusals import NOT_FOR_SALE
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import QUICKSTART
from generator.catalog.products import PRODUCTS
from generator.cli._urls import local_origin
from generator.cli.generate import Folders, Loop, MarketTime, SourceName, refuse_half_a_state
from generator.client.published import fetch
from generator.errors import GeneratorError
from generator.release.values import FIRST_GENERATION

if TYPE_CHECKING:
    from generator.settings import GeneratorSettings

READY_TIMEOUT_S: Final = 600  # a live backfill of 30 days takes minutes
POLL_S: Final = 0.1
GRACE_S: Final = 60
LAST_LINES: Final = 20
SILENT_S: Final = 180  # three ticks
# One arena, as in the units: others keep what a thread that draws, or a commit, freed.
OF_PRODUCTION: Final = {"PYTHONUNBUFFERED": "1", "MALLOC_ARENA_MAX": "1"}
# The level of a log line in either format, and the beginning of what no log has formatted.
ALARMING: Final = re.compile(r'\[(warning|error|critical) *\]|"level": "(warning|error|critical)"|^Traceback|^emi')


class Watchdog:
    """Watches one child by its keep-alives, as systemd does a unit; unsupported without abstract sockets."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._alive_s: float | None = None  # None before the first word: a start may take long
        self._silent = False
        if sys.platform == "linux":
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._socket.settimeout(0)
            self._socket.bind("")  # the kernel chooses a name

    def address(self) -> dict[str, str]:
        """Return the setting that says to a child where to report, empty for not at all."""
        name = "" if self._socket is None else self._socket.getsockname().decode().replace("\0", "@", 1)
        return {"NOTIFY_SOCKET": name}

    def check(self, now_s: float) -> bool | None:
        """Return False when it has just been silent for too long, True when it speaks again, else None."""
        if self._poll():
            # Whatever it said while no one looked counts as one sign of life.
            was_silent = self._silent
            self._alive_s = now_s
            self._silent = False
            return True if was_silent else None

        # It is reported once, and never before its first word: a start may take long.
        if self._silent or self._alive_s is None or now_s - self._alive_s < SILENT_S:
            return None
        self._silent = True
        return False

    def close(self) -> None:
        """Stop watching."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _poll(self) -> bool:
        is_alive = False
        with suppress(BlockingIOError):
            while self._socket is not None and self._socket.recv(4096):
                is_alive = True
        return is_alive


class Child:
    """One process of production, run by the very command of production."""

    def __init__(self, name: str, arguments: Sequence[str], environment: Mapping[str, str], *, shown: bool) -> None:
        self.name = name
        self.last: deque[str] = deque(maxlen=LAST_LINES)
        self._watchdog = Watchdog()
        self._process = subprocess.Popen(  # noqa: S603  our own interpreter and module
            [sys.executable, "-m", "generator.cli", *arguments],
            env={**os.environ, **environment, **self._watchdog.address(), **OF_PRODUCTION},
            stdout=None if shown else subprocess.PIPE,
            stderr=None if shown else subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C reaches the parent alone, which ends the children in order
            preexec_fn=_die_with_parent,  # noqa: PLW1509  no thread of ours runs before follow()
        )
        self._relay = threading.Thread(target=self._read, daemon=True)

    def follow(self) -> None:
        """Relay what is alarming of what is not shown; call this once every child is started."""
        self._relay.start()

    def exit_code(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self._process.poll()

    def news(self, now_s: float) -> str | None:
        """Return a line when it has been silent for three ticks, and when it is heard again."""
        change = self._watchdog.check(now_s)
        if change is None:
            return None
        if change:
            return f"emi: {self.name} is heard again."
        return (
            f"emi: {self.name} has been silent for {SILENT_S // 60} minutes: process {self._process.pid} hangs or is "
            f"suspended; kill -CONT {self._process.pid}, or stop everything with Ctrl-C and start again."
        )

    def end(self) -> None:
        """Ask it to stop, wait for its drain, and kill it only after a minute."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

        # Its last lines may still be in the pipe: they say why it ended.
        if self._relay.is_alive():
            self._relay.join(1)
        self._watchdog.close()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self.last.append(line.rstrip())
            if ALARMING.search(line):
                print(f"{self.name}: {line}", end="", flush=True)


def _die_with_parent() -> None:
    """Ask Linux to end this child when `emi up` is killed; elsewhere the lock file names what still runs."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def up(
    source: SourceName = None,
    data: Folders = None,
    at: MarketTime = None,
    loop: Loop = False,
    port: Annotated[int | None, typer.Option(help="Port of the one origin. Default 8402.")] = None,
    *,
    as_network: Annotated[
        str | None,
        typer.Option("--as", help="testnet lends the devnet the test network's ids, which official clients know."),
    ] = None,
) -> None:
    """Run everything: generator, gateway with the site, and a devnet with play money.

    Example: emi up --as testnet
    """
    from generator.catalog.words import SourceMode
    from generator.cli._settings import gateway_settings, generator_settings, replay_start
    from generator.lock import StateLock

    if as_network not in {None, "testnet"}:
        raise GeneratorError(f"--as is {as_network!r}; allowed: testnet (without it: a devnet with ids of its own)")

    folders = tuple(data) if data else None
    settings = generator_settings(source=source, data_dir=folders, port=port, network=as_network)
    refuse_half_a_state(settings)
    replay_start(settings, at, loop=loop)
    if settings.site_url:
        raise GeneratorError("emi up shows the site from its folder: EMI_SITE_URL must not be set")
    facilitator = gateway_settings(port=settings.port, network=settings.network).facilitator_url
    if as_network and facilitator:
        raise GeneratorError(f"--as {as_network} is for the local devnet: EMI_FACILITATOR_URL must not be set")
    if not facilitator:
        _refuse_wrong_money(settings)

    market = ["--source", settings.source or SourceMode.SIMULATED]
    if loop:
        market.append("--loop")
    for folder in settings.data_dir:
        market += ["--data", str(folder)]
    if at:
        market += ["--at", at]

    with StateLock(settings.state_dir, "up", note=local_origin(settings.host, settings.port)):
        try:
            _probe(settings.host, settings.port)
        except OSError as error:
            where = f"port {settings.port} on {settings.host}"
            raise GeneratorError(f"{where} cannot be used: {error.strerror}; choose another with --port") from error

        devnet = None if facilitator else _free_port(settings.port + 1)
        raise typer.Exit(_supervise(settings, market, devnet))


def _refuse_wrong_money(settings: GeneratorSettings) -> None:
    """Refuse a devnet that would be taken for a network with real money, or for the real test network."""
    if settings.network == "mainnet":
        raise GeneratorError(
            "EMI_NETWORK is mainnet: set EMI_FACILITATOR_URL and EMI_ALGOD_URL too; the devnet has no real money"
        )
    if settings.network == "testnet" and not (settings.is_loopback and is_loopback(settings.host)):
        raise GeneratorError(
            f"the devnet lends the test network's ids on this machine only: {settings.origin} on host {settings.host} "
            "is not on loopback; set EMI_FACILITATOR_URL and EMI_ALGOD_URL for the real test network"
        )


def _supervise(settings: GeneratorSettings, market: list[str], devnet: int | None) -> int:
    """Start the children, print where to look, and end all when one ends or a signal comes; return the exit code.

    Args:
        settings: the generator's.
        market: flags of `emi schedule`.
        devnet: the devnet's port; None where a facilitator is set.
    """
    environment = {
        "EMI_PORT": str(settings.port),
        "EMI_STATE_DIR": str(settings.state_dir.resolve()),
        "EMI_BASE_URL": settings.origin,
    }
    commands = {"schedule": ["schedule", *market], "gateway": ["gateway", "--preview"]}
    if devnet:
        root = f"http://127.0.0.1:{devnet}"
        network = settings.network or "devnet"
        places = {"FACILITATOR": "facilitator", "ALGOD": "algod", "INDEXER": "indexer"}
        environment |= {f"EMI_{name}_URL": f"{root}/{path}" for name, path in places.items()} | {"EMI_NETWORK": network}
        commands["devnet"] = ["devnet", "--port", str(devnet), "--as", network]

    stopping: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda got, _frame: stopping.append(got))

    before = _published(settings)
    children: list[Child] = []
    try:
        for name, arguments in commands.items():
            children.append(Child(name, arguments, environment, shown=name == "schedule"))
        for child in children:
            child.follow()

        if _wait_ready(settings, before, children, stopping):
            _welcome(settings, market[1], devnet)
        return _watch(children, stopping)
    finally:
        for child in children:  # the schedule first: its tick drains
            child.end()


def _published(settings: GeneratorSettings) -> str | None:
    """Return the generation that readers see now, None before the first."""
    pointer = settings.site_path / "current"
    return pointer.readlink().name if pointer.is_symlink() else None


def _wait_ready(settings: GeneratorSettings, before: str | None, children: list[Child], stopping: list[int]) -> bool:
    """Wait for a release of this start, an answer, and a gateway that quotes it or says what it lacks to be sold.

    False when a child ended or a signal came first.
    """
    origin = local_origin(settings.host, settings.port)
    until = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < until and not stopping and all(child.exit_code() is None for child in children):
        if _published(settings) not in {before, FIRST_GENERATION}:
            with suppress(OSError):
                if fetch(origin + ENDPOINTS[0].path, 2)[0] == 200 and _is_settled(origin):
                    return True
        time.sleep(POLL_S)
    return False


def _is_settled(origin: str) -> bool:
    """Return whether each product has a quote, or lacks its data, which no wait of seconds would change."""
    answers = [fetch(origin + product.path, 2) for product in PRODUCTS]
    return all(status == 402 or _lacks(status, content) is not None for status, content in answers)


def _lacks(status: int, content: bytes) -> str | None:
    """Return what a product lacks to be sold, None where its answer says nothing of the kind."""
    if status != 503:
        return None
    body = read_json(content)
    return str(body["detail"]) if body.get("reason") == NOT_FOR_SALE else None


def _unsold(origin: str) -> dict[str, list[str]]:
    """Return the names of the products that are not for sale, by what they lack."""
    unsold: dict[str, list[str]] = {}
    for product in PRODUCTS:
        lacking = _lacks(*fetch(origin + product.path, 2))
        if lacking is not None:
            unsold.setdefault(lacking, []).append(product.buy_name)
    return unsold


def _watch(children: list[Child], stopping: list[int]) -> int:
    """Return 0 after a signal, 1 after a child ended by itself (its last lines are printed)."""
    while not stopping:
        for child in children:
            code = child.exit_code()
            if code is None:
                if line := child.news(time.monotonic()):
                    print(line, file=sys.stderr, flush=True)
                continue

            child.end()
            ended = f"emi: {child.name} ended with code {code}; everything is stopped."
            if child.last:
                ended += " Its last lines:\n" + "\n".join(f"  {line}" for line in child.last)
            print(ended, file=sys.stderr, flush=True)
            return 1
        time.sleep(POLL_S)

    print("\nemi: stopping after the running tick ...", flush=True)
    return 0


def _welcome(settings: GeneratorSettings, source: str, devnet: int | None) -> None:
    """Print what is up and what to do with it, and after it what this start cannot sell."""
    origin = local_origin(settings.host, settings.port)
    emi = _own_name()
    marks = {"simulated": "a SIMULATED market, not real prices", "recorded": "a RECORDED market, replayed"}

    money = bought_with = ""
    if devnet:
        ids = "with the test network's ids" if settings.network == "testnet" else "official clients need --as testnet"
        money = f"\n            play money: http://127.0.0.1:{devnet} ({ids})"
        bought_with = "; play money"

    print(
        f"""
  {settings.project} is up: {marks.get(source, "live market data")}.

  Look      {origin}/
  Read      curl {origin}/api/market-regime.php
            curl '{origin}/api/reasoning.php?asset=ETH'
  Buy       {emi} buy market-regime
            (also main-brain, atlas, atlas-human-report{bought_with})
            {origin}/x402-buyer/
  Build     {origin}{QUICKSTART}{money}
  Vote      {emi} vote up
  State     {settings.state_dir.resolve()}   (remove it for a full reset)

  Educational only, never advice. One line per tick follows; Ctrl-C stops.
""",
        flush=True,
    )
    with suppress(OSError):
        for lacking, names in _unsold(origin).items():
            print(f"emi: not for sale now: {', '.join(names)}. {lacking}", file=sys.stderr, flush=True)


def _own_name() -> str:
    """Return how this shell reaches the command: `emi`, its path, or Python with the module."""
    if shutil.which("emi"):
        return "emi"
    if sys.argv[0].endswith(".py"):
        return f"{sys.executable} -m generator.cli"
    return sys.argv[0]


def _free_port(wanted: int) -> int:
    """Return the first port from `wanted` that is free on loopback, else any free one.

    A port that the system chooses can go to an outgoing connection before the devnet takes it.
    """
    for port in range(wanted, wanted + 20):
        with suppress(OSError, OverflowError):  # taken, or past the last port
            return _probe("127.0.0.1", port)
    return _probe("127.0.0.1", 0)


def _probe(host: str, port: int) -> int:
    """Take a port, any free one for 0, and leave it again; OSError when it cannot be taken."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        return int(probe.getsockname()[1])
