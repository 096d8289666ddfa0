"""What a reading lacks, in words."""

from typing import Final

NO_BARS: Final = "no price bars for this asset yet"
STALE: Final = "no price bar for this asset in the last hour"
SHORT: Final = "less than half a day of history, so there is no forecast yet"
SHORT_REGIME: Final = "less than three days of history, so volatility and regime are not named yet"
NO_BOOK: Final = "no order book, so liquidity is unknown"
LAST_MISSING: Final = "the last price bar is missing or cannot be true, so it was left out"
CAPPED: Final = "a price jump in the last day came alone or went back within ten minutes, so it was left out"
FROZEN: Final = "the price stands still for longer than it ever does, so its source may be stuck: no range yet"
NO_TRADES: Final = "no trades were reported for an hour or more, so volume is ignored"
ONE_VENUE: Final = "price: one venue only"  # as the market says it
WILD_FUNDING: Final = "the fee on futures is far from its usual size and may be a fault of the data"
NOTHING_FRESH: Final = "no asset has a fresh price bar"
SOME_MISSING: Final = "some assets have no fresh price bar"
GAPS: Final = "some bars are missing, so older evidence counts for more"
HOLE: Final = "no bars came between {begin} and {end} UTC ({minutes} minutes), so the measures over them are less sure"
