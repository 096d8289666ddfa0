"""The stores of the games of `arena.games`."""

from typing import Any

from generator.arena.games import SEALED
from generator.record.memory.daily import DailyStore
from generator.record.memory.game import GameStore
from generator.record.memory.hours import HourStore
from generator.record.memory.ladders import LadderStore
from generator.record.memory.rounds import RoundStore
from generator.record.memory.sealed import SealedStore


def game_stores() -> tuple[GameStore[Any, Any], ...]:
    """Return one of each, for one memory, in the order in which the log has their entries of one tick."""
    return (RoundStore(), HourStore(), LadderStore(), DailyStore(), *(SealedStore(game) for game in SEALED))
