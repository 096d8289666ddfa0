"""Progress of long work: a bar on a terminal, one line per finished piece elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from generator.market.source import Progress


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Yield a callable (done, total, what) that shows progress on standard error."""
    if not sys.stderr.isatty():
        yield _plain
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, object] = {}

        def show(done: int, total: int, what: str) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)  # type: ignore[arg-type]

        yield show


def _plain(done: int, total: int, what: str) -> None:
    if done == total:
        print(f"{what}: {total} of {total}", file=sys.stderr)
