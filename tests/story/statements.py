"""Every wording of the report, with the condition under which it is true and the figures that must stand in it.

`{name}` is a figure or a word of `truth.Truth`, worked out from the candles; a figure is read with its sign.
A wording is listed here by hand: one that the composer has and this table lacks is reported as not known.
"""

from typing import Final

from tests.story.wording import Wording
from tests.story.wordings_ahead import AHEAD
from tests.story.wordings_of_day import OF_DAY

WORDINGS: Final[tuple[Wording, ...]] = (*OF_DAY, *AHEAD)
