"""The programs that the docs page shows, run as they stand there by curl, Python and Node.js against `emi up`."""

import html
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.products import PRODUCTS
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


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("docs")
    with emi_up(folder, EMI_STATE_DIR=str(folder / "state")) as up:
        up.wait_text("is up:", within_s=240)
        yield get(f"{up.origin}/docs/")[2].decode()


def _programs(page: str, label: str) -> list[str]:
    found = re.findall(rf'aria-label="{label}"><code>(.*?)</code>', page, re.DOTALL)
    return [html.unescape(program) for program in found]


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_curl_line_answers(page: str) -> None:
    programs = _programs(page, "curl")

    said = [_run(["bash", "-c", f"set -e; {program} -sS"]) for program in programs]

    assert len(said) == len(ENDPOINTS) + len(PRODUCTS)
    assert all('"success":true' in text for text in said[: len(ENDPOINTS)])
    assert all(text.startswith("HTTP/1.1 402") for text in said[len(ENDPOINTS) :])


def test_every_python_program_runs(page: str) -> None:
    programs = _programs(page, 'Python, [^"]+')

    said = [_run([sys.executable, "-c", program]) for program in programs]

    assert len(said) == len(ENDPOINTS) + len(PRODUCTS)
    assert all(text.strip() and "stale" not in text for text in said)


def test_every_javascript_program_runs(page: str, tmp_path: Path) -> None:
    said = []

    for number, program in enumerate(_programs(page, 'JavaScript, [^"]+')):
        file = tmp_path / f"{number}.mjs"
        file.write_text(program)
        said.append(_run(["node", str(file)]))

    assert len(said) == len(ENDPOINTS) + len(PRODUCTS)
    assert all(text.strip() and "stale" not in text and "undefined" not in text for text in said)
    assert all("atomic units of asset" in text for text in said[len(ENDPOINTS) :])
