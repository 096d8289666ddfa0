"""Every block of the pages that people follow, typed as it is in a copy of the tree; tests/blocks.py has the rule.

One copy, one environment and one service at a time for all pages; each page alone does too (`-k tutorial`).
"""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import DOCS_FREE, DOCS_INDEX, DOCS_PAID
from generator.catalog.products import PRODUCTS
from tests.blocks import PAGES, blocks, prints
from tests.journeys.edges import program as path_of
from tests.outside.desk import UP, Desk
from tests.support.processes import get

SELLING: Final = "docs/tutorial.md"  # starts the service that pages without a start of their own are about
LENT: Final = "docs/howto/build.md"  # starts the one that official clients know
FIRST: Final = ("docs/howto/operating.md", SELLING)
LAST: Final = ("CONTRIBUTING.md",)  # it changes the copy and its environment
FOLLOWED: Final = [
    page
    for page in (*FIRST, *sorted(set(PAGES) - {*FIRST, LENT, *LAST}), *LAST)
    if any(block.language == "sh" and not block.not_run for block in blocks(page))
]
FREE: Final = {row.name for row in ENDPOINTS}
PAID: Final = {row.title for row in PRODUCTS}
PLAY: Final = "play money, worth nothing"
Pages = dict[str, str]
PROGRAMS: Final = {
    "curl": "curl",
    "npm": "npm",
    "nginx": "nginx",
    "caddy": "caddy",
}
MISSING: Final = [f"{name} (apt install {package})" for name, package in PROGRAMS.items() if path_of(name) is None]
pytestmark = [
    pytest.mark.outside,
    pytest.mark.timeout(900),
    pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}"),
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A copy of the tree for all pages."""
    made = Desk(tmp_path_factory.mktemp("desk"))
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def lent(desk: Desk) -> Pages:
    """Every page of the service's own documentation, by its path, while its devnet lends the test network's ids."""
    start_as(desk, LENT)
    origin = f"http://127.0.0.1:{desk.port}"
    rows = json.loads(get(origin + DOCS_INDEX)[2])["rows"]
    paths = sorted({address.partition("#")[0] for _, address, _ in rows})
    return {path: get(origin + path)[2].decode() for path in paths}


def start_as(desk: Desk, page: str) -> None:
    """Start the service with the line of a page."""
    desk.type(next(block.text for block in blocks(page) if UP.search(block.text.strip())))


def follow(desk: Desk, page: str) -> None:
    """Type the blocks of a page in their order and compare what they print with what it quotes."""
    for block in blocks(page):
        if block.language != "sh" or block.not_run:
            continue
        printed = desk.type(block.text)
        print(block.text, printed, sep="\n")
        assert prints(block.quoted, printed), f"{block.where} quotes what was not printed:\n{printed[-5000:]}"
    desk.clear()


@pytest.mark.parametrize("page", FOLLOWED[: -len(LAST)])
def test_a_page_does_what_it_says(page: str, desk: Desk) -> None:
    if page.endswith("serving.md"):
        desk.a_machine()
    if not starts(page):
        start_as(desk, SELLING)

    follow(desk, page)


def test_the_page_for_programs_does_what_it_says(desk: Desk) -> None:
    follow(desk, LENT)


def starts(page: str) -> bool:
    """Tell whether a page starts the service itself."""
    return any(UP.search(block.text.strip()) for block in blocks(page))


def programs(text: str, label: str) -> dict[str, str]:
    """Return the programs of a page of the service by what they are for."""
    found = re.findall(rf'aria-label="({label})"><code>(.*?)</code>', text, re.DOTALL)
    return {title.rpartition(", ")[2]: html.unescape(program) for title, program in found}


def quickstart(lent: Pages) -> str:
    """Return the part of the page of paid answers that one follows from the first line to an answer."""
    return lent[DOCS_PAID].partition('id="quickstart"')[2].partition('id="flow"')[0]


def test_every_curl_line_answers(lent: Pages, desk: Desk) -> None:
    free, paid = (
        re.findall(r'aria-label="curl"><code>(.*?)</code>', lent[page], re.DOTALL) for page in (DOCS_FREE, DOCS_PAID)
    )
    paid_from = len(free)

    printed = [desk.type(f"{html.unescape(program)} -sS") for program in (*free, *paid)]

    assert (len(free), len(paid)) == (len(ENDPOINTS), len(PRODUCTS))
    assert all('"success":true' in text for text in printed[:paid_from])
    assert all(text.startswith("HTTP/1.1 402") and PLAY in text for text in printed[paid_from:])


def test_every_free_program_runs(lent: Pages, desk: Desk) -> None:
    text, printed = "".join(lent.values()), {}

    for title, program in programs(text, 'Python, [^"]+').items():
        if title in FREE:
            printed[title] = desk.type(f"python3 - <<'PY'\n{program}\nPY")
    for title, program in programs(text, 'JavaScript, [^"]+').items():
        if title in FREE:
            printed[f"js {title}"] = desk.type(f"node --input-type=module - <<'JS'\n{program}\nJS")

    assert len(printed) == 2 * len(ENDPOINTS)
    assert all(text.strip() and "stale" not in text and "undefined" not in text for text in printed.values())


@pytest.mark.parametrize(("label", "name"), [("Python", "buy.py"), ("JavaScript", "buy.mjs")])
def test_the_quickstart_and_every_paid_page_buy_as_printed(
    lent: Pages, desk: Desk, tmp_path: Path, label: str, name: str
) -> None:
    page = quickstart(lent)
    key, run = programs(page, "Key")["Key"], programs(page, f"{label}, run")["run"]
    install = programs(page, f"{label}, install")["install"]
    text = "".join(lent.values())
    bought = {title: one for title, one in programs(text, f'{label}, [^"]+').items() if title in PAID | {"buy"}}

    desk.type(install, tmp_path)
    printed = {}
    for title, program in bought.items():
        (tmp_path / name).write_text(program)
        printed[title] = desk.type(f"{key}\n{run}", tmp_path)

    assert set(printed) == PAID | {"buy"}
    assert all(text.startswith("200 ") and '"success":true' in text.replace(" ", "") for text in printed.values())
    assert all(PLAY in text for text in printed.values())


def test_the_quickstart_has_no_block_that_is_not_typed_here(lent: Pages) -> None:
    page = quickstart(lent)
    (start,) = [block.text.strip() for block in blocks(LENT) if UP.search(block.text.strip())]

    assert programs(page, "Start")["Start"] == start
    labels = set(re.findall(r'<pre class="code".*? aria-label="(.*?)">', page))
    each = {f"{language}, {what}" for language in ("Python", "JavaScript") for what in ("install", "buy", "run")}
    assert labels == each | {"Start", "Key"}


@pytest.mark.parametrize("page", LAST)
def test_a_page_that_changes_the_copy_does_what_it_says(page: str, desk: Desk) -> None:
    desk.stop()
    desk.type("python3 -m venv .venv")

    follow(desk, page)
