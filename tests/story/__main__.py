"""Work out every statement of the report a second time: `python -m tests.story --data DIR`.

DIR is a folder with `candles`; at so many moments of its recordings the report is composed, and each of its statements
is held to what the candles, the brain's reading and the record give. Then the prose: words, grade, and how many
sentences any two of ten spread moments of a recording share. Exits 1 with the first faults where there is any.
"""

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from generator.compose.all import compose_free
from generator.compose.body import encode
from generator.compose.paid_human_report import paid_human_report
from tests.story.moments import moments_of, recordings
from tests.story.prose import (
    EASIEST,
    FEWEST_WORDS,
    HARDEST,
    MOST_BYTES,
    MOST_WORDS,
    Prose,
    most_shared,
    prose_of,
    sentences_in,
)
from tests.story.reading import Read, read_report
from tests.story.statements import WORDINGS
from tests.support.ten_moments import Moment

SPREAD = 10  # moments of a recording, of which any two are compared
FREE_EACH = 10  # moment whose free bodies are read too
SHOWN = 40  # faults


def main(
    data: Annotated[Path, typer.Option(help="Folder with `candles`.")],
    moments: Annotated[int, typer.Option(help="How many, over all recordings.")] = 200,
) -> None:
    """Print what was read and every fault; 1 if there is any."""
    folders = recordings(data)
    if not folders:
        print(f"skipped: {data} has no recording of 30 days of 5-minute candles")
        return

    whole = Read()
    # A tenth of the moments for each recording that is short, the rest for the longest.
    short = max(1, moments // 10)
    longest = max(folders, key=lambda folder: (folder / "BTCUSDT.csv.gz").stat().st_size)
    for folder in folders:
        count = moments - short * (len(folders) - 1) if folder == longest else short
        whole = whole.plus(_read(folder, count))

    print(f"all: {whole.statements:,} statements with {whole.figures:,} figures, {len(whole.faults)} faults")
    print(f"{len(whole.wordings)} of {len(WORDINGS)} wordings seen")
    for fault in whole.faults[:SHOWN]:
        print(f"  {fault}")
    sys.exit(1 if whole.faults else 0)


def _read(folder: Path, count: int) -> Read:
    """Read the reports of one recording."""
    began = time.process_time()
    found = Read()
    prose: list[Prose] = []
    sizes = []
    for number, moment in enumerate(moments_of(folder, count)):
        report = paid_human_report(moment.ctx).as_json()["report"]
        one = read_report(moment, report)
        one.faults = [f"{moment.name}: {fault}" for fault in one.faults]
        found = found.plus(one)
        prose.append(prose_of(report))
        sizes.append(len(encode({"report": report})))
        found.faults += _unlike_prose(moment.name, prose[-1])
        if number % FREE_EACH == 0:
            found.faults += _free_too(moment, prose[-1])

    words = [one.words for one in prose]
    grades = [one.grade for one in prose]
    spread = (
        [prose[place * (len(prose) - 1) // (SPREAD - 1)] for place in range(SPREAD)] if len(prose) >= SPREAD else prose
    )
    print(
        f"{folder.name}: {len(prose)} reports, {found.statements:,} statements, {found.figures:,} figures, "
        f"{len(found.faults)} faults; "
        f"{min(words)} to {max(words)} words, grade {min(grades):.1f} to {max(grades):.1f}, "
        f"at most {most_shared(spread)} sentences in two of ten, {max(sizes):,} bytes of {MOST_BYTES:,} "
        f"({time.process_time() - began:.0f} CPU-s)",
        flush=True,
    )
    return found


def _unlike_prose(name: str, prose: Prose) -> list[str]:
    """Return where a report is too short, too long, or not for its readers."""
    faults = []
    if not FEWEST_WORDS <= prose.words <= MOST_WORDS:
        faults.append(f"{name}: {prose.words} words")
    if not EASIEST <= prose.grade <= HARDEST:
        faults.append(f"{name}: grade {prose.grade:.2f}")
    return faults


def _free_too(moment: Moment, prose: Prose) -> list[str]:
    """Return the sentences of a report that are in a free body."""
    free = sentences_in(body.as_json() for body in compose_free(moment.ctx).values())
    return [f"{moment.name}: a free sentence: {text}" for text in sorted(prose.sentences & free)]


if __name__ == "__main__":
    typer.run(main)
