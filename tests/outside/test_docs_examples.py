"""The programs that the documentation shows, run as they stand there by curl, Python and Node.js against `emi up`."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import DOCS_INDEX, QUICKSTART
from generator.catalog.products import PRODUCTS
from tests.outside.market import need
from tests.outside.processes import OFFICIAL_JS, OFFICIAL_PYTHON
from tests.support.processes import emi_up, get

MISSING = [
    f"missing: {name} (apt install {package})"
    for name, package in (("node", "nodejs"), ("curl", "curl"))
    if not shutil.which(name)
]
pytestmark = [
    pytest.mark.outside,
    pytest.mark.timeout(400),
    pytest.mark.skipif(bool(MISSING), reason="; ".join(MISSING)),
]
FREE = {row.name for row in ENDPOINTS}
PAID = {row.title for row in PRODUCTS}
PLAY = "play money, worth nothing"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Every page of the documentation by its path, of a service whose devnet lends the test network's ids."""
    folder = tmp_path_factory.mktemp("docs")
    with emi_up(folder, "--as", "testnet", EMI_STATE_DIR=str(folder / "state")) as up:
        up.wait_text("is up:", within_s=240)
        rows = json.loads(get(up.origin + DOCS_INDEX)[2])["rows"]
        paths = sorted({address.partition("#")[0] for _, address, _ in rows})
        yield {path: get(up.origin + path)[2].decode() for path in paths}


def _programs(text: str, label: str) -> dict[str, str]:
    found = re.findall(rf'aria-label="({label})"><code>(.*?)</code>', text, re.DOTALL)
    return {title.rpartition(", ")[2]: html.unescape(program) for title, program in found}


def _run(command: list[str], folder: Path | None = None, **extra: str) -> str:
    environment = {**os.environ, **extra}
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_curl_line_answers(pages: dict[str, str]) -> None:
    free = [_programs(pages[f"/docs/{row.id}/"], "curl")["curl"] for row in ENDPOINTS]
    paid = [_programs(pages[f"/docs/{row.id}/"], "curl")["curl"] for row in PRODUCTS]

    said = [_run(["bash", "-c", f"set -e; {program} -sS"]) for program in (*free, *paid)]

    assert all('"success":true' in text for text in said[: len(ENDPOINTS)])
    assert all(text.startswith("HTTP/1.1 402") and PLAY in text for text in said[len(ENDPOINTS) :])


def test_every_free_program_runs(pages: dict[str, str], tmp_path: Path) -> None:
    text, said = "".join(pages.values()), {}

    for title, program in _programs(text, 'Python, [^"]+').items():
        if title in FREE:
            said[title] = _run([sys.executable, "-c", program])
    for title, program in _programs(text, 'JavaScript, [^"]+').items():
        if title in FREE:
            (tmp_path / "it.mjs").write_text(program)
            said[f"js {title}"] = _run(["node", str(tmp_path / "it.mjs")])

    assert len(said) == 2 * len(ENDPOINTS)
    assert all(text.strip() and "stale" not in text and "undefined" not in text for text in said.values())


@pytest.mark.parametrize(
    ("language", "label", "name"), [("python", "Python", "buy.py"), ("js", "JavaScript", "buy.mjs")]
)
def test_the_quickstart_and_every_paid_page_buy_as_printed(
    pages: dict[str, str], tmp_path: Path, language: str, label: str, name: str
) -> None:
    need(language)
    _bring_the_installed_client(tmp_path)
    quickstart = pages[QUICKSTART]
    key, run = _programs(quickstart, "Key")["Key"], _programs(quickstart, f"{label}, run")["run"]
    text = "".join(pages.values())
    programs = {title: one for title, one in _programs(text, f'{label}, [^"]+').items() if title in PAID | {"buy"}}

    said = {}
    for title, program in programs.items():
        (tmp_path / name).write_text(program)
        said[title] = _run(["bash", "-ec", f"{key}\n{run}"], tmp_path)

    assert set(said) == PAID | {"buy"}
    assert all(text.startswith("200 ") and '"success":true' in text.replace(" ", "") for text in said.values())
    assert all(PLAY in text for text in said.values())


def _bring_the_installed_client(folder: Path) -> None:
    """Put what the printed lines install where they install it: .ci/outside ran them."""
    if OFFICIAL_PYTHON:
        (folder / "buyer").symlink_to(Path(OFFICIAL_PYTHON).absolute().parents[1])
    if OFFICIAL_JS:
        (folder / "node_modules").symlink_to(Path(OFFICIAL_JS).resolve() / "node_modules")
