"""The state folder of the oldest version that is upgraded keeps working, with record, payments and signed log."""

import asyncio
import base64
import json
import re
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Final, NamedTuple

import pytest

from gateway.ledger.record import KEEP_ROUNDS
from generator.runtime.leadership import Leadership, open_lease
from generator.runtime.tick import tick
from generator.settings import GeneratorSettings
from generator.site.files.background import BackgroundFiles, StaticFiles
from generator.site.files.pictures import Pictures
from tests.support.clock import ManualClock
from tests.support.gateway_app import gateway_app
from tests.support.processes import emi_here
from tests.support.services import opened
from tests.support.states.packed import unpacked

VERSION: Final = "78f9e24c"
AFTER: Final = datetime(2026, 11, 22, 14, 3, tzinfo=UTC)  # a minute after the state was left
PORT: Final = 20_000  # of the origin that its log is named after
SEED: Final = 2061
HISTORY: Final = {
    "memory": ("rounds", "lessons", "predictions", "ballots", "log_entries", "voters", "hours"),
    "payments": ("payments",),
}


class Upgraded(NamedTuple):
    """What a state held before this program's first tick."""

    rows: dict[str, list[dict[str, Any]]]
    news: dict[str, Any]
    log_size: int
    seen: CompletedProcess[str]  # verified then, by somebody who comes again


GONE: Final = {"squares"}  # of voters' scores: intervals are of whole days now, which come from the ballots


def rows(state: Path) -> dict[str, list[dict[str, Any]]]:
    """Return what must survive, by table."""
    found = {}
    for name, tables in HISTORY.items():
        with sqlite3.connect(f"file:{state / name}.sqlite3?mode=ro", uri=True) as database:
            database.row_factory = sqlite3.Row
            present = {name for (name,) in database.execute("select name from sqlite_master where type = 'table'")}
            for table in present.intersection(tables):
                found[table] = [dict(row) for row in database.execute(f"select * from {table}")]
        database.close()
    return found


def missing(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of `before` that are not in `after`; columns may have been added, and named ones have gone."""
    names = [name for name in before[0] if name not in GONE]
    kept = [{name: row[name] for name in names} for row in after]
    return [row for row in before if {name: row[name] for name in names} not in kept]


def news(state: Path) -> dict[str, Any]:
    """Return the entries of the published feed by their ids.

    The notices at the end of each are the program's own, and change with it.
    """
    path = state / "site" / "current" / "feed.json"
    notices = r"Prices, votes and forecasts [^.]*\.|For educational use only.*?outcome\."
    feed = json.loads(re.sub(notices, "", path.read_text()))
    return {item["id"]: item for item in feed["items"]}


def log_size(state: Path) -> int:
    return int((state / "site" / "current" / "log" / "checkpoint").read_text().splitlines()[1])


def verify(state: Path) -> CompletedProcess[str]:
    """Verify what is published, as somebody who comes again: a later log must continue the one that was seen."""
    return emi_here("verify", str(state / "site"), "--seen", str(state / "seen"), cwd=state)


def settings_of(state: Path) -> GeneratorSettings:
    """Return the settings that the state was made with."""
    return GeneratorSettings(state_dir=state, port=PORT, seed=SEED)


def no_pictures(_: object) -> Pictures:
    return Pictures()


def epoch_in(state: Path) -> int:
    with sqlite3.connect(state / "memory.sqlite3") as memory:
        [epoch] = memory.execute("select value from meta where key = 'fence'").fetchone()
    memory.close()
    return int(epoch)


async def tick_in(state: Path) -> None:
    clock, settings = ManualClock(AFTER), settings_of(state)
    leadership = Leadership(open_lease(settings))
    leadership.floor = epoch_in(state)  # a restored state may have been written under a later one
    with leadership.held(wait_s=0):
        async with opened(state, clock, settings, fence=leadership.fence, every_page=True) as app:
            # What shows the record is made of the old one; OpenAPI and pictures are not.
            background = BackgroundFiles(app.record.memory, static=lambda *_: StaticFiles(), draw=no_pictures)
            app.publisher.background = background
            app.record.memory.claim()
            app.record.published.check()
            await tick(app, clock.now())


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(VERSION, tmp_path_factory.mktemp("version"))


def test_who_paid_is_listed_before_anything_is_upgraded(state: Path) -> None:
    ledger = (state / "payments.sqlite3").read_bytes()

    listed = emi_here("payments", "--json", cwd=state, EMI_STATE_DIR=str(state))
    exported = emi_here("payments", "--export", "csv", cwd=state, EMI_STATE_DIR=str(state))

    paid = [json.loads(line) for line in listed.stdout.splitlines()]
    assert [(row["state"], row["product"]) for row in paid] == [
        ("settled", "x402-atlas"), ("settled", "x402-market-regime"),
    ]  # fmt: skip
    assert len(exported.stdout.splitlines()) == 3, exported.stderr
    assert (state / "payments.sqlite3").read_bytes() == ledger


@pytest.fixture(scope="module")
def upgraded(state: Path) -> Upgraded:
    """The state before and after a tick of this program."""
    before, news_before, size = rows(state), news(state), log_size(state)
    seen = verify(state)

    asyncio.run(tick_in(state))

    return Upgraded(before, news_before, size, seen)


def test_a_tick_keeps_every_round_lesson_prediction_and_payment(state: Path, upgraded: Upgraded) -> None:
    before, size, seen = upgraded.rows, upgraded.log_size, upgraded.seen

    after, verified = rows(state), verify(state)
    live = [row["round_id"] for row in before["rounds"] if row["phase"] in {"live", "open"}]
    before["rounds"] = [row for row in before["rounds"] if row["round_id"] not in live]
    assert {name: len(found) for name, found in before.items() if len(found) < 2} == {}
    assert {name: missing(found, after[name]) for name, found in before.items() if missing(found, after[name])} == {}
    assert {row["round_id"] for row in after["rounds"]} >= set(live)
    assert log_size(state) >= size > 0
    assert (seen.returncode, verified.returncode) == (0, 0), seen.stderr + verified.stdout + verified.stderr
    assert "ballots counted again: 2" in verified.stdout


def test_news_published_before_keeps_its_times_and_rounds_their_words(upgraded: Upgraded, state: Path) -> None:
    before, after = upgraded.news, news(state)

    kept = {name: item for name, item in before.items() if name in after}
    assert len(kept) > 20
    assert {name: item["date_published"] for name, item in kept.items()} == {
        name: after[name]["date_published"] for name in kept
    }
    rounds = {name: item for name, item in kept.items() if item["_emi"]["kind"] == "round"}
    # A round's own page became a part of the Arena's history.
    words = {name: {**item, "url": after[name]["url"]} for name, item in rounds.items()}
    assert words == {name: after[name] for name in rounds} != {}


def test_an_old_payment_gets_its_bytes_again_without_any_request(state: Path) -> None:
    bought = json.loads((state / "bought.json").read_text())
    assert {one["path"] for one in bought} == {"/api/x402-market-regime.php", "/api/x402-atlas.php"}

    async def replay() -> list[tuple[int, bytes]]:
        async with gateway_app(state, vault=None, clock=ManualClock(AFTER)) as app:
            answers = [await app.get(one["path"], PAYMENT_SIGNATURE=one["header"]) for one in bought]
            assert (app.upstream.asked("/verify"), app.upstream.asked("/settle")) == ([], [])
            return [(answer.status_code, answer.content) for answer in answers]

    before = rows(state)["payments"]

    assert asyncio.run(replay()) == [(200, base64.b64decode(one["body"])) for one in bought]
    after = rows(state)["payments"]
    assert all(row.pop("deliveries") for row in before)
    assert missing(before, after) == []
    assert [row["keep_round"] - row["last_valid"] for row in after] == [KEEP_ROUNDS] * 2
