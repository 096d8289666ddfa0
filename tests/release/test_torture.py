"""The torture in its short form, and that it sees what it looks for."""

from typing import Any

import pytest

from tests.torture import FAULTS, Reader, body, torture

PATH = "/api/market-regime.php"


def test_readers_see_whole_sets_and_nothing_else_while_releases_come() -> None:
    seen = torture(seconds=1, readers=1, rate=10)

    assert seen["sets"]
    assert not FAULTS & set(seen)


class Served(Reader):
    """A reader of answers that are made here."""

    answers: dict[str, Any]

    def _fetch(self, url: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        status, generation, data, etag, date = self.answers[url.split("/", 3)[-1] if url.startswith("/g/") else url]
        return status, {"x-generation": f"{generation:012d}", "etag": etag, "last-modified": date}, data


def counted(*answers: tuple[int, int, bytes, str, str]) -> dict[str, int]:
    """Read the same path once for every answer."""
    reader = Served("http://nowhere")
    for answer in answers:
        reader.answers = {PATH.lstrip("/"): answer}
        reader.get(f"/g/{answer[1]:012d}{PATH}", PATH, "identity", answer[1])
    return {name: count for name, count in reader.counts.items() if name != "requests"}


GOOD = body(PATH, 7)


@pytest.mark.parametrize(
    ("answers", "fault"),
    [
        ([(200, 7, GOOD[:-20], '"a"', "d")], "torn files"),
        ([(200, 7, GOOD.replace(b"calm", b"cold"), '"a"', "d")], "torn files"),
        ([(200, 8, GOOD, '"a"', "d")], "mixed sets through /g/"),
        ([(200, 7, GOOD, '"a"', "d"), (200, 8, body(PATH, 8), '"a"', "e")], "same ETag, other body"),
        ([(200, 7, GOOD, '"a"', "d"), (200, 8, body(PATH, 8), '"b"', "d")], "same Last-Modified, other body"),
        ([(404, 7, b"", "", "")], "answers that are not 200 or 304"),
    ],
)
def test_a_fault_is_counted_as_what_it_is(answers: list[tuple[int, int, bytes, str, str]], fault: str) -> None:
    assert counted(*answers) == {fault: 1}
