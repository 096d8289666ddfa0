"""One look at the service from the machine that runs it, each part within its time: what hangs is a finding."""

import os
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from gateway.wire.foreign import read_json
from generator.cli._systemd import units_of
from generator.client.published import answer_of, trusted
from generator.operate.keep.status import Result, Status
from generator.operate.watch.health import FILE, Health
from generator.operate.watch.seen import Backup, Certificate, Drill, Folder, Gateway, Reading, Release, Seen, Unit

ANSWER_S: Final = 5.0
DISK_S: Final = 10.0
UNITS: Final = "emi-*"
BACKUPS: Final = "emi-backup.timer"
READ_TO_THE_END: Final = {"payments ledger": "ledger.json", "memory": "memory.json"}
"""Files in which the daily reading of each database notes its result, next to that of the backups."""
PROBE: Final = ".emi-watch-probe"
PROBE_BYTES: Final = 4096
MAX_STATUS_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Places:
    """Where to look."""

    site: Path | None  # folder of the published site; None where it is in an object store
    origin: str  # what readers use
    gateway: str | None  # origin of the gateway itself; None where this machine runs none
    nodes: Mapping[str, tuple[str, Mapping[str, str]]]  # URL and headers by name, of what is asked for the chain
    folders: tuple[Path, ...]  # that are written to
    results: Path  # where backups and restore drills note what they came to
    bus: Path  # socket at which systemd answers, if it runs here
    watched_since: float | None = None  # wall time from which on this machine has been looked at
    answer_s: float = ANSWER_S
    disk_s: float = DISK_S


class Looker:
    """Looks at everything at once, again and again; what hangs is left behind, once.

    Args:
        places: where to look.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self._disks = {
            folder: _Disk(folder, "current/status.json" if folder == places.site else "") for folder in places.folders
        }

    def look(self, *, at: float, up_s: float) -> Seen:
        """Return what is seen now.

        Args:
            at: wall time, Unix seconds.
            up_s: monotonic time that counts on while the machine sleeps.
        """
        places = self._places
        seconds = places.answer_s
        for disk in self._disks.values():
            disk.ask()
        answers = _Answers(
            {
                "gateway": lambda: _gateway(places.gateway, seconds) if places.gateway else None,
                "node": lambda: _nodes(places.nodes, seconds),
                "edge": lambda: _edge(places.origin, trusted, seconds),
                "units": lambda: units_of(UNITS, seconds, places.bus),
            },
            3 * seconds,
        )
        until_s = time.monotonic() + places.disk_s
        folders = tuple(disk.folder(until_s) for disk in self._disks.values())

        edge: _Edge = answers.found("edge") or _Edge()
        status = self._disks[places.site].content if places.site in self._disks else edge.status
        release, no_release = _release(status)
        hung = any(folder.hung for folder in folders)
        noted = Status() if hung else Status.load(places.results)
        units: tuple[Unit, ...] | None = answers.found("units")
        makes_backups = noted.backup.tried_at > 0 or any(unit.name == BACKUPS for unit in units or ())

        return Seen(
            at=at,
            up_s=up_s,
            boot=_boot(),
            watched_since=places.watched_since,
            release=release,
            no_release=None if hung else no_release,  # then that is the fault
            edge=edge.status is not None,
            no_edge=answers.fault("edge") or edge.fault,
            generator=None if hung else _health(places.results.with_name(FILE)),
            gateway=answers.found("gateway"),
            no_gateway=answers.fault("gateway") if places.gateway else None,
            node_asked=bool(places.nodes),
            no_node=answers.found("node") or answers.fault("node"),
            folders=folders,
            units=units,
            certificate=edge.certificate,
            backup=Backup(noted.backup.good_at, noted.backup.fault, noted.backup.tried_at > 0)
            if makes_backups
            else None,
            drill=Drill(noted.drill.tried_at, noted.drill.fault) if noted.drill.tried_at else None,
            readings={} if hung else _readings(places.results),
        )


def _health(file: Path) -> Health | None:
    """Return what the generator says of itself, None where it says nothing."""
    try:
        return Health.of(file.read_bytes())
    except OSError:
        return None


def _readings(results: Path) -> dict[str, Reading]:
    """Return what the last reading of each whole database came to, of those that were ever read."""
    noted = {name: Result.load(results.with_name(file)) for name, file in READ_TO_THE_END.items()}
    return {name: Reading(result.tried_at, result.fault) for name, result in noted.items() if result.tried_at}


class _Answers:
    """What several questions come to, asked at once; each is a thread that is not waited for past its time."""

    def __init__(self, questions: Mapping[str, Callable[[], Any]], within_s: float) -> None:
        self._within_s = within_s
        self._found: dict[str, Any] = {}
        self._fault: dict[str, str] = {}
        self._threads = {
            name: threading.Thread(target=self._ask, args=(name, ask), daemon=True) for name, ask in questions.items()
        }
        for thread in self._threads.values():
            thread.start()

    def _ask(self, name: str, ask: Callable[[], Any]) -> None:
        try:
            self._found[name] = ask()
        except (OSError, ValueError, KeyError, TypeError, HTTPException) as error:
            self._fault[name] = str(getattr(error, "reason", None) or error) or type(error).__name__

    def found(self, name: str) -> Any:
        """Return the answer, None where there is none yet."""
        self._threads[name].join(self._within_s)
        return self._found.get(name)

    def fault(self, name: str) -> str | None:
        """Return why there is no answer, None where there is one."""
        if name in self._found:
            return None
        return self._fault.get(name, f"no answer within {self._within_s:g} s")


class _Disk:
    """One folder, probed in a thread that writes a little where it may, and syncs it.

    A thread that a hanging disk keeps is left alone, and no second one joins it.
    """

    def __init__(self, folder: Path, file: str) -> None:
        self._path = folder
        self._file = file
        self._thread: threading.Thread | None = None
        self._found = Folder(str(folder))
        self.content: str | None = None

    def ask(self) -> None:
        """Begin to probe it."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._probe, daemon=True)
            self._thread.start()

    def folder(self, until_s: float) -> Folder:
        """Return what was found by a monotonic time."""
        if self._thread is not None:
            self._thread.join(max(0.0, until_s - time.monotonic()))
            if self._thread.is_alive():
                self.content = None
                return Folder(str(self._path), hung=True)
        return self._found

    def _probe(self) -> None:
        path, content, fault = str(self._path), None, None
        room = None
        try:
            room = os.statvfs(path)
            if self._file:
                content = (self._path / self._file).read_text(encoding="utf-8")
            if os.access(path, os.W_OK):
                _write_a_little(self._path / PROBE)
        except FileNotFoundError:
            pass  # what needs it says that it is absent
        except (OSError, ValueError) as error:
            fault = getattr(error, "strerror", None) or str(error)

        self.content = content
        if room is None:
            self._found = Folder(path, fault)
            return
        self._found = Folder(
            path=path,
            fault=fault,
            free_bytes=room.f_bavail * room.f_frsize,
            free_percent=100 * room.f_bavail / max(room.f_blocks, 1),
            free_files_percent=100 * room.f_favail / room.f_files if room.f_files else 100.0,
        )


def _write_a_little(file: Path) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, b"0" * PROBE_BYTES)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    file.unlink()


@dataclass(frozen=True, slots=True)
class _Edge:
    """What a reader gets."""

    status: str | None = None  # the published status.json
    fault: str | None = None
    certificate: Certificate | None = None


def _edge(origin: str, trusted: Callable[[], ssl.SSLContext], within_s: float) -> _Edge:
    """Ask the public origin for its status, as a reader does; OSError, HTTPException: there is no answer."""
    parts = urlsplit(origin)
    host = parts.hostname or ""
    if parts.scheme == "https":
        secure = HTTPSConnection(host, parts.port, timeout=within_s, context=trusted())
        connection: HTTPConnection = secure
    else:
        connection = HTTPConnection(host, parts.port, timeout=within_s)

    with closing(connection):
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as error:
            return _Edge(certificate=Certificate(fault=error.verify_message))
        certificate = None
        if isinstance(connection.sock, ssl.SSLSocket):
            certificate = _shown_by(connection.sock)

        try:
            connection.request("GET", f"{parts.path.rstrip('/')}/status.json", headers={"User-Agent": "emi"})
            answer = connection.getresponse()
            body = answer.read(MAX_STATUS_BYTES).decode()
        except (OSError, ValueError, HTTPException) as error:
            return _Edge(fault=str(error) or type(error).__name__, certificate=certificate)
        if answer.status != HTTPStatus.OK:
            return _Edge(fault=f"/status.json is answered {answer.status}", certificate=certificate)
        return _Edge(status=body, certificate=certificate)


def _shown_by(connection: ssl.SSLSocket) -> Certificate:
    shown = connection.getpeercert() or {}
    return Certificate(ends_at=float(ssl.cert_time_to_seconds(str(shown["notAfter"]))))


def _release(status: str | None) -> tuple[Release | None, str | None]:
    """Return the release of a status.json, or why there is none."""
    if status is None:
        return None, "the site publishes no status.json"
    try:
        # A source that answers without a price is asked and not well.
        body = read_json(status)
        rows = body["sources"]
        asked = {row["name"] for row in rows}
        well = {row["name"] for row in rows if row["status"] == "ok"}
        priced = {row["name"] for row in rows if row["status"] == "ok" and row["kind"] == "spot"}
        generated_at = datetime.fromisoformat(body["generated_at"]).timestamp()
        live = body["source_mode"] == "live"
        return Release(generated_at, live, len(asked), len(priced), tuple(sorted(asked - well))), None
    except (ValueError, KeyError, TypeError) as error:
        return None, f"status.json cannot be read: {error}"


def _gateway(origin: str, within_s: float) -> Gateway:
    """Ask the gateway itself; 503 is an answer too."""
    _, body = answer_of(f"{origin}/readyz", within_s)

    facts = read_json(body)
    return Gateway(
        vault_age_s=facts["vault_age_seconds"],
        ledger_fault=facts["ledger_fault"],
        ledger_write_age_s=facts["ledger_write_age_seconds"],
        facilitator_age_s=facts["facilitator_supported_age_seconds"],
        facilitator_failing_s=facts["facilitator_failing_seconds"],
        chain_failing_s=facts["chain_failing_seconds"],
    )


def _nodes(nodes: Mapping[str, tuple[str, Mapping[str, str]]], within_s: float) -> str | None:
    """Return the first node that does not answer well, and how."""
    for name, (url, headers) in nodes.items():
        try:
            status, _ = answer_of(url, within_s, headers)
        except (OSError, ValueError, HTTPException) as error:
            return f"{name} does not answer: {getattr(error, 'reason', error)}"
        if status != 200:
            return f"{name} answers {status}"
    return None


def certificate_of(origin: str, within_s: float) -> Certificate | None:
    """Look at the certificate of an https origin as a reader's client does."""
    if urlsplit(origin).scheme != "https":
        return None
    return _edge(origin, ssl.create_default_context, within_s).certificate


def _boot() -> str:
    """Return what names this start of the machine; empty where the system does not say."""
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.is_file() else ""


def now_s() -> float:
    """Return the wall time, Unix seconds."""
    return datetime.now(UTC).timestamp()
