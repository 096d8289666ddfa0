"""`emi up` hears its children, and says once that one is silent."""

import os
from collections.abc import Iterator

import pytest

from gateway.wire.notify import ALIVE, notify_supervisor
from generator.cli.up import SILENT_S, Ear


def speak(ear: Ear) -> None:
    before = dict(os.environ)
    os.environ.update(ear.address())
    try:
        assert notify_supervisor(ALIVE)
    finally:
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture
def ear() -> Iterator[Ear]:
    made = Ear()
    yield made
    made.close()


def test_a_child_that_has_not_spoken_yet_may_still_be_starting(ear: Ear) -> None:
    assert [ear.listen(now_s) for now_s in (0, SILENT_S, 10 * SILENT_S)] == [None, None, None]


def test_a_child_that_falls_silent_is_reported_once_and_once_when_it_speaks_again(ear: Ear) -> None:
    speak(ear)
    before = [ear.listen(0), ear.listen(SILENT_S - 1)]

    silent = [ear.listen(SILENT_S), ear.listen(SILENT_S + 1), ear.listen(9 * SILENT_S)]
    speak(ear)
    again = [ear.listen(9 * SILENT_S + 1), ear.listen(9 * SILENT_S + 2)]

    assert (before, silent, again) == ([None, None], [False, None, None], [True, None])


def test_a_child_that_speaks_each_minute_is_never_called_silent(ear: Ear) -> None:
    heard = []
    for minute in range(60):
        speak(ear)
        heard.append(ear.listen(60 * minute))

    assert heard == [None] * 60
