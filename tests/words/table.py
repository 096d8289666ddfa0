"""The table of a sweep: rows by sets and records, planted texts, what is shown and what was aimed at."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from generator.catalog.text.happened import Situation
from generator.catalog.words import MarketSide, VolatilityWord
from tests.words.claims import Row
from tests.words.sweep import Found

KEY = tuple[str, ...]  # set, record
_MARKS: Final = ("<!-- sweep -->", "<!-- end -->")
_SHORT: Final = {
    "binance-spot-5m-2022-08-2023-09": "14 months",
    "binance-spot-5m-2022-10": "2022-10",
    "binance-spot-5m-2025-05": "2025-05",
    "binance-spot-1h-2025H1": "2025 H1, hourly",
    "binance-usdm-perp-1h-wire": "2025-09, hourly",
}


class Aim(NamedTuple):
    """What the specification's own trial of a set gave: changes a day, and shares in percent."""

    situations: float
    rows: tuple[float, ...]
    sides: tuple[float, ...] = ()  # changes a day; flat, rising, falling, both ways
    words: tuple[float, ...] = ()  # changes a day; calm, normal, elevated, extreme


_AIMS: Final = {
    "14 months": Aim(
        4.4, (0.6, 15, 7.6, 3.3, 11, 1.9, 2.1, 2.4, 8, 9, 39), (2.2, 27, 27, 26, 20), (1.5, 23, 47, 23, 7)
    ),
    "2022-10": Aim(5.3, (0.4, 17, 4.9, 2.9, 19, 2.6, 0.4, 1.3, 15, 4, 33), (2.5, 21, 34, 22, 23), (2.8, 6, 24, 43, 26)),
    "2025-05": Aim(4.9, (0.3, 20, 5.1, 0, 21, 4.2, 0, 0, 15, 3, 33), (2.1, 10, 29, 28, 33), (1.9, 24, 55, 15, 6)),
    "2025 H1, hourly": Aim(2.9, (0.3, 13, 1.9, 0.8, 11, 4.4, 2.8, 0.9, 15, 0, 50)),
    "2025-09, hourly": Aim(3.0, (0.6, 17, 3.7, 0.3, 12, 4.5, 2.1, 0.6, 17, 0, 43)),
}
_SIDES: Final = (MarketSide.FLAT, MarketSide.RISING, MarketSide.FALLING, MarketSide.BOTH_WAYS)
_WORDS: Final = (VolatilityWord.CALM, VolatilityWord.NORMAL, VolatilityWord.ELEVATED, VolatilityWord.EXTREME)


def table(found: Mapping[KEY, Found]) -> str:
    """Return everything that sweeps found, in Markdown."""
    by_set: dict[str, dict[str, Found]] = {}
    for (name, record), one in found.items():
        by_set.setdefault(_SHORT.get(name, name), {})[record] = one
    ordered = {name: by_set[name] for name in [*_SHORT.values(), *by_set] if name in by_set}
    return "\n".join((*_complaints(ordered), "", *_planted(ordered), "", *_shown(ordered), "", *_total(ordered)))


def page(file: Path, text: str) -> None:
    """Write the table between its marks on a page."""
    first, last = _MARKS
    whole = file.read_text(encoding="utf-8")
    pattern = re.compile(f"{first}.*?{last}", re.DOTALL)
    file.write_text(pattern.sub(lambda _: f"{first}\n{text}\n{last}", whole), encoding="utf-8")


def _complaints(by_set: Mapping[str, Mapping[str, Found]]) -> Iterator[str]:
    columns = [
        (name, record) for name, records in by_set.items() for record in ("fresh", "week", "full") if record in records
    ]
    yield f"| row | {' | '.join(f'{name}: {record}' for name, record in columns)} |"
    yield f"|---|{'---:|' * len(columns)}"
    for what in ("every", "bars", "texts"):
        counts = (f"{getattr(by_set[name][record], what):,}" for name, record in columns)
        yield f"| *{what}* | {' | '.join(counts)} |"
    for row in Row:
        yield f"| {row} | {' | '.join(str(by_set[name][record].of_row(row)) for name, record in columns)} |"


def _planted(by_set: Mapping[str, Mapping[str, Found]]) -> Iterator[str]:
    yield "| row | planted | found |"
    yield "|---|---:|---:|"
    every = [found for records in by_set.values() for found in records.values()]
    for row in Row:
        planted, caught = (sum(getattr(found, name)[row.name] for found in every) for name in ("planted", "caught"))
        yield f"| {row} | {planted:,} | {caught:,} |"


def _shown(by_set: Mapping[str, Mapping[str, Found]]) -> Iterator[str]:
    """Compare what is shown on a full record with what was aimed at."""
    full = {name: records["full"] for name, records in by_set.items() if "full" in records}
    yield f"| on a full record, in brackets the specification's | {' | '.join(full)} |"
    yield f"|---|{'---:|' * len(full)}"
    rows: list[tuple[str, list[str]]] = []
    for name, found in full.items():
        rows = _join(rows, list(_of_set(found, _AIMS.get(name, Aim(0.0, ())), "hourly" not in name)))
    for what, cells in rows:
        yield f"| {what} | {' | '.join(cells)} |"


def _join(rows: list[tuple[str, list[str]]], more: list[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    if not rows:
        return [(what, [cell]) for what, cell in more]
    return [(what, [*cells, cell]) for (what, cells), (_, cell) in zip(rows, more, strict=True)]


def _of_set(found: Found, aim: Aim, has_words: bool) -> Iterator[tuple[str, str]]:
    bars_a_day = 288 if has_words else 24
    days = found.bars / bars_a_day if found.every == 1 else float("nan")  # changes are counted bar by bar
    known = sum(number for key, number in found.shown.items() if key.startswith("situation/"))
    known -= found.shown[f"situation/{Situation.UNKNOWN.name}"]

    yield "situations a day", _against(found.changes["situation"] / days, aim.situations, 1)
    for place, situation in enumerate(list(Situation)[:-1]):
        share = 100 * found.shown[f"situation/{situation.name}"] / max(known, 1)
        aimed = aim.rows[place] if aim.rows else None
        yield f"{situation.name.lower().replace('_', ' ')}, %", _against(share, aimed, 1)

    yield "sides a day", _against(found.changes["side"] / days, aim.sides[0] if aim.sides else None, 1)
    for place, side in enumerate(_SIDES, 1):
        share = 100 * found.shown[f"side/{side.name}"] / max(found.bars, 1)
        yield f"{side.value.replace('_', ' ')}, %", _against(share, aim.sides[place] if aim.sides else None, 0)
    rated = found.bars - found.shown[f"volatility/{VolatilityWord.UNKNOWN.name}"]
    changes = found.changes["volatility"] / days
    yield "words of volatility a day", _against(changes, aim.words[0], 1) if aim.words else "-"
    for place, word in enumerate(_WORDS, 1):
        share = 100 * found.shown[f"volatility/{word.name}"] / max(rated, 1)
        yield f"{word.value}, %", _against(share, aim.words[place], 0) if aim.words else "-"
    yield "great days of most coins: flat or the other side", f"{found.great_days_flat} of {found.great_days:,}"
    yield "longest headline", f"{found.longest} characters"
    yield "Bitcoin's 90% range of an hour held", f"{100 * found.held / found.ranges:.1f}%" if found.ranges else "-"


def _against(value: float, aimed: float | None, decimals: int) -> str:
    if value != value:  # noqa: PLR0124 -- NaN
        return "-"
    return f"{value:.{decimals}f}" if aimed is None else f"{value:.{decimals}f} ({aimed:g})"


def _total(by_set: Mapping[str, Mapping[str, Found]]) -> Iterator[str]:
    """Sum it all up."""
    wrong = sum(found.wrong.total() for records in by_set.values() for found in records.values())
    texts = sum(found.texts for records in by_set.values() for found in records.values())
    yield f"{wrong} complaints in {texts:,} texts."
