"""`emi bootstrap`: lay down the release before the first tick, for an edge that starts before the generator."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from generator.settings import GeneratorSettings


def bootstrap() -> None:
    """Publish a release that says 'not started yet' where nothing was published, so that an edge never starts empty.

    Needs no market or memory, and no network but that of an object store; a site that has a release is left alone.

    Example: EMI_STATE_DIR=/var/lib/emi emi bootstrap && systemctl start nginx
    """
    from datetime import UTC, datetime

    from generator.cli._settings import generator_settings
    from generator.runtime.bootstrap import ensure

    settings = generator_settings()
    if settings.site_url is not None:
        laid, where = _in_store(settings, settings.site_url), settings.site_url
    else:
        laid, where = ensure(settings, datetime.now(UTC)), str(settings.site_path / "current")
    print(f"bootstrap release laid down: {where}" if laid else f"nothing to do: {where} is published")


def _in_store(settings: GeneratorSettings, url: str) -> bool:
    """Lay it into an object store, under the lease: no one else may be publishing there meanwhile."""
    from datetime import UTC, datetime

    from generator.catalog.links import STATUS_JSON
    from generator.catalog.words import SourceMode
    from generator.runtime.app import site_of
    from generator.runtime.bootstrap import lay_down
    from generator.runtime.leadership import Leadership, open_lease
    from generator.wings.bucket.places import site_store

    leadership = Leadership(open_lease(settings))
    store = site_store(settings.site_path, url, leadership.fence)
    store.open()
    if store.shown((STATUS_JSON,)):
        return False  # whoever leads now is at work there
    with leadership.held(wait_s=settings.lease_ttl_seconds + 2 if settings.lease_url else 0.5):
        mode = settings.source or SourceMode.SIMULATED
        return lay_down(store, site_of(settings), mode, datetime.now(UTC))
