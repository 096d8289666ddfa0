"""A running `emi up` and a browser, for the tests that look at the pages."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, sync_playwright

from tests.support.processes import emi_up

CHROMIUM: Final = Path("/usr/bin/chromium")
OFFICIAL_SITE: Final = os.environ.get("OFFICIAL_SITE", "")
"""A folder whose node_modules has axe-core, lighthouse and vnu-jar."""
MODULES: Final = Path(OFFICIAL_SITE or ".") / "node_modules"
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def a_market(folder: Path) -> Iterator[str]:
    """Run `emi up` on a simulated market until its first tick is published; gives its origin."""
    with emi_up(folder, EMI_STATE_DIR=str(folder / "state")) as up:
        up.wait_answer("/track-record/", within_s=180)
        up.wait_text("is up:", within_s=180)
        yield up.origin


@contextmanager
def a_browser() -> Iterator[Browser]:
    """Run Debian's chromium without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()
