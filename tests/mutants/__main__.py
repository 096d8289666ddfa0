"""What the tests do not notice.

    python -m tests.mutants [--seed N ...] [--room ROOM ...] [--path PATH] [--count K] [--only drawn|fixed] [--most S]
        [--list]

It changes the source in one place at a time, in a copy, and runs those tests of its room that run a line where the
change may show, or that start a process: first the 44 fixed mutations, survivors first, then places that are drawn with
a seed. It fails where a fixed one lives or is not found any more, or where fewer than 95 % of those that were drawn are
caught. What is never drawn is in `excluded.py`, each with its reason. By hand. Which test runs which line is found out
once, and kept in `.mutants_cache` until a source changes.
"""

import argparse
import math
import random
import signal
import sys
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Final

from tests.mutants.excluded import is_excluded
from tests.mutants.fixed import FIXED, find
from tests.mutants.rooms import GROUPS, ROOMS, ROOT
from tests.mutants.run import Mutant, NotComparableError, Outcome, copied
from tests.mutants.sites import compiles, sites

TO_CATCH: Final = 0.95
NORMAL_95: Final = 1.959964
Result = tuple[Mutant, Outcome]


def draw(room: str, count: int, seed: int, under: Path = ROOT) -> list[Mutant]:
    """Draw places of one room, or of its sources under a path; the same ones for the same seed and sources."""
    files = [file for file in ROOMS[room].files() if file.is_relative_to(under)]
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    places = [
        (file, site)
        for file, text in texts.items()
        for site in sites(text)
        if not is_excluded(file.relative_to(ROOT), text, site)
    ]
    random.Random(f"{seed} {room}").shuffle(places)

    sound = ((file, site) for file, site in places if compiles(texts[file], site))
    drawn = [Mutant(room, file.relative_to(ROOT), site) for file, site in islice(sound, count)]
    return sorted(drawn, key=lambda mutant: (mutant.path, mutant.site.start, mutant.site.after))


def fixed(rooms: Sequence[str]) -> tuple[list[Mutant], list[str]]:
    """Return the fixed mutations of some rooms, and what is not found of them."""
    found, lost = [], []
    for row in FIXED:
        if row.room in rooms:
            place = find(row, ROOMS[row.room].files())
            if place is None:
                lost.append(f"{row.room}: {row.function or 'module'}: {row.before!r} ({row.what})")
            else:
                found.append(Mutant(row.room, place[0].relative_to(ROOT), place[1], row.what))
    return found, lost


def draw_all(rooms: Sequence[str], count: int | None, seed: int, under: Path) -> list[Mutant]:
    """Draw places of several rooms: as many as each room says, or `count` of each."""
    counts = {room: ROOMS[room].drawn if count is None else count for room in rooms}
    return [mutant for room in rooms for mutant in draw(room, counts[room], seed, under)]


def run(mutants: Sequence[Mutant], most_s: float = math.inf) -> dict[Mutant, Outcome]:
    """Run the tests of each, and say what became of it."""
    outcomes: dict[Mutant, Outcome] = {}
    with copied(ROOT, most_s) as copy:
        for number, mutant in enumerate(mutants, 1):
            outcome = copy.outcome(mutant)
            outcomes[mutant] = outcome
            verdict = f"caught by {outcome.noticed_by}" if outcome.noticed_by else "SURVIVED"
            print(f"[{number}/{len(mutants)}] {mutant.room}: {mutant}: {verdict} ({outcome.seconds:.0f} s)", flush=True)
    return outcomes


def table(results: Iterable[Result]) -> str:
    """Return caught and drawn of each room and group, with the share's 95% interval, the fixed ones and survivors."""
    drawn = [result for result in results if not result[0].what]
    named = [result for result in results if result[0].what]
    lines = [f"{'':24}{'caught':>8}{'of':>6}{'share':>8}{'interval':>14}"]
    for group in GROUPS:
        for rooms in (*((room,) for room in group), group):
            rows = [result for result in drawn if result[0].room in rooms]
            if rows and not (len(rooms) > 1 and len({mutant.room for mutant, _ in rows}) == 1):
                lines.append(_line(", ".join(rooms), rows))
    lines += [_line(name, rows) for name, rows in (("drawn", drawn), ("fixed", named)) if rows]
    alive = [
        f"  {mutant.room}: {mutant} {mutant.what}".rstrip() for mutant, outcome in results if not outcome.noticed_by
    ]
    return "\n".join([*lines, "", f"survived: {len(alive)}", *alive])


def _line(name: str, rows: Sequence[Result]) -> str:
    caught = sum(bool(outcome.noticed_by) for _, outcome in rows)
    low, high = wilson(caught, len(rows))
    return f"{name:24}{caught:8}{len(rows):6}{caught / len(rows):8.0%}{f'{low:.0%} to {high:.0%}':>14}"


def wilson(caught: int, of: int) -> tuple[float, float]:
    """Return the 95% interval of a share (Wilson, 1927).

    >>> low, high = wilson(57, 60)
    >>> round(low, 3), round(high, 3)
    (0.863, 0.983)
    """
    share = caught / of
    middle = (share + NORMAL_95**2 / (2 * of)) / (1 + NORMAL_95**2 / of)
    half = NORMAL_95 / (1 + NORMAL_95**2 / of) * math.sqrt(share * (1 - share) / of + NORMAL_95**2 / (4 * of**2))
    return middle - half, middle + half


def holds(results: Sequence[Result]) -> bool:
    """Return whether all fixed ones were caught and enough of those that were drawn."""
    drawn = [bool(outcome.noticed_by) for mutant, outcome in results if not mutant.what]
    named = [bool(outcome.noticed_by) for mutant, outcome in results if mutant.what]
    return all(named) and sum(drawn) >= TO_CATCH * len(drawn)


def main() -> int:
    """Draw, run, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, action="append", help="of what is drawn; another one each time without it")
    parser.add_argument("--room", choices=ROOMS, action="append", help="only this room; may be repeated")
    parser.add_argument("--count", type=int, help="how many are drawn in each room, instead of 150 in all")
    parser.add_argument("--path", default="", help="only sources under this path: with a large --count, all of a file")
    parser.add_argument("--most", type=float, default=math.inf, help="seconds of tests that a mutant must live through")
    parser.add_argument("--only", choices=("drawn", "fixed"))
    parser.add_argument("--list", action="store_true", help="print what would be changed, and run nothing")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # as Ctrl-C does: tests end, the copy goes
    rooms = asked.room or list(ROOMS)
    seeds = asked.seed or [random.SystemRandom().randrange(10**6)]
    print("seed", *seeds)

    named, lost = fixed(rooms) if asked.only != "drawn" else ([], [])
    drawn = {
        seed: [] if asked.only == "fixed" else draw_all(rooms, asked.count, seed, ROOT / asked.path) for seed in seeds
    }
    mutants = list(dict.fromkeys([*named, *chain.from_iterable(drawn.values())]))
    for text in lost:
        print(f"NOT FOUND, rewrite its row in tests/mutants/fixed.py: {text}")
    if asked.list:
        print("\n".join(f"{mutant.room}: {mutant} {mutant.what}".rstrip() for mutant in mutants))
        return bool(lost)

    try:
        outcomes = run(mutants, asked.most)
    except NotComparableError as error:
        print(error)
        return 2

    is_held = not lost
    for seed in seeds:
        results = [(mutant, outcomes[mutant]) for mutant in [*named, *drawn[seed]]]
        print(f"\nseed {seed}\n{table(results)}")
        is_held = is_held and holds(results)
    return int(not is_held)


if __name__ == "__main__":
    sys.exit(main())
