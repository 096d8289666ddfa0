"""From when on something is a fault: one table for `emi watch`, the doctor, `--before-live`, /readyz and Prometheus.

Seconds, days or shares as the names say. site/edge/prometheus/alerts.yml repeats them; a test compares both.
"""

from typing import Final

# Releases and what is sold of them.
TICK_AGE_S: Final = 120.0
"""A tick a minute, published within its deadline of 50 s: what is older was followed by none."""
VAULT_AGE_S: Final = 300.0
AHEAD_S: Final = 60.0
"""How far what is for sale may be in the future of the clock that looks at it."""
STORE_REFUSALS: Final = 2
"""Ticks in a row that an object store did not take."""
FEWEST_VENUES: Final = 2

# What a sale needs.
UNANSWERED_S: Final = 60.0
"""Since the last good answer of the facilitator, the chain or the ledger's own probe."""
UNKNOWN_S: Final = 3_600.0
"""How long a payment may have no known outcome."""

# The machine.
CLOCK_STEP_S: Final = 2.0
FULL_PERCENT: Final = 5.0
FULL_BYTES: Final = 256 * 1024 * 1024
CERTIFICATE_DAYS: Final = 14

# What is copied, read to its end and signed by others.
BACKUP_AGE_S: Final = 26 * 3_600.0
DRILL_AGE_S: Final = 45 * 86_400.0
READING_AGE_S: Final = 50 * 3_600.0
"""Since a database was last read to its end, once a day."""
WITNESS_S: Final = 3_600.0
