"""How all assets may move together: parts of the paid answers."""

from typing import Final

from pydantic import Field

from generator.arena.rates import enough, share
from generator.brain.joint import Joint, Scenario, pairs_of
from generator.catalog.formats import fixed, percent
from generator.catalog.horizons import HOUR
from generator.catalog.text import joint as texts
from generator.compose.body import Body
from generator.compose.context import TickContext
from generator.values.ranges import MoveRange

_DECIMALS: Final = 2
JOINT: Final = "How the assets may move together, by their moves of two months; null with too few."


class JointRanges(Body):
    """How the assets may move together over one horizon."""

    portfolio: MoveRange = Field(description="Move of a portfolio with an equal part of each asset, percent.")
    best: MoveRange = Field(description="Move of the asset that does best, whichever it is, percent.")
    worst: MoveRange = Field(description="Move of the asset that does worst, whichever it is, percent.")
    three_beyond_percent: float = Field(
        description="Chance that three assets or more end beyond their large_percent, either way, percent 0..100."
    )
    large_percent: tuple[float, ...] = Field(
        description="A large move of each asset, in the order of `assets`: 1.5 standard deviations, percent."
    )


class PairRanges(Body):
    """The ranges of the first asset's move less the second's, percentage points, in the order of `pairs`."""

    low_90: tuple[float, ...] = Field(description="In 5 of 100 cases the difference is below this.")
    low_50: tuple[float, ...] = Field(description="In 25 of 100 cases the difference is below this.")
    high_50: tuple[float, ...] = Field(description="In 25 of 100 cases the difference is above this.")
    high_90: tuple[float, ...] = Field(description="In 5 of 100 cases the difference is above this.")


class JointScenarios(JointRanges):
    """How the assets may move together over one horizon, with each pair and with scenarios to reckon with."""

    differences: PairRanges = Field(description="How far each two assets may come apart.")
    paths: dict[str, tuple[float, ...]] = Field(
        description="Asset symbol to its moves in 40 scenarios, all as likely, percent: those at one place belong "
        "together. Weighted and added up, they give any portfolio's."
    )


class JointShort(Body):
    """The joint scenarios in short."""

    text: str = Field(description="How to read it.")
    record: str = Field(description="How the portfolio's ranges held so far.")
    assets: tuple[str, ...] = Field(description="Assets that it is of.")
    horizons: dict[str, JointRanges] = Field(description="By horizon: 1h, 4h, 24h.")


class JointBlock(Body):
    """The joint scenarios."""

    text: str = Field(description="How to read it.")
    record: str = Field(description="How the portfolio's ranges held so far.")
    assets: tuple[str, ...] = Field(description="Assets that it is of.")
    pairs: tuple[str, ...] = Field(description="Each two of them, e.g. BTC/ETH.")
    horizons: dict[str, JointScenarios] = Field(description="By horizon: 1h, 4h, 24h.")


def joint_block(ctx: TickContext) -> JointBlock | None:
    """Compose the joint scenarios; None where too little is known."""
    said = joint_of(ctx)
    if said is None:
        return None
    return JointBlock(
        text=texts.HOW_TO_READ,
        record=joint_record(ctx),
        assets=said.assets,
        pairs=tuple(f"{first}/{second}" for first, second in pairs_of(said.assets)),
        horizons={name: _scenarios(said, name) for name in said},
    )


def joint_short(ctx: TickContext) -> JointShort | None:
    """Compose the same without pairs and scenarios."""
    said = joint_of(ctx)
    if said is None:
        return None
    return JointShort(
        text=texts.HOW_TO_READ,
        record=joint_record(ctx),
        assets=said.assets,
        horizons={name: JointRanges(**_ranges(scenario)) for name, scenario in said.items()},
    )


def joint_of(ctx: TickContext) -> Joint | None:
    """Return what the brain says of all assets together."""
    return None if ctx.reading is None else ctx.reading.joint


def joint_record(ctx: TickContext) -> str:
    """Say how the portfolio's ranges over one hour held so far."""
    record = next((scores for scores in ctx.arena.joint if scores.horizon == HOUR), None)
    if record is None:
        return texts.NO_RECORD
    if not enough(record.held_90):
        return texts.FEW.format(n=record.held_90.n)
    return texts.RECORD.format(
        n=f"{record.held_90.n:,}",
        held_50=share(record.held_50),
        held_90=share(record.held_90),
        independent_90=share(record.held_90_if_independent),
    )


def _scenarios(said: Joint, horizon: str) -> JointScenarios:
    scenario = said[horizon]

    # Of each pair four ends become four columns with a place for each pair.
    ends = zip(*((pair.low_90, pair.low_50, pair.high_50, pair.high_90) for pair in scenario.pairs), strict=True)
    low_90, low_50, high_50, high_90 = (_rounded(column) for column in ends)
    return JointScenarios(
        **_ranges(scenario),
        differences=PairRanges(low_90=low_90, low_50=low_50, high_50=high_50, high_90=high_90),
        paths={
            asset: _rounded(moves) for asset, moves in zip(said.assets, said.paths(horizon).T.tolist(), strict=True)
        },
    )


def _ranges(scenario: Scenario) -> dict[str, object]:
    return {
        "portfolio": scenario.portfolio.rounded(_DECIMALS),
        "best": scenario.best.rounded(_DECIMALS),
        "worst": scenario.worst.rounded(_DECIMALS),
        "three_beyond_percent": percent(100 * scenario.many) or 0.0,
        "large_percent": _rounded(scenario.large),
    }


def _rounded(values: tuple[float, ...] | list[float]) -> tuple[float, ...]:
    return tuple(fixed(value, _DECIMALS) or 0.0 for value in values)
