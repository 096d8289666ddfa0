"""One tick, whole: what it publishes, and what it never loses when something fails."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from gateway.wire.receipts import PublicKey, ReceiptKey, did_document
from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.words import SourceMode
from generator.runtime.app import build
from generator.runtime.startup import backtest_hours
from generator.runtime.tick import tick
from generator.settings import GeneratorSettings
from tests.support.clock import NOON, ManualClock
from tests.support.services import MINUTE, body, opened, run, shared_pages

PUBLIC = PublicKey(ReceiptKey(bytes(32)).public.raw, "2026-11-20T11:00:00Z")


def test_every_file_of_a_release_and_the_vault_are_of_one_tick(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            await tick(app, clock.now())
            await tick(app, clock.step(MINUTE))

    run(work)

    current = tmp_path / "site" / "current"
    freshness = [json.loads(path.read_text())["freshness"] for path in current.glob("a*/*.php")]
    assert len(freshness) == len(ENDPOINTS)
    assert {(row["tick_id"], row["generation"]) for row in freshness} == {("20261120T120100Z", "000000000002")}
    manifest = json.loads((tmp_path / "vault" / "manifest.json").read_text())
    assert manifest["generation"] == "000000000002"
    origin, size, root = (current / "log" / "checkpoint").read_text().splitlines()[:3]
    assert manifest["checkpoint"] == {"origin": origin, "size": int(size), "root": root}
    assert not any("snapshots" in str(path) for path in (tmp_path / "site").rglob("*"))


def test_the_first_tick_after_a_start_says_null_of_what_changed_and_the_next_a_list(tmp_path: Path) -> None:
    said = []

    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            for _ in range(2):
                await tick(app, clock.step(MINUTE))
                said.append(body(tmp_path, "/api/market-regime.php")["changed_since_last_tick"])

    run(work)

    assert said == [None, []]


def test_public_receipt_keys_are_published_also_when_their_file_is_damaged_later(tmp_path: Path) -> None:
    documents = []

    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            for text in (None, f"{PUBLIC.line}\n", "damaged"):
                if text is not None:
                    app.settings.receipt_keys_path.parent.mkdir(exist_ok=True)
                    app.settings.receipt_keys_path.write_text(text)
                await tick(app, clock.step(MINUTE))
                document = tmp_path / "site" / "current" / ".well-known" / "did.json"
                documents.append(json.loads(document.read_text()) if document.exists() else None)

    run(work)

    expected = did_document(GeneratorSettings().origin, [PUBLIC])
    assert documents == [None, expected, expected]


def write_candles(folder: Path, days: int, asset: str = "BTC", *, flat: bool = False, step_ms: int = 300_000) -> None:
    """Write a random walk of candles from 2026-01-01 on, or a price that never moves."""
    steps = np.random.default_rng(5).normal(0, 0.001, days * 86_400_000 // step_ms)
    closes = 100 * np.exp(np.cumsum(0 * steps if flat else steps))
    wick = 0.0 if flat else 0.001
    rows = ["ts,open,high,low,close,volume"]
    for place, close in enumerate(closes):
        t = 1_767_225_600_000 + place * step_ms
        rows.append(f"{t},{close:.4f},{close * (1 + wick):.4f},{close * (1 - wick):.4f},{close:.4f},10")
    folder.mkdir(exist_ok=True)
    (folder / f"{asset}USDT.csv").write_text("\n".join(rows))


def recorded(folder: Path, **candles: Any) -> GeneratorSettings:
    """Return the settings of a generator that replays candles written for it."""
    write_candles(folder / "candles", **candles)
    return GeneratorSettings(state_dir=folder / "state", source=SourceMode.RECORDED, data_dir=(folder / "candles",))


def test_a_replay_moved_elsewhere_voids_what_was_under_way_and_says_why(tmp_path: Path) -> None:
    settings = recorded(tmp_path, days=14)

    async def work() -> None:
        clock = ManualClock()
        first = datetime(2026, 1, 9, 12, tzinfo=UTC)
        async with opened(tmp_path, clock, settings, at=first, days=4) as app:
            for _ in range(2):
                await tick(app, clock.now())
                clock.step(timedelta(hours=1))
        async with opened(tmp_path, clock, settings, at=first - timedelta(days=2), days=4) as app:
            report = await tick(app, clock.now())
        assert not report.headline.startswith(("No fresh prices", "Just started"))

    run(work)

    rows = body(settings.state_dir, "/arena/rounds.json")["rounds"]
    assert {row["void_reason"] for row in rows} == {"the replay was moved to another market time"}
    replay = body(settings.state_dir, "/api/market-regime.php")["replay"]
    assert replay["market_time"] == "2026-01-07T12:00:00Z"


@pytest.mark.parametrize("begins", [datetime(2026, 1, 9, 12, tzinfo=UTC), None])
def test_a_recording_that_was_never_played_begins_with_two_days_of_backtest(
    tmp_path: Path, begins: datetime | None
) -> None:
    async def work() -> None:
        app = build(recorded(tmp_path, days=14), ManualClock(), begins, days=3)
        assert await backtest_hours(app, NOON) == 48
        await app.aclose()

    run(work)


def test_hours_in_which_a_recording_has_too_few_bars_for_a_forecast_are_not_played(tmp_path: Path) -> None:
    settings = recorded(tmp_path, days=4)

    async def work() -> None:
        begins = datetime(2026, 1, 1, 20, tzinfo=UTC)
        async with opened(tmp_path, ManualClock(), settings, hours=None, at=begins, days=3) as app:
            await tick(app, NOON)

    run(work)

    state = settings.state_dir
    rows = body(state, "/arena/rounds.json")["rounds"]
    assert {(row["phase"], row["void_reason"]) for row in rows} == {("resolved", None)}
    assert all(row["warm_up"] and not row["log_entries"] for row in rows)
    assert body(state, "/api/statistics.php")["arena"]["record"]["resolved"] == 0
    assert body(state, "/api/market-regime.php")["replay"]["market_time"] == "2026-01-01T20:00:00Z"


def test_on_hourly_data_the_brain_says_nothing_and_nothing_is_scored_or_learned(tmp_path: Path) -> None:
    settings = recorded(tmp_path, days=14, step_ms=3_600_000)

    async def work() -> None:
        clock = ManualClock()
        begins = datetime(2026, 1, 9, 12, tzinfo=UTC)
        async with opened(tmp_path, clock, settings, at=begins, days=8, every_page=True) as app:
            for _ in range(5):
                await tick(app, clock.now())
                clock.step(60 * MINUTE)

    run(work)

    state = settings.state_dir
    statistics = body(state, "/api/statistics.php")
    assert statistics["main_brain"]["record"]["predictions"] == statistics["arena"]["record"]["predictions"] == 0
    assert (statistics["main_brain"]["how_far"]["resolved"], statistics["main_brain"]["how_far"]["warm_up"]) == (0, 0)
    assert statistics["teacher_brain"]["metrics"]["lessons_total"] == 0
    site = state / "site" / "current"
    assert "Nothing is forecast, so nothing is scored" in (site / "index.html").read_text()
    reasoning = body(state, "/api/reasoning.php")["reasoning"]
    assert (reasoning["prediction"], reasoning["confidence"], reasoning["brain_silent"]) == ("NEUTRAL", None, True)
    shared = body(state, "/arena/get_shared_intelligence.php")
    snapshot = shared["brain_snapshot"]
    assert (snapshot["prediction"], snapshot["confidence"], snapshot["brain_silent"]) == ("NEUTRAL", None, True)
    assert (shared["combined_intelligence"]["brain"], shared["combined_intelligence"]["agreement"]) == (None, None)
    reasons = {row["void_reason"] for row in body(state, "/arena/rounds.json")["rounds"]}
    assert reasons == {"no forecast: the brain had none before the start"}


@pytest.mark.parametrize(
    ("flat", "lively"),
    [(("BTC",), ()), (ASSETS, ()), (("BTC",), ASSETS[1:])],
    ids=["one asset alone", "all seven", "one of seven"],
)
def test_a_market_that_never_moves_is_published_with_every_page(
    tmp_path: Path, flat: tuple[str, ...], lively: tuple[str, ...]
) -> None:
    for asset in (*flat, *lively):
        settings = recorded(tmp_path, days=4, asset=asset, flat=asset in flat)

    async def work() -> None:
        clock = ManualClock()
        begins = datetime(2026, 1, 3, 12, tzinfo=UTC)
        async with opened(tmp_path, clock, settings, at=begins) as app:
            for _ in range(2):
                await tick(app, clock.now())
                clock.step(timedelta(hours=1))
            app.publisher.pages = shared_pages()
            await tick(app, clock.now())
            assert not any(app.publisher.last_good.failures.values())

    run(work)

    assert body(settings.state_dir, "/status.json")["generation"] == "000000000003"
    assert b"</html>" in (settings.state_dir / "site" / "current" / "index.html").read_bytes()


def test_a_move_to_another_address_leaves_the_ids_of_the_feeds(tmp_path: Path) -> None:
    ids: list[str | None] = []

    async def work() -> None:
        clock = ManualClock()
        for base_url in ("https://old.example", "https://new.example"):
            settings = GeneratorSettings(state_dir=tmp_path, base_url=base_url, contact="ops@old.example")
            async with opened(tmp_path, clock, settings) as app:
                await tick(app, clock.step(MINUTE))
            atom = ET.parse(tmp_path / "site" / "current" / "feed.xml")
            ids.append(atom.findtext("{http://www.w3.org/2005/Atom}id"))

    run(work)

    assert ids == ["tag:old.example,2026:feed"] * 2
