"""The record of whether the regime's label still stands: sums over the hours kept, stored with the newest of them.

Every function takes the connection of the transaction.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import Connection, func, select

from gateway.wire.foreign import read_json
from generator.arena.holds import AHEAD_MS, CLOSE_MS, HoldSums, HoldTotals
from generator.arena.scoring import Ratio
from generator.catalog.durations import DAY_MS
from generator.record.memory import history
from generator.record.memory import tables as t
from generator.record.memory.rows import get_meta, put_meta
from generator.record.memory.totals import cell_of, cells_of

TOTALS_KEY: Final = "regime.holds.1"  # another number where the sums, or what is counted into them, are other ones
CHUNK_MS: Final = 31 * DAY_MS  # of hours that are read at once


def totals(connection: Connection) -> HoldTotals:
    """Return the sums as they are stored."""
    text = get_meta(connection, TOTALS_KEY)
    return HoldTotals() if text is None else _of_json(read_json(text))


def count(connection: Connection) -> None:
    """Count the days that are over since the sums were stored: after an upgrade all of them."""
    newest_ms = history.newest_hour_ms(connection)
    before = totals(connection)
    if newest_ms >= 0 and before.is_behind(newest_ms):
        put_meta(connection, TOTALS_KEY, _text(_counted(connection, before, newest_ms)))


def complaint(connection: Connection) -> str | None:
    """Return why the stored sums are not those of the hours kept; None where they are."""
    stored = totals(connection)
    newest_ms = stored.day * DAY_MS + AHEAD_MS
    again = _counted(connection, HoldTotals(), min(newest_ms, history.newest_hour_ms(connection)))
    if again == stored:
        return None
    return f"the sums of the regime's chances up to day {stored.day} are not those of the hours kept"


def _counted(connection: Connection, sums: HoldTotals, newest_ms: int) -> HoldTotals:
    """Count the days that are over at the time of the newest hour, some weeks at a time."""
    first = select(func.min(t.hours.c.at_ms)).where(t.hours.c.at_ms >= sums.day * DAY_MS)
    begin_ms = int(connection.execute(first).scalar() or newest_ms)

    while sums.is_behind(newest_ms):
        until_ms = min(begin_ms + CHUNK_MS, newest_ms)
        sums = sums.plus(history.hours(connection, begin_ms, until_ms + CLOSE_MS + 1), until_ms)
        begin_ms = sums.day * DAY_MS
    return sums


def _text(sums: HoldTotals) -> str:
    return json.dumps(asdict(sums), separators=(",", ":"))


def _of_json(stored: Mapping[str, Any]) -> HoldTotals:
    live, backtest = ({kind: _sums_of(sums) for kind, sums in stored[part].items()} for part in ("live", "backtest"))
    return HoldTotals(stored["day"], live, backtest, stored["stood"])


def _sums_of(stored: Mapping[str, Any]) -> HoldSums:
    ratios = {name: Ratio(**stored[name]) for name in ("climate", "persistence")}
    return HoldSums(**{**stored, **ratios, "held": cell_of(stored["held"]), "bins": cells_of(stored["bins"])})
