"""`emi bootstrap`: lay down the release before the first tick, for an edge that starts before the generator."""

from __future__ import annotations


def bootstrap() -> None:
    """Publish a release that says 'not started yet' where nothing was published, so that an edge never starts empty.

    Needs no market, memory or network; a site that has a release is left alone.

    Example: EMI_STATE_DIR=/var/lib/emi emi bootstrap && systemctl start nginx
    """
    from datetime import UTC, datetime

    from generator.bootstrap import ensure
    from generator.cli._settings import generator_settings

    settings = generator_settings()
    laid = ensure(settings, datetime.now(UTC))
    where = settings.site_path / "current"
    print(f"bootstrap release laid down: {where}" if laid else f"nothing to do: {where} is published")
