"""The 5-minute bars that ticks saw, two months of them, so that a month can be exported and read again.

Nothing is published from them. Rows are forgotten by number and never by clock, which may jump.
"""

import json
from collections.abc import Iterable
from math import isfinite, nan
from typing import Final

import numpy as np
from sqlalchemy import Connection, func, select

from gateway.wire.foreign import read_json
from generator.market.bars import BAR_FIELDS, BAR_MS, BARS_A_DAY, BarFrame
from generator.record.memory import tables as t
from generator.record.memory.rows import forget, insert_all

KEPT: Final = 62 * BARS_A_DAY


def store(connection: Connection, seen: BarFrame) -> None:
    """Keep the 5-minute bars that are newer than all that is kept; the same again changes nothing."""
    if seen.interval_ms != BAR_MS:
        return

    # A tick sees weeks of bars; all but the last are kept already.
    newest = connection.execute(select(func.max(t.bars.c.opens_ms))).scalar()
    fresh = seen if newest is None else seen.after(int(newest))
    rows = [
        {"opens_ms": opens_ms, "assets": json.dumps(_plain(fresh, place), separators=(",", ":"))}
        for place, opens_ms in enumerate(fresh.t.tolist())
    ]

    if rows:
        insert_all(connection, t.bars, rows)
        forget(connection, t.bars, KEPT)


def _plain(frame: BarFrame, place: int) -> dict[str, list[float | None]]:
    """Return one bar as JSON has it: by asset the values of `BAR_FIELDS`, null where unknown."""
    return {
        asset: [
            value if isfinite(value) else None
            for value in (float(frame.fields[name][place, column]) for name in BAR_FIELDS)
        ]
        for column, asset in enumerate(frame.assets)
    }


def kept(connection: Connection, assets: tuple[str, ...], since_ms: int, until_ms: int) -> BarFrame:
    """Return the bars kept that open in [since, until), NaN where unknown."""
    c = t.bars.c
    query = select(c.opens_ms, c.assets).where(c.opens_ms >= since_ms, c.opens_ms < until_ms).order_by(c.opens_ms)
    return _frame(assets, [(int(row.opens_ms), read_json(row.assets)) for row in connection.execute(query)])


def _frame(assets: tuple[str, ...], rows: Iterable[tuple[int, dict[str, list[float | None]]]]) -> BarFrame:
    rows = list(rows)
    nothing: list[float | None] = [None] * len(BAR_FIELDS)
    values = [[_numbers(bar.get(asset, nothing)) for asset in assets] for _, bar in rows]
    table = np.array(values, dtype=np.float64).reshape(len(rows), len(assets), len(BAR_FIELDS))
    opens = np.array([opens_ms for opens_ms, _ in rows], dtype=np.int64)
    return BarFrame(assets, opens, {name: table[:, :, place] for place, name in enumerate(BAR_FIELDS)})


def _numbers(values: Iterable[float | None]) -> list[float]:
    return [nan if value is None else value for value in values]
