"""Origins of services: as they are given on the command line, and of the one that runs here."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from generator.lock import note_of

if TYPE_CHECKING:
    from gateway.settings import GatewaySettings
    from generator.settings import GeneratorSettings


def origin_of(text: str) -> str:
    """Return a URL without its last slash; raise typer.BadParameter unless it begins with http:// or https://."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise typer.BadParameter(f"{text} must begin with http:// or https://")
    return text.rstrip("/")


def service_origin(settings: GeneratorSettings | GatewaySettings) -> str:
    """Return where the service of a state answers: BASE_URL, else the `emi up` that runs on it, else the default."""
    return settings.base_url or note_of(settings.state_dir, "up") or settings.origin


def local_origin(host: str, port: int) -> str:
    """Return where a gateway that listens on `host` answers on its own machine."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  what a gateway listens on
    if ":" in name:
        name = f"[{name}]"
    return f"http://{name}:{port}"
