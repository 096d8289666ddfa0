"""How numbers and times are published, rounded here alone; `generator.catalog.text.figures` puts them in words."""

import math
from datetime import UTC, datetime
from functools import partial


def _finite(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return float(value)


def rounded(value: float, decimals: int) -> float:
    """Round to `decimals`; what rounds to -0.0 becomes 0.0.

    >>> rounded(-0.04, 1), rounded(-0.06, 1)
    (0.0, -0.1)
    """
    return round(value, decimals) + 0.0


def fixed(value: float | None, decimals: int) -> float | None:
    """Round to `decimals`; None, NaN and infinities become None, -0.0 becomes 0.0."""
    finite = _finite(value)
    return None if finite is None else rounded(finite, decimals)


def significant(value: float | None, digits: int = 6) -> float | None:
    """Round to significant digits: prices and US dollar amounts."""
    finite = _finite(value)
    return None if finite is None else float(f"{finite:.{digits}g}") + 0.0


price = partial(significant, digits=6)
percent = partial(fixed, decimals=1)  # of a figure on 0..100
change = basis_points = partial(fixed, decimals=2)
score = partial(fixed, decimals=4)  # Brier and log


def share(value: float | None) -> float | None:
    """Turn a fraction 0..1 into percent with one decimal."""
    return None if value is None else fixed(value * 100, 1)


def chance_percent(chance: float) -> float:
    """Return a chance as published, with four decimals, in percent: the one number that every text rounds from.

    >>> chance_percent(0.5095), f"{chance_percent(0.5095):.1f}", f"{100 * 0.5095:.1f}"
    (50.95, '51.0', '50.9')
    """
    return rounded(100 * chance, 2)


def band_percent(band_bps: float) -> float:
    """Return the half-width of a neutral band in percent of the price, from basis points as published.

    >>> band_percent(21.437_8)
    0.2144
    """
    return round((basis_points(band_bps) or 0.0) / 100, 4)


def probabilities(raw: tuple[float, ...]) -> list[float]:
    """Round chances to 4 decimals that still sum to 1 (largest remainder).

    Raises:
        ValueError: they are not chances (negative, not finite, or their sum is not 1 within 0.001).
    """
    total = sum(raw)
    if not all(0 <= value <= 1 for value in raw) or not abs(total - 1) <= 1e-3:
        raise ValueError(f"not probabilities: {raw}")
    scaled = [value / total * 10_000 for value in raw]
    units = [int(value) for value in scaled]
    by_remainder = sorted(range(len(raw)), key=lambda place: (units[place] - scaled[place], place))
    for place in by_remainder[: 10_000 - sum(units)]:
        units[place] += 1
    return [unit / 10_000 for unit in units]


def iso(ms: int) -> str:
    """Write UTC milliseconds as ISO 8601 with `Z`, whole seconds."""
    return datetime.fromtimestamp(ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def iso_of_s(at: float) -> str:
    """Write UTC seconds as ISO 8601 with `Z`, whole seconds."""
    return iso(int(at) * 1000)


def moment(ms: float) -> datetime:
    """Return UTC milliseconds as an aware time."""
    return datetime.fromtimestamp(ms / 1000, UTC)


def ms_of(text: str) -> int:
    """Return a published time in UTC ms."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def iso_or_none(ms: int | None) -> str | None:
    """Write a time that may be unknown."""
    return None if ms is None else iso(ms)
