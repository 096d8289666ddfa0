"""What a tick of the real service puts into an object store: what changed, and three objects that name it."""

import json
from pathlib import Path

from generator.catalog.products import PRODUCTS
from generator.release.bucket.site import BucketSite
from generator.release.bucket.vault import BucketVault
from generator.runtime.app import App
from generator.runtime.tick import tick
from tests.support.buckets import FaultyBucket, memory
from tests.support.clock import ManualClock
from tests.support.services import MINUTE, opened, run


def published_to(app: App, site: FaultyBucket, vault: FaultyBucket) -> App:
    app.publisher.releases = BucketSite(site, "a")
    app.publisher.vault = BucketVault(vault, "a")
    return app


def forms(site: FaultyBucket) -> set[str]:
    """Return the digests of every form of every file of the newest release."""
    pointer = site.get("current.json")
    assert pointer is not None
    manifest = site.get(f"o/{json.loads(pointer.data)['manifest']}")
    assert manifest is not None
    return {digest for row in json.loads(manifest.data)["files"].values() for digest in row["forms"].values()}


def test_a_tick_puts_no_more_than_what_changed_and_what_names_it(tmp_path: Path) -> None:
    site, vault = FaultyBucket(memory()), FaultyBucket(memory())

    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock, every_page=True) as app:
            published_to(app, site, vault)
            await tick(app, clock.now())
            before, site.writes, vault.writes = forms(site), [], []

            clock.step(MINUTE)
            await tick(app, clock.now())

        changed = forms(site) - before
        objects = [path for path in site.writes if path.startswith("o/")]
        assert 0 < len(changed) < len(before) / 2
        assert len(objects) == len(set(objects)) == len(changed) + 1  # and the manifest
        assert {path for path in site.writes if not path.startswith(("o/", "once/"))} == {"current.json"}
        assert len(vault.writes) == len(PRODUCTS) + 1

    run(work)
