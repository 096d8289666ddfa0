"""Origins of services as they are given on the command line."""

from urllib.parse import urlsplit

import typer


def origin_of(text: str) -> str:
    """Return a URL without its last slash; raise typer.BadParameter unless it begins with http:// or https://."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise typer.BadParameter(f"{text} must begin with http:// or https://")
    return text.rstrip("/")
