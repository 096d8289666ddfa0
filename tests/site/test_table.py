"""A file that is new has a row in the catalog and one in the table of files; everything else reads these."""

import subprocess
import sys
from typing import Final

from generator.catalog.discovery import JSON_FILES, LASTING_JSON, NOW_FILES
from generator.catalog.downloads import DOWNLOADS
from generator.site.files.table import FILES, made_each_tick

ANOTHER: Final = """
import json
from datetime import UTC, datetime
from pathlib import Path
import tempfile

from generator.catalog import downloads
downloads.DOWNLOADS += (downloads.PublicFile("/another.json", "application/json", "What is new"),)

from generator.site.files import table
from generator.site.files.record import DailyFile, daily_file
table.FILES += (table.File("/another.json", DailyFile, "What is new", make=daily_file, is_lasting=True),)

from generator.catalog.words import SourceMode
from generator.release.check import Checker
from generator.runtime.bootstrap import bootstrap_files
from tests.support.builders import site

files = bootstrap_files(site(), SourceMode.SIMULATED, datetime(2026, 11, 20, tzinfo=UTC))
assert json.loads(files["/another.json"])["questions"] == [], "published"
Checker().check("000000000000", files)
assert "- [/another.json]" in files["/llms-full.txt"].decode(), "found by discovery"
assert "/another.json" in files["/track-record/index.html"].decode(), "listed by its page"
assert "/another.json" in json.loads(files["/openapi/files.json"])["paths"], "described"

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from generator.runtime.tick import tick
from tests.support.clock import ManualClock
from tests.support.services import opened

seen = set()

def add(files, lasting=()):
    seen.update(lasting)
    return dict(files)

async def work(folder):
    clock = ManualClock()
    async with opened(folder, clock, hours=3) as app:
        app.publisher.variants = SimpleNamespace(add=add, close=lambda: None)
        await tick(app, clock.step(timedelta(minutes=1)))

with tempfile.TemporaryDirectory() as folder:
    asyncio.run(work(Path(folder)))
    assert (Path(folder) / "site" / "current" / "another.json").is_file(), "published by a tick"
assert "/another.json" in seen, "lasting"
"""


def test_every_file_that_a_tick_makes_is_known_to_the_catalog() -> None:
    made = {file.path for file in made_each_tick()}
    lasting = {file.path for file in made_each_tick() if file.is_lasting}

    assert len(made) >= 8
    assert lasting < made
    assert lasting <= {file.path for file in DOWNLOADS}
    now = {file.path for file in NOW_FILES}
    assert {path for path in made if path.endswith(".json")} - now <= LASTING_JSON < JSON_FILES
    assert now <= (made & JSON_FILES) - LASTING_JSON


def test_every_json_file_that_seldom_changes_has_a_type() -> None:
    slices = {path for path in LASTING_JSON if path.startswith("/openapi")}
    described = {file.path for file in FILES}

    assert LASTING_JSON - slices - described == {"/api/dictionary.json"}


def test_two_rows_are_all_that_another_file_needs() -> None:
    done = subprocess.run([sys.executable, "-c", ANOTHER], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr[-2000:]
