"""Serve a devnet on loopback until it is told to stop."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable

import uvicorn

from gateway.devnet.app import build_devnet
from gateway.devnet.errors import DevnetError
from gateway.devnet.running import announced
from gateway.devnet.settings import DevnetSettings


def serve(settings: DevnetSettings, say: Callable[[str], None] | None = None) -> None:
    """Serve until SIGINT or SIGTERM; the port is taken before the state is opened.

    Args:
        settings: what this devnet is.
        say: takes the one line that tells where it answers.

    Raises:
        DevnetError: the port is in use or may not be taken, or the state cannot be used.
    """
    listener = _listen(settings.host, settings.port)
    origin = f"http://{f'[{settings.host}]' if ':' in settings.host else settings.host}:{settings.port}"
    try:
        app = build_devnet(settings)
        config = uvicorn.Config(
            app, log_config=None, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=3
        )
        with announced(settings.state_path.parent, origin):
            if say:
                say(
                    f"devnet {origin}: play money only, network {settings.identity.full} ({settings.identity.genesis_id})"
                )
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host.strip("[]"), port))
    except OSError as problem:
        listener.close()
        why = (
            "is in use; choose another with --port"
            if problem.errno == errno.EADDRINUSE
            else f"cannot be taken: {problem}"
        )
        raise DevnetError(f"port {port} on {host} {why}") from problem
    return listener
