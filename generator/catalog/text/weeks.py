"""What the most surprising hours of a week teach: a point about the hour, and the chapter of Learn that says more."""

from typing import Final, NamedTuple


class WeekIdea(NamedTuple):
    """One idea: its chapter, and a sentence whose placeholders are facts of the hour and of its week."""

    chapter: str
    point: str


TOGETHER: Final = WeekIdea(
    "correlation",
    "{together} of the other {others} assets went the same way in that hour: it did not move alone.",
)
FAR: Final = WeekIdea(
    "fat-tails",
    "By a bell curve {expected} of the week's {hours} hours of assets would go three standard deviations or more; "
    "{far} did.",
)
AGAIN: Final = WeekIdea(
    "volatility",
    "Its hour before had ended outside its 90% range too: wild hours follow each other, so the next range was wider.",
)
IN_TEN: Final = WeekIdea(
    "calibration",
    "Of the week's {hours} hours of assets {outside} ended outside their 90% range; about one in ten should.",
)
CHOSEN: Final = WeekIdea(
    "luck",
    "It was chosen out of {hours} hours of assets because it was far out. The most surprising of so many always is.",
)
