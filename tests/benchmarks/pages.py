"""How long a tick's pages take, next to the same pages rendered plainly. Run: python -m tests.benchmarks.pages.

Processor time of this process: one thread makes the pages, and what else the machine does is left out of it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace

from generator.catalog.discovery import PAGES
from generator.compose.all import compose_free
from generator.site.pages.render import Pages, PageView
from tests.support.builders import CONTEXTS
from tests.support.page_view import predictions, rounds, schemas

TICKS = 60
MINUTE_MS = 60_000


def main() -> None:
    """Measure and print: one process, ticks a minute apart, everything that may change changing."""
    views = [_view(number) for number in range(TICKS)]
    pages, plain = Pages(), Pages()
    first = _ms(lambda: pages.render(views[0]))

    kept = [_ms(lambda view=view: pages.render(view)) for view in views[1:]]  # type: ignore[misc]

    def again(view: PageView) -> None:
        plain._kept.clear()  # the peer: the same templates and twins, nothing kept from the tick before
        plain.render(view)

    every = [_ms(lambda view=view: again(view)) for view in views[1:]]  # type: ignore[misc]
    hourly = [_ms(lambda view=view: pages.render(_hour_over(view))) for view in views[1:8]]  # type: ignore[misc]
    size = sum(len(data) for data in pages.render(views[0]).values())
    rows = [
        (f"{2 * len(PAGES) + 1} files, together", f"{size / 1024:.0f} kB", ""),
        ("first tick of a process, templates compiled", f"{first:.0f} ms", ""),
        (
            f"a tick, median and worst of {len(kept)}",
            f"{statistics.median(kept):.1f} ms, {max(kept):.1f} ms",
            "< 60 ms",
        ),
        ("a tick in which an hour ended", f"{statistics.median(hourly):.1f} ms", "< 60 ms"),
        ("peer: plain Jinja, nothing kept", f"{statistics.median(every):.1f} ms", ""),
        ("share of the peer's time", f"{statistics.median(kept) / statistics.median(every):.2f}", ""),
    ]
    print("| figure | measured | bar |\n|---|---|---|")
    for name, value, bar in rows:
        print(f"| {name} | {value} | {bar} |")


def _view(number: int) -> PageView:
    ctx = CONTEXTS["full"]()
    fresh = replace(ctx.freshness, generated_ms=ctx.freshness.generated_ms + number * MINUTE_MS)
    ctx = replace(ctx, freshness=fresh)
    bodies = {path: body.as_json() for path, body in compose_free(ctx).items()}
    return PageView(ctx, bodies, _SCHEMAS, _ROUNDS, _PREDICTIONS)


def _hour_over(view: PageView) -> PageView:
    """The same tick with another outcome and another lesson."""
    arena = replace(view.ctx.arena, lessons=tuple(replace(one) for one in view.ctx.arena.lessons[1:]))
    due = (replace(view.predictions[0], start_ms=view.ctx.freshness.generated_ms), *view.predictions)
    return replace(view, ctx=replace(view.ctx, arena=arena), predictions=due, rounds=[*view.rounds[1:]])


def _ms(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return 1000 * (time.process_time() - began)


_SCHEMAS = schemas()
_ROUNDS = rounds(500)
_PREDICTIONS = predictions(100)

if __name__ == "__main__":
    main()
