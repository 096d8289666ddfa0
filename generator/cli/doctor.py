"""`emi doctor`: is the service alive and fresh?"""

from __future__ import annotations

from typing import Annotated

import typer


def doctor(
    url: Annotated[str | None, typer.Option(help="Origin to look at. Default: the configured one.")] = None,
) -> None:
    """Check an origin as a reader and a payer would; exit code 1 when anything is wrong.

    Example: emi doctor --url https://api.example.org
    """
    from generator.cli._doctor import examine
    from generator.cli._settings import gateway_settings, generator_settings

    settings = generator_settings()
    gateway_settings()
    checks = examine((url or settings.origin).rstrip("/"))
    for check in checks:
        print(f"{'ok  ' if check.good else 'BAD '} {check.what}: {check.found}")
    raise typer.Exit(0 if all(check.good for check in checks) else 1)
