"""What commands write for people: log lines, progress of long work, one line a tick."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from generator.market.recorded.recording import FileUse
    from generator.market.source import Progress
    from generator.runtime.publication import Report


def set_up_logs(form: str) -> None:
    """Send logs and Python's warnings to standard error, as `console` or as `json`, one object a line."""
    renderer: structlog.types.Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )

    common: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,  # the id of the request that is being answered
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]

    structlog.configure(
        processors=[*common, renderer],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )

    # Libraries log by the standard module: their lines take the same form.
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *common],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.captureWarnings(capture=True)


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


def print_files(files: Sequence[FileUse], mended: int) -> None:
    """Print a table of a recording's files on standard error: what each is, what of it is used, and what is not.

    Args:
        files: of the recording.
        mended: how many highs and lows were moved onto the open or close, since they had been rounded.
    """
    from generator.market.recorded.candles import in_words

    head = ("file", "layout", "pair", "from", "to", "rows", "used", "left out")
    rows = [
        (
            file.name,
            file.layout if file.kind in {"candles", "-"} else f"{file.layout}, {file.kind.replace('_', ' ')}",
            file.pair,
            _day(file.first_ms),
            _day(file.last_ms),
            f"{file.rows:,}",
            f"{file.used:,}",
            in_words(file.left_out) or file.passed_over or "-",
        )
        for file in files
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = [
            cell.rjust(width) if name in {"rows", "used"} else cell.ljust(width)
            for name, cell, width in zip(head, row, widths, strict=True)
        ]
        print("  ".join(cells).rstrip(), file=sys.stderr)
    if mended:
        print(f"rows whose rounded high or low was moved onto the open or close: {mended:,}", file=sys.stderr)


def _day(t_ms: int | None) -> str:
    return "-" if t_ms is None else f"{datetime.fromtimestamp(t_ms / 1000, UTC):%Y-%m-%d %H:%M}"


def print_report(report: Report, seconds: float) -> None:
    """Print what a tick did in one line."""
    clock = f"{report.tick_id[9:11]}:{report.tick_id[11:13]}:{report.tick_id[13:15]}Z"
    arena = report.round_id or "no live round"
    print(
        f"{clock} tick {report.generation}  {report.status}  {arena}  "
        f"{report.files} files, {report.written} new, {1000 * seconds:.0f} ms  {report.headline}",
        flush=True,
    )
