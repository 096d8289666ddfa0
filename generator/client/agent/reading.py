"""Published bodies as small answers. A body that is stale or of another form gives an error, never an old number."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from generator.catalog.links import reasoning_path
from generator.client.agent.answers import (
    WINDOWS,
    Answer,
    ArenaRound,
    AssetNow,
    HowFar,
    Lesson,
    MarketNow,
    ToolError,
    TrackRecord,
    Why,
)

Fetch = Callable[[str], Awaitable[Any]]
"""Path -> the JSON that is published there; ToolError where there is none."""
AnswerT = TypeVar("AnswerT", bound=Answer)
REGIME: Final = "/api/market-regime.php"
BRAIN: Final = "/api/main-brain.php"
STATISTICS: Final = "/api/statistics.php"
LESSONS: Final = "/api/teacher-lessons.php"
ARENA: Final = "/arena/get_shared_intelligence.php"
MOST_LISTED: Final = 5
MOST_REASONS: Final = 8
_MISSING: Final = "missing"
HOW_TO_READ: Final = (
    "Percent from the price now: low 90%, low 50%, high 50%, high 90%. Half of all moves end within the two in the "
    "middle, nine in ten within the outer two. move_chance: that the next hour ends beyond +-move_beyond_percent; "
    "compare it with move_usual."
)
SEALED: Final = "The brain's forecast of the open round is sealed until voting ends: it is not known, also not to us."


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads what one service publishes; `now` gives the time by which an answer is fresh."""

    fetch: Fetch
    now: Callable[[], datetime]

    async def market_now(self, asset: str | None) -> MarketNow:
        """Return the state of the market, with one asset's price where one is named."""
        body = await self._body(REGIME)
        shown = None
        if asset is not None:
            brain = await self._body(BRAIN)
            coin = at(brain, "coins", asset)
            shown = AssetNow(asset=asset, price=at(coin, "price"), change_24h_percent=at(coin, "change_24h"))

        return self._dated(
            MarketNow,
            body,
            headline=at(body, "headline"),
            volatility=at(body, "regime", "axes", "swings"),
            side=at(body, "regime", "axes", "side"),
            regime=at(body, "regime", "label"),
            regime_percent=at(body, "regime", "confidence"),
            status=at(body, "status"),
            asset=shown,
            limitations=listed(body, "limitations"),
        )

    async def how_far(self, asset: str) -> HowFar:
        """Return how far an asset may move, and whether it will."""
        body = await self._reasoning(asset)
        ranges = part_of(body, "reasoning", "ranges")
        move = part_of(body, "reasoning", "move")

        return self._dated(
            HowFar,
            body,
            asset=at(body, "asset"),
            ranges_percent={name: _range(row) for name, row in ranges.items()} or None,
            move_chance=move.get("chance"),
            move_usual=move.get("base_rate"),
            move_beyond_percent=move.get("band_percent"),
            how_to_read=HOW_TO_READ,
        )

    async def why(self, asset: str) -> Why:
        """Return the brain's chances for an asset, and the facts that are known of it."""
        body = await self._reasoning(asset)
        reasoning = at(body, "reasoning")

        return self._dated(
            Why,
            body,
            asset=at(body, "asset"),
            call=at(reasoning, "call"),
            confidence_percent=at(reasoning, "confidence"),
            confidence_kind=at(reasoning, "confidence_kind"),
            chances=at(reasoning, "probabilities"),
            usual_chances=at(reasoning, "base_rates"),
            summary=at(reasoning, "summary"),
            reasons=_known_reasons(reasoning)[:MOST_REASONS],
            limitations=listed(body, "limitations"),
        )

    async def arena_round(self) -> ArenaRound:
        """Return the round that takes votes and the one that runs."""
        body = await self._body(ARENA)
        asked = part_of(body, "open_round")
        live = part_of(body, "round")
        brain = at(body, "brain_snapshot")

        return self._dated(
            ArenaRound,
            body,
            open_round=asked.get("round_id"),
            open_until=asked.get("closes"),
            commitment=asked.get("commitment"),
            live_round=live.get("round_id"),
            live_until=live.get("end"),
            live_call=at(brain, "call"),
            live_chances=at(brain, "probabilities"),
            votes=at(body, "human_layer", "total"),
            simulated_votes=at(body, "simulated_votes"),
            note=SEALED,
        )

    async def track_record(self, window: str) -> TrackRecord:
        """Return how right the forecasts of one horizon were."""
        if window not in WINDOWS:
            raise ToolError(f"window is one of {', '.join(WINDOWS)}")
        body = await self._body(STATISTICS)
        brain = at(body, "main_brain")
        # Before the first move is due there is no row, and the whole record says so.
        horizon = _named(rows_of(brain, "how_far", "horizons"), "horizon", window) or part_of(brain, "how_far")
        ours = _named(rows_of(horizon, "scores") if "scores" in horizon else [], "name", "brain")
        return self._dated(
            TrackRecord,
            body,
            window=window,
            ranges_n=ours.get("n", 0),
            inside_50_percent=part_of(ours, "inside_50_percent").get("value") if ours else None,
            inside_90_percent=part_of(ours, "inside_90_percent").get("value") if ours else None,
            ranges=at(horizon, "statement"),
            move=at(brain, "record", "move", "statement"),
            direction=at(brain, "record", "statement"),
        )

    async def lesson(self, topic: str | None) -> Lesson:
        """Return the newest lesson, or the newest about an asset or of a pattern."""
        body = await self._body(LESSONS)
        rows = rows_of(body, "latest_lessons")
        topics = sorted({str(at(row, name)) for row in rows for name in ("asset", "pattern_type")})
        wanted = None if topic is None else topic.casefold()
        about = [
            row
            for row in rows
            if wanted in (None, str(at(row, "asset")).casefold(), str(at(row, "pattern_type")).casefold())
        ]
        if not about:
            raise ToolError(f"there is no lesson on that yet; topics are {', '.join(topics) or 'none'}")

        return self._dated(
            Lesson,
            body,
            round_id=at(about[0], "round_id"),
            asset=at(about[0], "asset"),
            outcome=at(about[0], "actual_outcome"),
            backtest=at(about[0], "warm_up"),
            summary=str(at(about[0], "summary"))[:600],
            topics=topics,
        )

    async def _reasoning(self, asset: str) -> Any:
        body = await self._body(reasoning_path(asset))
        if at(body, "asset") != asset:
            raise _unreadable("asset")
        return body

    async def _body(self, path: str) -> Any:
        """Return a body that is still valid; ToolError says since when it is stale."""
        body = await self.fetch(path)
        until = at(body, "freshness", "valid_until")

        try:
            valid_until = datetime.fromisoformat(until)
        except (TypeError, ValueError):
            raise _unreadable("freshness.valid_until") from None
        if valid_until.tzinfo is None:
            raise _unreadable("freshness.valid_until")

        # An agent has no page that greys out: of stale numbers it gets none.
        if self.now() > valid_until:
            raise ToolError(
                f"stale since {until}: the service has published nothing newer. Do not reason on older numbers; "
                "ask again in a minute"
            )
        return body

    def _dated(self, kind: type[AnswerT], body: Any, **fields: Any) -> AnswerT:
        """Make an answer with its time; ToolError where the body has another form."""
        replay = body.get("replay")

        try:
            return kind(
                as_of=at(body, "freshness", "generated_at") if replay is None else at(replay, "market_time"),
                valid_until=at(body, "freshness", "valid_until"),
                source_mode=at(body, "freshness", "source_mode"),
                **fields,
            )
        except ValidationError as error:
            raise _unreadable(".".join(map(str, error.errors()[0]["loc"]))) from None


def listed(body: Any, name: str) -> list[str]:
    """Return the first of a body's sentences."""
    return [str(line)[:300] for line in rows_of(body, name)][:MOST_LISTED]


def at(value: Any, *names: str) -> Any:
    """Return what lies at a path of names; ToolError where the path does not exist. Null is a value."""
    for name in names:
        if not isinstance(value, Mapping) or name not in value:
            raise _unreadable(name)
        value = value[name]
    return value


def part_of(value: Any, *names: str) -> Mapping[str, Any]:
    """Return the object at a path, empty where that is null; ToolError where it is anything else."""
    part = at(value, *names)
    if part is None:
        return {}
    if not isinstance(part, Mapping):
        raise _unreadable(names[-1])
    return part


def rows_of(value: Any, *names: str) -> Sequence[Any]:
    """Return the list at a path; ToolError where there is none."""
    rows = at(value, *names)
    if not isinstance(rows, list | tuple):
        raise _unreadable(names[-1])
    return rows


def _known_reasons(reasoning: Any) -> list[str]:
    """Return the evidence in words, without the direction before each and without what is not known."""
    points = (str(text).partition(": ") for text in rows_of(reasoning, "reason_points"))
    return [words for direction, _, words in points if direction != _MISSING]


def _named(rows: Sequence[Any], field: str, wanted: str) -> Mapping[str, Any]:
    return next((row for row in rows if at(row, field) == wanted), {})


def _range(row: Any) -> tuple[Any, ...]:
    return tuple(at(row, name) for name in ("low_90", "low_50", "high_50", "high_90"))


def _unreadable(name: str) -> ToolError:
    return ToolError(f"the service's answer has no readable {name!r}: it is of another version, or damaged")


def utc_now() -> datetime:
    """Return the wall time."""
    return datetime.now(UTC)
