"""Kill gateways one after the other; each next one finishes what the last one left.

`python -m tests.faults.deaths N` kills at N lines spread over the whole of a purchase and prints what became of it.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL

from gateway.devnet.wallet import SignedPayment
from tests.faults.market import Gateway, Market, gateway, market


@dataclass
class Death:
    """One kill and what came after.

    Args:
        option: of the runner.
        payment: the one that it died of.
        code: how the process ended.
        moved: transfers of this payment at its death.
        answers: statuses that the same payment got from the next process.
        transfers: transfers of this payment in the end.
        settles: POST /settle for this payment.
    """

    option: tuple[str, str]
    payment: SignedPayment
    code: int
    moved: int
    answers: list[int] = field(default_factory=list)
    transfers: int = 0
    settles: int = 0


def die_in_turn(on: Market, options: Iterable[tuple[str, str]]) -> list[Death]:
    """Kill a gateway at each point; present each payment again, twice, to the process after."""
    deaths: list[Death] = []
    for option in options:
        on.disarm()
        with gateway(on, *option) as victim:
            _finish(on, victim, deaths)
            before, on.settles = on.transfers(), 0
            payment = on.sign(victim.origin)
            on.arm()
            code = victim.present_to_death(payment)
        deaths.append(Death(option, payment, code, on.transfers() - before, transfers=before))
    on.disarm()
    with gateway(on) as last:
        _finish(on, last, deaths)
    return deaths


def _finish(on: Market, next_one: Gateway, deaths: Sequence[Death]) -> None:
    if deaths:
        death = deaths[-1]
        death.answers = [next_one.present(death.payment)[0] for _ in range(2)]
        death.transfers = on.transfers() - death.transfers
        death.settles = on.settles


def lines_of_a_purchase(on: Market) -> int:
    """Return how many lines of the gateway's code one whole purchase runs."""
    counted = on.folder / "lines"
    on.arm()
    with gateway(on, "--count", str(counted)) as whole:
        assert whole.present(on.sign(whole.origin))[0] == 200
    return int(counted.read_text())


def main(count: int) -> int:
    """Kill that often and print what became of it."""
    with tempfile.TemporaryDirectory() as folder, market(Path(folder)) as on:
        lines = lines_of_a_purchase(on)
        points = sorted({1 + lines * number // count for number in range(count)})
        deaths = die_in_turn(on, [("--line", str(point)) for point in points])
    ends = Counter((death.code, death.moved, tuple(death.answers), death.transfers) for death in deaths)
    print(f"{len(deaths)} kills over the {lines} lines of a purchase")
    for (code, moved, answers, transfers), number in sorted(ends.items()):
        print(f"{number:>5}: exit {code}, transfers at death {moved}, then answers {answers}, transfers {transfers}")
    good = all((death.code, death.answers, death.transfers) == (-SIGKILL, [200, 200], 1) for death in deaths)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
