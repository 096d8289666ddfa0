"""Every judge reads every answer of a service that runs: the strictest and the oldest client of each family."""

from collections.abc import Iterator

import pytest

from tests.jury.court import WANTED, Court, Judge
from tests.jury.sitting import JUDGES, court

pytestmark = [pytest.mark.outside, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Court]:
    with court(tmp_path_factory.mktemp("court")) as running:
        yield running


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.tool)
def test_no_answer_is_lost_by(judge: Judge, place: Court) -> None:
    if not judge.is_here:
        pytest.skip(WANTED[judge.needs])

    assert judge.judge(place)
