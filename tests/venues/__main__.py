"""What one lying venue can move: `python -m tests.venues`; `-v` names each case."""

import sys
from collections import Counter, defaultdict

from tests.venues.table import ALONE, QUANTITIES, WAYS, Verdict, cases, judge


def main(arguments: list[str]) -> int:
    """Play every case, print the table, and return 1 where one breaks the promise."""
    verdicts = [judge(case) for case in cases()]
    if "-v" in arguments:
        for verdict in verdicts:
            case = verdict.case
            text = "; ".join(verdict.faults[:3]) or "held"
            print(f"{case.venue:9} {case.quantity:26} {case.way:10} {text}")

    print("\n".join(table(verdicts)))
    broken = [verdict for verdict in verdicts if verdict.faults]
    print(f"\n{len(verdicts)} lies, {len(broken)} of them move what they must not")
    return 1 if broken else 0


def table(verdicts: list[Verdict]) -> list[str]:
    """Return the lines of the table: a row for each quantity, a column for each way to lie."""
    by_place: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_place[verdict.case.quantity, verdict.case.way].append(verdict)

    lines = [f"| quantity | venues | {' | '.join(WAYS)} | prices by | bars by |", "|---" * (len(WAYS) + 4) + "|"]
    for quantity, venues in QUANTITIES.items():
        cells = [_cell(by_place.get((quantity, way), [])) for way in WAYS]
        row = [verdict for verdict in verdicts if verdict.case.quantity == quantity]
        moves = [_percent(max(values)) for values in zip(*((v.price_moved, v.bar_moved) for v in row), strict=True)]
        name = f"{quantity} (one venue's)" if quantity in ALONE else quantity
        lines.append(f"| {name} | {len(venues)} | {' | '.join([*cells, *moves])} |")
    return lines


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.3f}%" if fraction < 10 else f"{100 * fraction:.2g}%"


def _cell(verdicts: list[Verdict]) -> str:
    if not verdicts:
        return ""
    counted = Counter("moves" if verdict.faults else "null" if verdict.unknown else "held" for verdict in verdicts)
    return ", ".join(f"{count} {word}" for word, count in sorted(counted.items()))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
