"""One look at the service from the machine that runs it, each part within its time: what hangs is a finding."""

import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from socket import create_connection
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from gateway.wire.foreign import read_json
from generator.cli._published import fetch
from generator.keep.status import Status
from generator.watch.seen import Backup, Certificate, Drill, Folder, Gateway, Release, Seen, Unit

ANSWER_S: Final = 5.0
DISK_S: Final = 10.0
UNITS: Final = ("emi-schedule.service", "emi-gateway.service")
# In a process of its own, which may never come back from a disk that hangs. It is killed and not waited for.
PROBE: Final = """
import json, os, sys
folder, file = sys.argv[1:]
found = {}
try:
    room = os.statvfs(folder)
    found["free_bytes"] = room.f_bavail * room.f_frsize
    found["free_percent"] = 100 * room.f_bavail / max(room.f_blocks, 1)
    found["free_files_percent"] = 100 * room.f_favail / room.f_files if room.f_files else 100.0
    if file:
        found["content"] = open(os.path.join(folder, file), encoding="utf-8").read()
    if os.access(folder, os.W_OK):
        name = os.path.join(folder, ".emi-alert-probe")
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(descriptor, b"0" * 4096)
        os.fsync(descriptor)
        os.close(descriptor)
        os.unlink(name)
except FileNotFoundError as error:
    found["absent"] = str(error.filename)
except OSError as error:
    found["fault"] = error.strerror
print(json.dumps(found))
"""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Places:
    """Where to look."""

    site: Path | None  # folder of the published site; None where it is in an object store
    origin: str  # what readers use
    gateway: str | None  # origin of the gateway itself; None where this machine runs none
    nodes: Mapping[str, tuple[str, Mapping[str, str]]]  # URL and headers by name, of what is asked for the chain
    folders: tuple[Path, ...]  # that are written to
    results: Path  # where backups and restore drills note what they came to
    units: tuple[str, ...] = UNITS
    answer_s: float = ANSWER_S
    disk_s: float = DISK_S


def look(places: Places, *, at: float, up_s: float) -> Seen:
    """Look at everything at once.

    Args:
        places: where to look.
        at: wall time, Unix seconds.
        up_s: monotonic time that counts on while the machine sleeps.
    """
    seconds = places.answer_s
    site = [] if places.site is None else [places.site]
    disks = {folder: _Disk(folder, "current/status.json" if folder in site else "") for folder in places.folders}
    answers = _Answers(
        {
            "gateway": lambda: _gateway(places.gateway, seconds) if places.gateway else None,
            "node": lambda: _nodes(places.nodes, seconds),
            "certificate": lambda: certificate_of(places.origin, seconds),
            "units": lambda: _units(places.units, seconds),
            "status": lambda: None if places.site else fetch(f"{places.origin}/status.json", seconds)[1].decode(),
        },
        2 * seconds,
    )
    folders = tuple(disk.folder(places.disk_s) for disk in disks.values())

    status = answers.found("status")
    if places.site in disks:
        status = disks[places.site].content
    release, no_release = _release(status)
    hung = any(folder.hung for folder in folders)
    noted = Status() if hung else Status.load(places.results)
    node_fault = answers.found("node")

    return Seen(
        at=at,
        up_s=up_s,
        boot=_boot(),
        release=release,
        no_release=None if hung else no_release,  # then that is the fault
        gateway=answers.found("gateway"),
        no_gateway=answers.fault("gateway") if places.gateway else None,
        node_asked=bool(places.nodes),
        no_node=answers.fault("node") or node_fault,
        folders=folders,
        units=answers.found("units"),
        certificate=answers.found("certificate"),
        backup=Backup(noted.backup.good_at, noted.backup.fault) if noted.backup.tried_at else None,
        drill=Drill(noted.drill.tried_at, noted.drill.fault) if noted.drill.tried_at else None,
    )


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
        except (OSError, ValueError, KeyError, TypeError, HTTPException, subprocess.TimeoutExpired) as error:
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
    """One folder, probed by a process that writes a little where it may, and syncs it."""

    def __init__(self, folder: Path, file: str) -> None:
        self._path = folder
        self.content: str | None = None
        self._process = subprocess.Popen(  # noqa: S603  our own interpreter and text
            [sys.executable, "-I", "-S", "-c", PROBE, str(folder), file],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def folder(self, within_s: float) -> Folder:
        """Return what it found."""
        try:
            text, _ = self._process.communicate(timeout=within_s)
            found = read_json(text)
        except subprocess.TimeoutExpired:
            self._leave()
            return Folder(str(self._path), hung=True)
        except ValueError:
            return Folder(str(self._path), fault="the probe ended without a word")

        self.content = found.get("content")
        return Folder(
            path=str(self._path),
            fault=found.get("fault"),
            free_bytes=found.get("free_bytes"),
            free_percent=found.get("free_percent", 100.0),
            free_files_percent=found.get("free_files_percent", 100.0),
        )

    def _leave(self) -> None:
        """Kill the process, which ends only when its disk answers; nothing waits for that."""
        self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        if self._process.stdout is not None:
            self._process.stdout.close()


def _release(status: str | None) -> tuple[Release | None, str | None]:
    """Return the release of a status.json, or why there is none."""
    if status is None:
        return None, "the site publishes no status.json"
    try:
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
    _, body = fetch(f"{origin}/readyz", within_s)
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
            status, _ = fetch(url, within_s, headers)
        except (OSError, ValueError, HTTPException) as error:
            return f"{name} does not answer: {getattr(error, 'reason', error)}"
        if status != 200:
            return f"{name} answers {status}"
    return None


def certificate_of(origin: str, within_s: float) -> Certificate | None:
    """Look at the certificate of an https origin as a reader's client does."""
    parts = urlsplit(origin)
    if parts.scheme != "https" or parts.hostname is None:
        return None
    place = (parts.hostname, parts.port or 443)
    try:
        with (
            create_connection(place, within_s) as plain,
            ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname) as secure,
        ):
            shown = secure.getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        return Certificate(fault=error.verify_message)
    return Certificate(ends_at=float(ssl.cert_time_to_seconds(str(shown["notAfter"]))))


def _units(names: Sequence[str], within_s: float) -> tuple[Unit, ...] | None:
    """Ask systemd; None where it does not run, or has no such unit."""
    fields = "--property=Id,LoadState,ActiveState,NRestarts"
    done = subprocess.run(  # noqa: S603  names of ours
        ["systemctl", "show", fields, *names],  # noqa: S607  wherever the system has it
        capture_output=True,
        text=True,
        timeout=within_s,
        check=False,
    )
    if done.returncode:
        return None
    found = [dict(line.split("=", 1) for line in block.splitlines()) for block in done.stdout.strip().split("\n\n")]
    return tuple(_read_units(found)) or None


def _read_units(found: Iterable[Mapping[str, str]]) -> Iterable[Unit]:
    for row in found:
        if row.get("LoadState") == "loaded":
            yield Unit(row["Id"], row["ActiveState"] == "failed", int(row.get("NRestarts") or 0))


def _boot() -> str:
    """Return what names this start of the machine; empty where the system does not say."""
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.is_file() else ""


def now_s() -> float:
    """Return the wall time, Unix seconds."""
    return datetime.now(UTC).timestamp()
