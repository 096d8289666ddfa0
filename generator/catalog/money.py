"""USDC for people: exact, from whole atomic units; the one place that writes an amount."""

from decimal import Decimal
from typing import Final

from gateway.wire.networks import USDC_DECIMALS

_CENTS: Final = Decimal("0.01")


def usdc_amount(atomic: int) -> str:
    """Write atomic units as USDC, with two decimals or as many as it takes: 10,000 is `0.01`, 15,000 is `0.015`."""
    amount = Decimal(atomic).scaleb(-USDC_DECIMALS)
    exact = amount.normalize()
    return f"{amount.quantize(_CENTS) if exact == exact.quantize(_CENTS) else exact:f}"


def us_cents(atomic: int) -> str:
    """Write atomic units as cents: `1 US cent`, `1.5 US cents`."""
    cents = (Decimal(atomic).scaleb(2 - USDC_DECIMALS)).normalize()
    return f"{cents:f} US cent{'' if cents == 1 else 's'}"
