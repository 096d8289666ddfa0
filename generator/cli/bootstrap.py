"""`emi bootstrap`: lay down the release before the first tick, for an edge that starts before the generator."""

from __future__ import annotations


def bootstrap() -> None:
    """Publish a release that says 'not started yet' where nothing was published, so that an edge never starts empty.

    Needs no market, memory or network; a site that has a release is left alone.

    Example: EMI_STATE_DIR=/var/lib/emi emi bootstrap && systemctl start nginx
    """
    from datetime import UTC, datetime

    from generator.bootstrap import lay_down
    from generator.catalog.words import SourceMode
    from generator.cli._settings import generator_settings
    from generator.publish.release import Releases
    from generator.service import site_of

    settings = generator_settings()
    releases = Releases(settings.site_path)
    releases.open()
    mode = settings.source or SourceMode.SIMULATED
    laid = lay_down(releases, site_of(settings), mode, datetime.now(UTC))
    where = settings.site_path / "current"
    print(f"bootstrap release laid down: {where}" if laid else f"nothing to do: {where} is published")
