"""A published site with everything that the checker asks for, small: no generator runs."""

import json
import time
from pathlib import Path
from typing import Any, Final

from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.discovery import DISCOVERY_FILES, PAGES
from generator.catalog.endpoints import ENDPOINTS
from generator.release.release import Releases
from generator.release.variants import Variants

GENERATION: Final = "000000000042"
ONCE: Final = "/files/little.csv"
TEXT: Final = (
    "Prices move and no one knows where to; this sentence only makes the file long enough to be compressed. " * 20
)
PAGE: Final = (
    '<!DOCTYPE html><title>little</title><link rel="stylesheet" href="/assets/site.css">'
    '<script src="/assets/site.js"></script><link rel="icon" href="/favicon.svg"><p>'
)


def publish(site: Path) -> None:
    """Publish it as one release, with one file that never changes."""
    releases = Releases(site)
    releases.open()
    files = {path: text.encode() for path, text in _texts().items()}
    releases.publish(GENERATION, Variants().add(files), time.time() - 60, {ONCE: b"never,changes\n"})


def _texts() -> dict[str, str]:
    bodies = {one.path: _body(one.id) for one in ENDPOINTS}
    bodies |= {f"/api/reasoning/{asset}.json": _body("reasoning", asset=asset) for asset in ASSETS}
    bodies["/api/reasoning.php"] = bodies[f"/api/reasoning/{DEFAULT_ASSET}.json"]
    pages = {page.file: f"{PAGE}{page.title} {TEXT}" for page in PAGES}
    pages |= {page.twin: f"# {page.title}\n\n{TEXT}" for page in PAGES}
    found = {one.path: f'{{"text": "{one.purpose} {TEXT}"}}' for one in DISCOVERY_FILES}
    more = {"/status.json": "{}", "/arena/rounds.json": "{}", "/arena/daily.json": "{}"}
    more |= {"/assets/site.css": "p{}", "/assets/site.js": "0"}
    return bodies | pages | found | more | {"/favicon.svg": "<svg/>", "/learn/worker.js": "0"}


def _body(endpoint: str, **more: Any) -> str:
    stated = {"success": True, "endpoint": endpoint, "freshness": {"generation": GENERATION}, "text": TEXT}
    return json.dumps(stated | more)
