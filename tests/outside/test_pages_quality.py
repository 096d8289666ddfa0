"""The pages before the checkers of others: axe, the Nu HTML checker, Lighthouse on the phone profile."""

import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="missing: playwright (pip install playwright)")

from generator.catalog.links import BUYER, BUYER_AGENT, PRACTICE
from tests.outside.site_pages import CHROMIUM, FLAGS, MODULES, OFFICIAL_SITE, ONE_OF_EACH, a_browser, a_market
from tests.support.processes import get

MISSING = (
    "missing: chromium (apt install chromium)"
    if not CHROMIUM.exists()
    else "missing: OFFICIAL_SITE, a folder with the packages of tests/peers/site (npm ci --ignore-scripts)"
    if not OFFICIAL_SITE
    else ""
)
pytestmark = [pytest.mark.outside, pytest.mark.timeout(600), pytest.mark.skipif(bool(MISSING), reason=MISSING)]
SCORED = ("/", "/arena/", "/docs/free/", "/asset/btc/", "/learn/", "/learn/luck/", PRACTICE, BUYER)
SHOWN = (*ONE_OF_EACH, BUYER, BUYER_AGENT)  # the last two are the gateway's
FAST = 98
AUDITED = ("performance", "accessibility", "best-practices", "seo")
LOADS = ('src="', 'rel="stylesheet" href="', 'rel="modulepreload" href="', 'data-from="')
TRANSFER_LIMIT = 60_000


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with a_market(tmp_path_factory.mktemp("quality")) as at:
        yield at


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_on_any_page_in_any_size_or_colour(origin: str, scheme: Any, width: int) -> None:
    axe = (MODULES / "axe-core" / "axe.min.js").read_text()
    found: list[str] = []

    with a_browser() as browser:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
        page = context.new_page()
        for path in SHOWN:
            page.goto(origin + path)
            found += [f"{path}: a link to nowhere"] * page.locator("a:not([href])").count()
            page.evaluate("document.querySelectorAll('main details').forEach((part) => { part.open = true; })")
            page.add_script_tag(content=axe)
            violations = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then((all) => all.violations)")
            found += [f"{path}: {one['id']}: {one['nodes'][0]['html']}" for one in violations]

    assert found == []


def test_the_nu_html_checker_finds_no_error_in_any_page(origin: str, tmp_path: Path) -> None:
    java = shutil.which("java")
    if java is None:
        pytest.skip("missing: java (apt install default-jre-headless)")
    for number, path in enumerate(SHOWN):
        _, _, body = get(origin + path)
        (tmp_path / f"{number:02d}.html").write_bytes(body)
    jar = str(MODULES / "vnu-jar" / "build" / "dist" / "vnu.jar")
    pages = sorted(str(path) for path in tmp_path.glob("*.html"))

    checked = subprocess.run(
        [java, "-jar", jar, "--format", "json", *pages], capture_output=True, text=True, timeout=120, check=False
    )

    assert json.loads(checked.stderr)["messages"] == []


@pytest.mark.parametrize("path", SCORED)
def test_lighthouse_gives_full_marks_on_a_phone(origin: str, path: str, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("missing: node (apt install nodejs)")
    scores = _best_of_six(node, origin + path, tmp_path)

    assert scores.pop("performance") >= FAST
    assert set(scores.values()) == {100}


@pytest.mark.parametrize("path", SHOWN)
def test_every_page_is_small_before_anyone_touches_it(origin: str, path: str) -> None:
    _, headers, body = get(origin + path, {"Accept-Encoding": "gzip"})
    sent = len(body)
    assert headers.get("content-encoding") == "gzip"
    html = gzip.decompress(body).decode()
    for address in {part.split('"')[0] for mark in LOADS for part in html.split(mark)[1:]}:
        sent += len(get(origin + address, {"Accept-Encoding": "gzip"})[2])

    assert sent < TRANSFER_LIMIT


def _best_of_six(node: str, url: str, folder: Path) -> dict[str, int]:
    """Only the performance figure depends on what else the machine does, so the best of at most six counts."""
    best: dict[str, int] = {}
    for number in range(6):
        scores = _lighthouse(node, url, folder / f"{number}.json")
        best = {name: max(best.get(name, 0), scores[name]) for name in AUDITED}
        if best["performance"] >= FAST:
            break
    return best


def _lighthouse(node: str, url: str, report: Path) -> dict[str, int]:
    program = str(MODULES / "lighthouse" / "cli" / "index.js")
    flags = " ".join(("--headless", *FLAGS))
    done = subprocess.run(
        [node, program, url, "--quiet", "--output=json", f"--output-path={report}", f"--chrome-flags={flags}"],
        env={**os.environ, "CHROME_PATH": str(CHROMIUM)},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert report.exists(), done.stderr[-2_000:]
    categories = json.loads(report.read_text())["categories"]
    return {name: round(100 * (categories[name]["score"] or 0)) for name in AUDITED}
