"""What the market did, as published: counted over its assets, of its futures, and how its sources answered."""

from __future__ import annotations

from dataclasses import dataclass

from generator.catalog.formats import change, iso, iso_or_none, significant
from generator.catalog.words import SourceStatus
from generator.values.published import PUBLISHED


@dataclass(frozen=True, slots=True)
class BreadthCounts:
    """How many assets rose and fell over the last day."""

    __pydantic_config__ = PUBLISHED

    # Those of unknown change are in none.
    up: int
    """Assets that rose by more than 0.1%."""
    down: int
    """Assets that fell by more than 0.1%."""
    flat: int
    """Assets that moved by 0.1% at most."""

    @property
    def known(self) -> int:
        """How many have a known change."""
        return self.up + self.down + self.flat


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenInterest:
    """Perpetual open interest of one venue, the median where several report it."""

    __pydantic_config__ = PUBLISHED

    contracts: float | None
    """Open contracts, counted in coins, 6 significant digits. Each has one long and one short."""
    contracts_change_24h_percent: float | None
    """Change of the contracts over 24 hours, percent, two decimals: what positions did, whatever the price."""
    usd: float | None
    """Their value in US dollars, 6 significant digits."""
    change_24h_percent: float | None
    """Change of the dollar value over 24 hours, percent, two decimals; it moves with the price as well."""
    venues: tuple[str, ...]
    """Venues behind the figures; one far from the median is left out."""
    as_of: str
    """Market time of the newest datum, ISO 8601 UTC."""

    @classmethod
    def of(
        cls,
        contracts: float | None,
        contracts_change: float | None,
        usd: float | None,
        usd_change: float | None,
        venues: tuple[str, ...],
        *,
        as_of_ms: int,
    ) -> OpenInterest:
        """Round open interest in coins and in US dollars, and its changes over 24 hours in percent."""
        return cls(
            contracts=significant(contracts),
            contracts_change_24h_percent=change(contracts_change),
            usd=significant(usd),
            change_24h_percent=change(usd_change),
            venues=venues,
            as_of=iso(as_of_ms),
        )


@dataclass(frozen=True, slots=True)
class Liquidations:
    """Positions closed by force in the last 24 hours."""

    __pydantic_config__ = PUBLISHED

    long_usd_24h: float
    """Long positions, US dollars."""
    short_usd_24h: float
    """Short positions, US dollars."""
    venues: tuple[str, ...]
    """Venues that publish them."""

    @classmethod
    def of(cls, long_usd: float, short_usd: float, venues: tuple[str, ...]) -> Liquidations | None:
        """Round what was liquidated; None where a sum is not finite."""
        longs = significant(long_usd)
        shorts = significant(short_usd)
        if longs is None or shorts is None:
            return None
        return cls(longs, shorts, venues)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """How one market source answered in this tick."""

    __pydantic_config__ = PUBLISHED

    name: str
    """Name of the source."""
    kind: str
    """What it gives, e.g. spot, candles, funding, open_interest."""
    status: SourceStatus
    """ok, stale or failed."""
    as_of: str | None
    """Market time of its newest datum, ISO 8601 UTC; null when it gave none."""
    age_seconds: int | None
    """Market time now minus as_of, seconds."""
    reason: str | None
    """Why it is stale or failed; null when ok."""

    @classmethod
    def at(
        cls,
        now_ms: int,
        name: str,
        kind: str,
        status: SourceStatus,
        as_of_ms: int | None,
        *,
        reason: str | None = None,
    ) -> SourceRow:
        """Return the state of a source at some market time, from the time of its newest datum."""
        age_seconds = None
        if as_of_ms is not None:
            age_seconds = max(0, (now_ms - as_of_ms) // 1000)

        return cls(
            name=name,
            kind=kind,
            status=status,
            as_of=iso_or_none(as_of_ms),
            age_seconds=age_seconds,
            reason=reason,
        )
