"""`emi watch`: look at everything each minute, and report what is wrong."""

from __future__ import annotations

import os
import select
import socket
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Self

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gateway.settings import GatewaySettings
    from generator.cli._deeper import DeeperLook
    from generator.cli._looking import Places
    from generator.cli._notifying import Notifier
    from generator.operate.watch.alerts import AlertState, Message
    from generator.operate.watch.seen import Seen
    from generator.settings import GeneratorSettings

FOLDER: Final = Path("/run/emi-watch")
"""Where the unit keeps its state: in memory, since a disk that hangs must not stop the alarm."""
SOCKET: Final = "watch.sock"
TEST_S: Final = 60.0


def watch(
    every: Annotated[int, typer.Option(min=10, max=3600, help="Seconds between two looks.")] = 60,
    *,
    test: Annotated[
        bool,
        typer.Option("--test", help="Let the watch that runs here send a fault that is none, to see that it arrives."),
    ] = False,
) -> None:
    """Look at the whole service each minute, once an hour as the doctor does, and report what begins, lasts and ends.

    Reported is by EMI_ALERT_CMD and EMI_PING_URL: once at the start of a fault, once at its end, again after a day. The
    command runs as this process does: in the unit it may write below its state folder alone. What could not be sent is
    a fault of its own, and a line at `systemctl status emi-watch`.

    Example: EMI_ALERT_CMD=/usr/local/bin/notify-me emi watch
    """
    from gateway.wire.notify import ALIVE, READY, notify_supervisor
    from generator.cli._deeper import DeeperLook
    from generator.cli._looking import Looker, now_s
    from generator.cli._notifying import Notifier
    from generator.cli._settings import gateway_settings, generator_settings
    from generator.clock import elapsed_s

    settings = generator_settings()
    if test:
        raise typer.Exit(_ask_for_example(settings.state_dir))

    gateway = gateway_settings()
    began_at = _watched_since(settings.state_dir / "watched-since", now_s())
    looker = Looker(places_of(settings, gateway, began_at))
    deeper = DeeperLook(settings, gateway)
    folder = state_folder(settings.state_dir)

    def notifier() -> Notifier:
        return Notifier(settings.alert_command, settings.ping_origin)

    with Desk(folder / SOCKET, lambda: send_example(notifier(), now_s())) as desk:
        notify_supervisor(READY)
        rounds = Rounds(folder / "watch.json", lambda: looker.look(at=now_s(), up_s=elapsed_s()), notifier, deeper)
        while True:
            began_s = time.monotonic()
            status = rounds.once()
            notify_supervisor(f"{ALIVE}\nSTATUS={status}")
            desk.serve_until(began_s + every)


def places_of(settings: GeneratorSettings, gateway: GatewaySettings, watched_since: float | None = None) -> Places:
    """Return where to look by the settings of both programs, and by the `emi up` that runs on them."""
    from generator.cli._looking import Places
    from generator.cli._systemd import system_bus
    from generator.cli._urls import local_origin, service_origin
    from generator.lock import note_of

    up = note_of(settings.state_dir, "up")
    here = local_origin(gateway.host, gateway.port) if gateway.facilitator_url else None
    site = None if settings.site_url else settings.site_path
    return Places(
        site=site,
        origin=service_origin(settings),
        gateway=up or here,
        nodes=_nodes(gateway),
        results=settings.backup_status_path,
        bus=system_bus(),
        folders=(settings.state_dir, *([site] if site else [])),
        watched_since=watched_since,
    )


def _nodes(gateway: GatewaySettings) -> dict[str, tuple[str, Mapping[str, str]]]:
    """Return what each node is asked, and with which headers."""
    asked = (
        ("algod", gateway.algod_url, "/v2/status", "X-Algo-API-Token", gateway.algod_token),
        ("indexer", gateway.indexer_url, "/health", "X-Indexer-API-Token", gateway.indexer_token),
    )
    return {
        name: (url + path, {header: token.get_secret_value()} if token else {})
        for name, url, path, header, token in asked
        if url is not None
    }


def state_folder(state_dir: Path) -> Path:
    """Return where the state is kept: in memory where systemd gives a folder there."""
    given = os.environ.get("RUNTIME_DIRECTORY")
    return Path(given) if given else state_dir


def _watched_since(file: Path, now: float) -> float:
    """Return when this machine was first looked at, noted at the first start of all."""
    try:
        return float(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{now:.0f}\n", encoding="ascii")
        return now


@dataclass
class Rounds:
    """One look after the other, with what the last one left.

    Args:
        file: keeps the state, so that a restart reports nothing twice.
        look: sees everything now.
        notifier: makes what sends; a new one each time, so that what was too slow is tried again.
        deeper: the doctor's look, once an hour.
    """

    file: Path
    look: Callable[[], Seen]
    notifier: Callable[[], Notifier]
    deeper: DeeperLook | None = None
    unsent: str | None = None

    def once(self) -> str:
        """Look, report, keep the state; return what it came to, in a line."""
        from generator.operate.watch.alerts import AlertState

        before = AlertState.of(self.file.read_bytes()) if self.file.exists() else AlertState()
        seen = replace(self.look(), unsent=self.unsent, deeper=self.deeper.found() if self.deeper else None)
        state, problems = advance(before, seen, self.notifier())
        self.unsent = problems[0] if problems else None

        self.file.parent.mkdir(parents=True, exist_ok=True)
        draft = self.file.with_suffix(".new")
        draft.write_bytes(state.dumped())
        draft.replace(self.file)

        for problem in problems:
            print(f"emi watch: {problem}", file=sys.stderr, flush=True)
        return _in_a_line(state, problems)


def _in_a_line(state: AlertState, problems: list[str]) -> str:
    open_now = sorted({key.name for key, alert in state.alerts.items() if alert.gone_at is None and alert.sent_at})
    line = f"open: {', '.join(open_now)}" if open_now else "all well"
    return "; ".join([line, *problems]).replace("\n", " ")


def advance(before: AlertState, seen: Seen, notifier: Notifier) -> tuple[AlertState, list[str]]:
    """Judge what was seen, report what is due, and return the state after it and why something could not be reported.

    Where several ways are set, one that worked is enough: what no one took is reported again with the next look.
    """
    from generator.operate.watch.judge import anchors_of, judge

    state = before.advance(judge(seen, before.anchors), seen.at)

    problems: list[str] = []
    for key, message in state.messages(seen.at):
        _show(message)
        failures = notifier.send(message)
        problems += failures
        if len(failures) < notifier.ways:
            state = state.sent(key, seen.at)
        elif not notifier.ways:
            problems.append("nothing was sent: set EMI_ALERT_CMD or EMI_PING_URL")

    release = seen.release
    if release is not None and release.generated_at > state.pinged_of and state.is_quiet:
        problems += [problem for problem in [notifier.ping()] if problem]
        state = replace(state, pinged_of=release.generated_at)
    return replace(state, anchors=anchors_of(seen, before.anchors)), problems


def _show(message: Message) -> None:
    """Leave a line in the journal."""
    about = f"{message.fault} {message.subject}".strip()
    print(f"{message.event:5} {about}: {message.text}", flush=True)


class Desk:
    """A socket at which `emi watch --test` asks the watch that runs for an example.

    Args:
        path: of the socket.
        example: sends one; returns what it came to, in lines.
    """

    def __init__(self, path: Path, example: Callable[[], str]) -> None:
        self._path = path
        self._example = example
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def __enter__(self) -> Self:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.unlink(missing_ok=True)
        self._socket.bind(str(self._path))
        self._socket.listen()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._path.unlink(missing_ok=True)

    def serve_until(self, until_s: float) -> None:
        """Answer whoever asks, until a monotonic time."""
        while (left_s := until_s - time.monotonic()) > 0:
            if select.select([self._socket], [], [], left_s)[0]:
                asker, _ = self._socket.accept()
                with asker:
                    _answer(asker, self._example())


def _answer(asker: socket.socket, text: str) -> None:
    try:
        asker.sendall(text.encode())
    except OSError:
        return  # it has gone, and the example was sent all the same


def send_example(notifier: Notifier, now: float) -> str:
    """Send a fault that is none by every way; return `sent`, or a line for each way that failed."""
    from generator.operate.watch.alerts import Message

    if not notifier.ways:
        return "nothing is sent: set EMI_ALERT_CMD or EMI_PING_URL, and restart emi-watch"
    failures = notifier.send(Message("test", "", "start", now, "a test of `emi watch --test`; nothing is wrong"))
    return "\n".join(failures) or "sent"


def _asked(path: Path) -> str:
    """Return what the watch at a socket says; OSError where there is none."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(TEST_S)
        asking.connect(str(path))
        parts = []
        while part := asking.recv(4096):
            parts.append(part)
    return b"".join(parts).decode()


def _ask_for_example(state_dir: Path) -> int:
    """Ask the watch that runs; return the exit code."""
    for folder in (FOLDER, state_dir):
        try:
            answer = _asked(folder / SOCKET)
        except TimeoutError:
            answer = f"the watch did not answer within {TEST_S:.0f} s"
        except PermissionError:
            answer = f"{folder} may not be entered: run it as root"
        except OSError:
            continue
        print(answer, file=sys.stdout if answer == "sent" else sys.stderr)
        return 0 if answer == "sent" else 1

    print("emi watch: none runs here: systemctl start emi-watch", file=sys.stderr)
    return 1
