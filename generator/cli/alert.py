"""`emi alert`: look at everything, and report what is wrong."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gateway.settings import GatewaySettings
    from generator.cli._looking import Places
    from generator.cli._notifying import Notifier
    from generator.settings import GeneratorSettings
    from generator.watch.alerts import AlertState, Message
    from generator.watch.judge import Found
    from generator.watch.seen import Seen


def alert(
    unit: Annotated[str | None, typer.Option(help="A unit that has just failed, as systemd names it.")] = None,
    every: Annotated[
        int | None, typer.Option(min=10, max=3600, help="Look again after so many seconds, for good.")
    ] = None,
    *,
    test: Annotated[bool, typer.Option("--test", help="Tell a fault that is none, to see that it arrives.")] = False,
) -> None:
    """Look at the whole service and report what begins, lasts and ends; exit code 1 when that failed.

    Reported is by EMI_ALERT_CMD and EMI_PING_URL: once at the start of a fault, once at its end, again after a day.
    A timer runs this every minute; where there is none, --every 60 does.

    Example: EMI_ALERT_CMD=/usr/local/bin/tell-me emi alert --test
    """
    from generator.cli._looking import look, now_s
    from generator.cli._notifying import Notifier
    from generator.cli._settings import gateway_settings, generator_settings
    from generator.clock import elapsed_s

    settings = generator_settings()
    notifier = Notifier(settings.alert_command, settings.ping_origin)
    if test:
        raise typer.Exit(_send_example(notifier, now_s()))

    places = places_of(settings, gateway_settings())
    file = _state_file(settings.state_dir)
    while True:
        began_s = time.monotonic()
        code = _one_look(file, lambda: look(places, at=now_s(), up_s=elapsed_s()), notifier, unit)
        if every is None:
            raise typer.Exit(code)
        time.sleep(max(0.0, began_s + every - time.monotonic()))


def places_of(settings: GeneratorSettings, gateway: GatewaySettings) -> Places:
    """Return where to look by the settings of both programs, and by the `emi up` that runs on them."""
    from generator.cli._looking import Places
    from generator.cli._published import local_origin, service_origin
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
        folders=(settings.state_dir, *([site] if site else [])),
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


def _state_file(state_dir: Path) -> Path:
    """Return where the state is kept: in memory where systemd gives a folder there, since a disk may hang."""
    return Path(os.environ.get("RUNTIME_DIRECTORY") or state_dir) / "alert.json"


def _one_look(file: Path, look: Callable[[], Seen], notifier: Notifier, unit: str | None) -> int:
    """Look, tell, and keep the state, one process at a time; return the exit code."""
    import fcntl

    from generator.watch.alerts import AlertState

    file.parent.mkdir(parents=True, exist_ok=True)
    with file.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = AlertState.of(file.read_bytes()) if file.exists() else AlertState()
        state, problems = advance(before, look(), notifier, unit)

        draft = file.with_suffix(".new")
        draft.write_bytes(state.dumped())
        draft.replace(file)

    for problem in problems:
        print(f"emi alert: {problem}", file=sys.stderr)
    return 1 if problems else 0


def advance(
    before: AlertState, seen: Seen, notifier: Notifier, unit: str | None = None
) -> tuple[AlertState, list[str]]:
    """Judge what was seen, report what is due, and return the state after it and why something could not be reported.

    Where several ways are set, one that worked is enough: what no one took is reported again with the next look.
    """
    from generator.watch.judge import anchors_of, judge

    found: dict[str, Found | None] = judge(seen, before.anchors)
    if unit is not None:
        found["unit"] = {**(found["unit"] or {}), unit: f"{unit} has failed"}
    state = before.advance(found, seen.at)

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


def _send_example(notifier: Notifier, now: float) -> int:
    from generator.watch.alerts import Message

    if not notifier.ways:
        print("emi alert: nothing is sent: set EMI_ALERT_CMD or EMI_PING_URL", file=sys.stderr)
        return 1
    failures = notifier.send(Message("test", "", "start", now, "a test of `emi alert --test`; nothing is wrong"))
    for failure in failures:
        print(f"emi alert: {failure}", file=sys.stderr)
    if not failures:
        print("sent")
    return 1 if failures else 0
