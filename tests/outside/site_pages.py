"""A browser and a running `emi up` for the tests that look at pages; without playwright, whoever imports this skips."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

pytest.importorskip("playwright", reason="missing: playwright (pip install playwright)")

from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.discovery import PAGES
from generator.catalog.links import asset_path
from tests.support.processes import emi_up

__all__ = [
    "BROWSED",
    "ONE_OF_EACH",
    "WITHOUT_DATE",
    "Browser",
    "BrowserContext",
    "Page",
    "Route",
    "a_browser",
    "a_market",
    "expect",
]
CHROMIUM: Final = Path("/usr/bin/chromium")
OFFICIAL_SITE: Final = os.environ.get("OFFICIAL_SITE", "")
"""A folder whose node_modules has axe-core, lighthouse and vnu-jar."""
MODULES: Final = Path(OFFICIAL_SITE or ".") / "node_modules"
# The path of one page of every template.
ONE_OF_EACH: Final = tuple({page.template: page.path for page in PAGES}.values())
BROWSED: Final = [
    pytest.mark.outside,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not CHROMIUM.exists(), reason="missing: chromium (apt install chromium)"),
]
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


WITHOUT_DATE: Final = """
{
  const get = Headers.prototype.get;
  Headers.prototype.get = function (name) { return name.toLowerCase() === "date" ? null : get.call(this, name); };
}
"""
"""A script that takes the server's clock away: by it nothing that these tests serve is out of date."""


@contextmanager
def a_market(folder: Path) -> Iterator[str]:
    """Run `emi up` on a simulated market until a tick is published with its charts; gives its origin."""
    with emi_up(folder, EMI_STATE_DIR=str(folder / "state")) as up:
        up.wait_answer("/track-record/", within_s=180)
        up.wait_text("is up:", within_s=180)
        up.wait_page(asset_path(DEFAULT_ASSET), "chart-btc-7d", within_s=180)  # of the second tick
        yield up.origin


@contextmanager
def a_browser(*flags: str) -> Iterator[Browser]:
    """Run Debian's chromium without a window, with further `flags`."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=[*FLAGS, *flags])
        try:
            yield browser
        finally:
            browser.close()
