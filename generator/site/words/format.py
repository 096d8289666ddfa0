"""What a template writes of words and times; numbers are written by `generator.catalog.text.figures`."""

from markupsafe import Markup

from generator.catalog.formats import iso, ms_of
from generator.catalog.text import figures
from generator.catalog.text.figures import UNKNOWN


def coded(text: str) -> Markup:
    """Turn text between back-ticks into code; everything else is escaped."""
    code = Markup("<code>{}</code>")
    plain = Markup("{}")
    # Every second part lies between a pair of back-ticks.
    parts = str(text).split("`")
    return Markup("").join((code if number % 2 else plain).format(part) for number, part in enumerate(parts))


def word(value: str | None) -> str:
    """Write a snake-case word of the contract as people do."""
    return UNKNOWN if value is None else value.replace("_", " ")


def when(at: int | str | None) -> Markup:
    """Write a moment, in UTC ms or as published, as a `<time>` element, e.g. 20 Nov 2026, 09:53 UTC."""
    if at is None:
        return Markup("{}").format(UNKNOWN)

    ms = ms_of(at) if isinstance(at, str) else at
    return Markup('<time datetime="{}">{} UTC</time>').format(iso(ms), figures.dated(ms))


def clock(ms: int) -> Markup:
    """Write the time of day only, e.g. 09:53."""
    return Markup('<time datetime="{}">{}</time>').format(iso(ms), figures.clock(ms))
