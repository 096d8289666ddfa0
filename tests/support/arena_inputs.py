"""Small deterministic inputs for the Arena's tests: prices, forecasts, ballots, and a driver of ticks."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, Protocol

import numpy as np
from nacl.signing import SigningKey

from gateway.wire.algorand import DEMO_ARENA
from gateway.wire.networks import NETWORKS
from gateway.wire.notes import Chances, RoundVote
from generator.arena.ballots import BallotFile
from generator.arena.games import HOURS, ROUNDS
from generator.arena.hourly import HourState
from generator.arena.inputs import ArenaConfig, PlayInputs
from generator.arena.outcome import PricePoint
from generator.arena.play import PlayState
from generator.arena.state import RegimeRow
from generator.brain.forecast import CALLS, EARNED, Forecast, follow, in_units
from generator.brain.joint import TOGETHER, Joint
from generator.catalog.assets import ASSETS
from generator.catalog.horizons import HORIZONS
from generator.catalog.words import Prediction
from generator.client.ballot import sign_ballot
from generator.record.memory.store import Memory
from generator.runtime import tick
from generator.values.chances import Probabilities
from generator.values.ranges import RangeForecast
from generator.values.view import ArenaView
from tests.support.ranges import range_of

MINUTE = 60_000
HOUR = 60 * MINUTE
BAND_BPS = 20.123456
GENESIS = NETWORKS["devnet"].genesis_hash
CONFIG = ArenaConfig(60, ("BTC",), DEMO_ARENA, GENESIS, seed=7, simulated_crowd=False)


def ms(text: str) -> int:
    """Read `2026-11-20T12:00` as UTC ms."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


CHANCES = ((0.2, 0.1, 0.6, 0.1), (0.25, 0.1, 0.55, 0.1))  # of the four labels, in even and odd minutes
NOON = ms("2026-11-20T12:00")


def price_at(asset: str, now_ms: int) -> float:
    """Return a price that moves on its own, the same for the same minute."""
    phase = now_ms / HOUR + 3 * ASSETS.index(asset)
    return 100 * (1 + ASSETS.index(asset)) * (1 + 0.01 * math.sin(phase) + 0.004 * math.sin(7.3 * phase))


@cache
def joint_at(now_ms: int) -> Joint:
    """Return scenarios of coins that move alike, wider in odd minutes."""
    rng = np.random.default_rng(4)
    rows = 0.8 * rng.standard_normal((400, 1)) + 0.6 * rng.standard_normal((400, len(ASSETS)))
    sigma = np.outer((0.004, 0.009, 0.02), np.ones(len(ASSETS))) * (1.0 + 0.1 * (now_ms // MINUTE % 2))
    return Joint(ASSETS, dict.fromkeys(TOGETHER, rows), sigma, np.zeros(len(ASSETS)), now_ms // HOUR)


def prices_at(now_ms: int, venues: int = 3) -> dict[str, PricePoint]:
    """Return every asset's price."""
    return {asset: PricePoint(price_at(asset, now_ms), venues) for asset in ASSETS}


class Forecaster(Protocol):
    """What a brain says of an asset over so many minutes, in a band of its own or in one that was fixed before."""

    def __call__(self, asset: str, minutes: int, band_bps: float = BAND_BPS) -> Forecast | None:
        """Forecast."""


def forecast_at(now_ms: int) -> Forecaster:
    """Return a forecaster whose words depend on the minute alone."""

    def forecast(asset: str, minutes: int, band_bps: float = BAND_BPS) -> Forecast:
        place = ASSETS.index(asset)
        lean = 0.08 * math.sin(now_ms / (17 * MINUTE) + place)
        neutral = 0.36 + 0.18 * math.sin(now_ms / (29 * MINUTE) + 2 * place)
        chances = Probabilities(0.49 - neutral / 2 - lean, neutral, 0.51 - neutral / 2 + lean)
        units = in_units(np.array((chances.down, chances.neutral, chances.up))[:, None, None])
        call = CALLS[follow(np.zeros(1), units, EARNED).item()]
        return Forecast(asset, minutes, chances, Probabilities(0.31, 0.36, 0.33), call, band_bps)

    return forecast


def ranges_at(now_ms: int) -> dict[str, dict[str, RangeForecast]]:
    """Return every asset's ranges, wider or narrower by the hour."""
    found = {}
    for place, asset in enumerate(ASSETS):
        sigma = 0.2 + 0.1 * math.sin(now_ms / HOUR + place)
        found[asset] = {horizon: range_of(round(sigma * (m / 15) ** 0.5, 4)) for horizon, (m, *_) in HORIZONS.items()}
    return found


def no_forecast(_asset: str, _minutes: int, _band_bps: float | None = None) -> Forecast | None:
    """Stand for a brain that has nothing to say."""
    return None


def salt_at(now_ms: int) -> Callable[[], str]:
    """Return a salt that depends on the time alone, so that two runs can be compared."""
    return lambda: hashlib.sha256(str(now_ms).encode()).hexdigest()


def inputs_at(
    now_ms: int,
    *,
    config: ArenaConfig = CONFIG,
    ballots: Sequence[BallotFile] = (),
    venues: int = 3,
    needed: int = 2,
    usual_day: float | None = None,
    seals_labels: bool = False,
) -> PlayInputs:
    """Make one tick's inputs; without a usual day no daily question is asked."""
    labels = ("range", "risk_on", "risk_off")
    label = labels[now_ms // (5 * HOUR) % 3]
    chances = CHANCES[now_ms // MINUTE % 2] if seals_labels else None
    return PlayInputs(
        now_ms=now_ms,
        prices=prices_at(now_ms, venues),
        venues_needed=needed,
        price_basis="venue_mid",
        forecast=forecast_at(now_ms),
        forecast_at_band=forecast_at(now_ms),
        config=config,
        ballots=tuple(ballots),
        salt=salt_at(now_ms),
        ranges=ranges_at(now_ms),
        usual_day=usual_day,
        regime=RegimeRow(label, "NEUTRAL", 61.5, 40.0, chances=chances),
        joint=joint_at(now_ms) if seals_labels else None,
    )


def play_tick(memory: Memory, inputs: PlayInputs, published_ms: int | None = None) -> ArenaView:
    """Play one tick in a transaction of its own."""
    with memory.tick() as transaction:
        return tick.play_tick(transaction, inputs, str(inputs.now_ms).encode(), published_ms)


def store_tick(memory: Memory, inputs: PlayInputs) -> None:
    """Play one tick likewise, without a look at the result, which takes as long."""
    with memory.tick() as transaction:
        tick.store_tick(transaction, inputs, str(inputs.now_ms).encode())


def ticks(start_ms: int, minutes: int, step: int = 1) -> Iterable[int]:
    """Return the full minutes of a span, both ends included."""
    return range(start_ms, start_ms + minutes * MINUTE + 1, step * MINUTE)


def hours(start_ms: int, count: int) -> list[int]:
    """Return the ticks of some hours at which something happens: each full hour and five minutes before it."""
    return [start_ms, *(start_ms + hour * HOUR + m * MINUTE for hour in range(count) for m in (55, 60))]


@cache
def voter(number: int) -> str:
    """Return the private key of one voter of the tests, the same in every run."""
    key = SigningKey(hashlib.sha256(f"voter {number}".encode()).digest())
    return base64.b64encode(bytes(key) + bytes(key.verify_key)).decode()


@dataclass(frozen=True)
class Vote:
    """One ballot to be signed."""

    round_id: str
    choice: Prediction = Prediction.BULLISH
    by: int = 0
    at_ms: int = NOON
    address: str = DEMO_ARENA
    genesis: str = GENESIS
    change: int | None = None  # the lease's, None for none
    chances: Chances | None = None  # in place of the choice

    def file(self) -> BallotFile:
        """Sign it as a file."""
        txid, data = sign_ballot(
            voter(self.by),
            RoundVote.of(self.round_id, self.choice, self.chances),
            self.address,
            self.genesis,
            change=self.change,
        )
        return BallotFile(f"{txid}.ballot", data, self.at_ms)

    def but(self, **changes: object) -> Vote:
        """Change some fields."""
        return replace(self, **changes)  # type: ignore[arg-type]


def state_of(state: PlayState | None = None, *, hours: HourState | None = None, **of_rounds: Any) -> PlayState:
    """Return what the memory holds before a tick: of rounds the fields given, of hours what is given."""
    before = state or PlayState()
    rounds = replace(before.games[ROUNDS], **of_rounds)
    return replace(before, games={**before.games, ROUNDS: rounds, HOURS: hours or before.games[HOURS]})
