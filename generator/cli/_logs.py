"""Log lines for the operator: readable on a console, JSON for machines; libraries' lines are formatted alike."""

from __future__ import annotations

import logging
import sys

import structlog


def set_up_logs(form: str) -> None:
    """Send structlog, the standard library's loggers and Python's warnings to standard error.

    Args:
        form: `console`, or `json` for one object a line.
    """
    renderer: structlog.types.Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    common: list[structlog.types.Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*common, renderer],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *common],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.captureWarnings(capture=True)
