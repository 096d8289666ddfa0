"""Texts of the ladder, the partition, and what the kept month says."""

from typing import Final

HOW_TO_READ: Final = (
    "How likely a move goes beyond each level: at the end of the horizon, and touched on the way by the high or low of "
    "a 5-minute bar. The chances come from expected volatility and from how large moves were against it, not from "
    "a normal curve. Rise and fall are taken for equally likely: which way a price goes is not known."
)
PARTITION: Final = (
    "The next four hours in three parts, one of which happens: a rise beyond the middle third of the last week's "
    "moves, a fall beyond it, or neither. The base rates say how often each happened before."
)
DAY_AHEAD: Final = (
    "How far prices usually moved in each hour of the day over the kept month, without a view of today: the median "
    "move, either way, with its 95% interval."
)
LIVE: Final = "Of the chances over one hour {n} have been judged since the start; the track record says how."
BACKTEST: Final = (
    "No chance has been judged since the start: its record is a backtest of {n} over one hour, kept apart."
)
NO_RECORD: Final = "No chance has been judged yet."
PARTITION_LIVE: Final = (
    "So far {n} of these partitions have been judged: Brier score {brier} against {base} of their base rates."
)
PARTITION_BACKTEST: Final = (
    "None has been judged since the start; in a backtest of {n}, kept apart, the Brier score was {brier} against "
    "{base} of their base rates."
)
TOO_SHORT: Final = "needs 30 days of 5-minute bars to say what is sold here; it has {days:.1f}"
OTHER_BARS: Final = "needs 30 days of 5-minute bars to say what is sold here; this market has bars of {minutes} minutes"
