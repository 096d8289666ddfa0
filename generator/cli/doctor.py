"""`emi doctor`: is the service alive and fresh?"""

from __future__ import annotations

from typing import Annotated

import typer


def doctor(url: Annotated[str, typer.Option(help="Origin to look at.")] = "http://127.0.0.1:8402") -> None:
    """Check an origin as a reader and a payer would; exit code 1 when anything is wrong.

    Example: emi doctor --url https://api.example.org
    """
    from generator.cli._doctor import examine

    checks = examine(url.rstrip("/"))
    for check in checks:
        print(f"{'ok  ' if check.good else 'BAD '} {check.what}: {check.found}")
    raise typer.Exit(0 if all(check.good for check in checks) else 1)
