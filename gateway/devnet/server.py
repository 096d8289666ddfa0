"""Serve a devnet on loopback until SIGINT or SIGTERM."""

import errno
from collections.abc import Callable
from typing import Final

from gateway.app.server import http_server, listen
from gateway.devnet.app import build_devnet
from gateway.devnet.errors import DevnetError
from gateway.devnet.settings import DevnetSettings, announced

HOST: Final = "127.0.0.1"
GRACE_S: Final = 3


def serve(settings: DevnetSettings, say: Callable[[str], None] | None = None) -> None:
    """Serve until SIGINT or SIGTERM; the port is taken before the state is opened.

    Args:
        settings: what this devnet is.
        say: takes the one line that says where it answers.

    Raises:
        DevnetError: the port is in use or may not be taken, or the state cannot be used.
    """
    try:
        listener = listen(HOST, settings.port)
    except OSError as problem:
        in_use = problem.errno == errno.EADDRINUSE
        why = "is in use; choose another with --port" if in_use else f"cannot be taken: {problem}"
        raise DevnetError(f"port {settings.port} on {HOST} {why}") from problem
    origin = f"http://{HOST}:{settings.port}"
    try:
        app = build_devnet(settings)
        with announced(settings.state_path.parent, origin):
            if say:
                say(
                    f"devnet {origin}: play money only, network {settings.identity.full} ({settings.identity.genesis_id})"
                )
            http_server(app, GRACE_S).run(sockets=[listener])
    finally:
        listener.close()
