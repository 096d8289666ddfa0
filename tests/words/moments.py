"""Print the texts of named moments, to be read aloud: `python -m tests.words.moments --data DIR > PAGE`.

A crash and its days after, a bank run, a coin that stood out, a quiet day, a weekend, a month's turn, a hole, and a
fresh start. Each is read from fifteen days of bars up to it; a fresh start from its own first bar.
"""

from pathlib import Path
from typing import Annotated, Final, NamedTuple

import numpy as np
import typer

from generator.catalog.text.now import asset_line, call_sentence, first_screen, headline, regime_summary
from tests.words.__main__ import read
from tests.words.claims import Ground
from tests.words.raw import Raw
from tests.words.said import every_bar
from tests.words.sweep import history_of, texts_of, untrue

LONG: Final = "binance-spot-5m-2022-08-2023-09"
BARS_A_DAY: Final = 288


class Moment(NamedTuple):
    """A bar that closed at some time, with so many days of bars before it."""

    name: str
    at: str
    days: float = 15.0


MOMENTS: Final = (
    *(Moment("the crash of November 2022", at) for at in ("2022-11-08T12:00", "2022-11-09T06:00", "2022-11-09T22:00")),
    *(Moment("its days after", at) for at in ("2022-11-10T22:00", "2022-11-12T12:00", "2022-11-14T07:00")),
    *(Moment("the bank run", at) for at in ("2023-03-10T06:00", "2023-03-11T12:00", "2023-03-12T22:00")),
    *(Moment("a ruling for XRP", at) for at in ("2023-07-13T16:00", "2023-07-13T20:00")),
    Moment("a quiet day", "2023-08-13T12:00"),
    *(Moment("the fall of 17 August", at) for at in ("2023-08-17T20:00", "2023-08-17T21:45", "2023-08-17T22:00")),
    Moment("an hour later", "2023-08-17T23:00"),
    Moment("a ruling for a fund", "2023-08-29T15:00"),
    Moment("a weekend", "2023-08-05T15:00"),
    Moment("a month's turn", "2023-03-01T00:05"),
    Moment("a hole", "2023-03-24T13:55"),
    Moment("after a hole", "2023-03-24T15:05"),
    Moment("a fresh start, half an hour", "2023-06-10T05:00", 0.5 / 24),
    Moment("a fresh start, five hours", "2023-06-10T05:00", 5 / 24),
    Moment("a fresh start, 22 hours", "2023-06-10T05:00", 22 / 24),
    Moment("a fresh start, two days", "2023-06-10T05:00", 2.2),
)


def main(*, data: Annotated[Path, typer.Option(help="Folder of recordings of candles, a folder each.")]) -> None:
    """Print each moment's texts, and what is untrue in them."""
    frame = read(data / LONG)
    closed = frame.t + frame.interval_ms
    for moment in MOMENTS:
        at_ms = int(np.datetime64(moment.at, "ms").astype(np.int64))
        end = int(np.searchsorted(closed, at_ms, side="right"))
        part = frame.rows(max(0, end - round(moment.days * BARS_A_DAY)), end)
        said = next(iter(every_bar(part, len(part) - 1)))
        ground = Ground(Raw(history_of(part), said.row), said.published)
        wrong = [str(one) for kind, text in texts_of(said.facts, 0) for one in untrue(kind, text, ground)]

        print(f"### {moment.name}: {str(np.datetime64(int(closed[end - 1]), 'ms'))[:16]} UTC\n")
        print(f"**{headline(said.facts)}.** ({said.facts.situation.name.lower().replace('_', ' ')})\n")
        print(f"- First screen: {first_screen(said.facts)}")
        print(f"- State: {regime_summary(said.facts)}")
        print(f"- Call: {call_sentence(said.facts) or 'none'}")
        for asset in ("BTC", "XRP"):
            print(f"- {asset}: {asset_line(said.facts, asset)}")
        print(f"- Untrue: {'; '.join(wrong) or 'nothing'}\n", flush=True)


if __name__ == "__main__":
    typer.run(main)
