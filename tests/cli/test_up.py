"""`emi up` watches its children, and says once that one is silent."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.wire.notify import ALIVE, notify_supervisor
from generator.catalog.products import PRODUCTS
from generator.cli.up import SILENT_S, Watchdog, _welcome
from generator.settings import GeneratorSettings
from tests.support import local_servers


def speak(watchdog: Watchdog) -> None:
    before = dict(os.environ)
    os.environ.update(watchdog.address())
    try:
        assert notify_supervisor(ALIVE)
    finally:
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    watched = Watchdog()
    yield watched
    watched.close()


def test_a_child_that_has_not_spoken_yet_may_still_be_starting(watchdog: Watchdog) -> None:
    assert [watchdog.check(now_s) for now_s in (0, SILENT_S, 10 * SILENT_S)] == [None, None, None]


def test_a_child_that_falls_silent_is_reported_once_and_once_when_it_speaks_again(watchdog: Watchdog) -> None:
    speak(watchdog)
    before = [watchdog.check(0), watchdog.check(SILENT_S - 1)]

    silent = [watchdog.check(SILENT_S), watchdog.check(SILENT_S + 1), watchdog.check(9 * SILENT_S)]
    speak(watchdog)
    again = [watchdog.check(9 * SILENT_S + 1), watchdog.check(9 * SILENT_S + 2)]

    assert (before, silent, again) == ([None, None], [False, None, None], [True, None])


def test_a_child_that_speaks_each_minute_is_never_called_silent(watchdog: Watchdog) -> None:
    changes = []
    for minute in range(60):
        speak(watchdog)
        changes.append(watchdog.check(60 * minute))

    assert changes == [None] * 60


def shown_after_the_welcome(lacking: dict[str, str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return what `emi up` says on standard error of a start in which products lack something, by their path."""

    def answer(path: str, _body: bytes | None) -> tuple[int, bytes]:
        if path not in lacking:
            return 402, b"{}"
        return 503, json.dumps({"detail": lacking[path], "reason": "not_for_sale"}).encode()

    with local_servers.answering(answer) as origin:
        _welcome(GeneratorSettings(port=int(origin.rpartition(":")[2]), state_dir=Path("state")), "recorded", None)
    return capsys.readouterr().err.splitlines()


def test_a_start_that_can_sell_nothing_says_on_the_console_what_each_product_lacks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    month = "Needs 30 days of 5-minute bars to say what is sold here; it has 1.8."
    label = "Not sold while the market has no label."
    regime, *others = [product.path for product in PRODUCTS]

    nothing = shown_after_the_welcome({regime: label} | dict.fromkeys(others, month), capsys)
    one = shown_after_the_welcome({regime: label}, capsys)
    everything = shown_after_the_welcome({}, capsys)

    assert nothing == [
        f"emi: not for sale now: market-regime. {label}",
        f"emi: not for sale now: main-brain, atlas, atlas-human-report. {month}",
    ]
    assert (one, everything) == ([f"emi: not for sale now: market-regime. {label}"], [])
