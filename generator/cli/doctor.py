"""`emi doctor`: is the service alive and fresh?"""

from __future__ import annotations

from typing import Annotated, Final

import typer

MARKS: Final = {True: "ok  ", False: "BAD ", None: "--  "}


def doctor(
    url: Annotated[str | None, typer.Option(help="Origin to look at. Default: the configured one.")] = None,
) -> None:
    """Check an origin as a reader and a payer would; exit code 1 when anything is wrong.

    Of the configured origin, or one of this machine, the gateway is asked directly as well, and its metrics where
    EMI_METRICS_PORT is set.

    Example: emi doctor --url https://api.example.org
    """
    from urllib.parse import urlsplit

    from gateway.wire.loopback import is_loopback
    from generator.cli._doctor import examine
    from generator.cli._settings import gateway_settings, generator_settings

    configured = generator_settings().origin
    gateway = gateway_settings()
    origin = (url or configured).rstrip("/")
    if origin == configured or is_loopback(urlsplit(origin).hostname or ""):
        metrics = f"http://127.0.0.1:{gateway.metrics_port}/metrics" if gateway.metrics_port else None
        checks = examine(origin, [_local(gateway.host, gateway.port)], metrics)
    else:
        checks = examine(origin)
    for check in checks:
        print(f"{MARKS[check.good]} {check.what}: {check.found}")
    raise typer.Exit(1 if any(check.good is False for check in checks) else 0)


def _local(host: str, port: int) -> str:
    """Return where a gateway that listens on `host` answers on its own machine."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  what a gateway listens on
    return f"http://{f'[{name}]' if ':' in name else name}:{port}"
