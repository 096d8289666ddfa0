"""Tool calls with bodies, times, faults and arguments drawn at random, held against the bodies by a second program."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from mcp import Client

from generator.catalog.assets import ASSETS
from generator.catalog.links import reasoning_path
from generator.client.agent.answers import MOST_BYTES
from generator.client.agent.service import agent_server
from generator.client.buying.web import WebAnswer
from tests.agent.harness import FRESH, SiteWeb
from tests.sellers.seller import ORIGIN
from tests.support.builders import CONTEXTS

TOOLS: Final = ("market_now", "how_far", "why", "arena_round", "track_record", "lesson")
VALUES: Final[tuple[Any, ...]] = (
    None,
    1,
    -1,
    True,
    "",
    "x" * 5_000,
    [],
    {},
    "BTC",
    "ETH",
    "btc",
    "1h",
    "1m",
    "brain_only",
    1e308,
)
NAMES: Final = ("asset", "window", "topic", "round_id", "x")
FAULTS: Final = (None, WebAnswer(200, (), b"<"), WebAnswer(500, (), b"{}"), WebAnswer(200, (), b'{"freshness": 1}'))
# Answer's member -> where the same lies in the body.
SAME: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "market_now": {
        "headline": ("headline",),
        "volatility": ("regime", "axes", "swings"),
        "side": ("regime", "axes", "side"),
        "regime": ("regime", "label"),
        "regime_percent": ("regime", "confidence"),
        "status": ("status",),
    },
    "how_far": {"asset": ("asset",), "move_chance": ("reasoning", "move", "chance")},
    "why": {
        "call": ("reasoning", "call"),
        "chances": ("reasoning", "probabilities"),
        "confidence_percent": ("reasoning", "confidence"),
        "summary": ("reasoning", "summary"),
    },
    "arena_round": {"votes": ("human_layer", "total"), "live_call": ("brain_snapshot", "call")},
    "track_record": {"direction": ("main_brain", "record", "statement")},
    "lesson": {},
}


def path_of(tool: str, arguments: dict[str, Any]) -> str:
    if tool in {"how_far", "why"}:
        return reasoning_path(str(arguments.get("asset")).upper())
    return {
        "market_now": "/api/market-regime.php",
        "arena_round": "/arena/get_shared_intelligence.php",
        "track_record": "/api/statistics.php",
        "lesson": "/api/teacher-lessons.php",
    }[tool]


def is_allowed(tool: str, arguments: dict[str, Any]) -> bool:
    """Say whether arguments are of the form that the tool's text names."""
    if tool == "lesson":
        topic = arguments.get("topic")
        return topic is None or (isinstance(topic, str) and len(topic) <= 64)
    if tool == "track_record":
        return arguments.get("window") in ("15m", "1h", "4h", "24h")
    asset = arguments.get("asset")
    if tool == "market_now" and asset is None:
        return True
    return tool == "arena_round" or (isinstance(asset, str) and asset.upper() in ASSETS)


def in_body(body: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        body = body.get(name) if isinstance(body, dict) else None
    return body


def damaged(body: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """Return a body with one member gone, or of another kind."""
    body = copy.deepcopy(body)
    inner: Any = body
    while True:
        name = dice.choice(list(inner))
        if not isinstance(inner[name], dict) or not inner[name] or dice.random() < 0.3:
            break
        inner = inner[name]
    if dice.random() < 0.5:
        del inner[name]
    else:
        inner[name] = dice.choice(VALUES)
    return body


def wrong(tool: str, arguments: dict[str, Any], body: Any, now: datetime, result: Any) -> str | None:
    """Say what is wrong with a result; None where it is as it must be. Written from the docs, not from the tools."""
    text = result.content[0].text
    if len(text.encode()) > MOST_BYTES:
        return "over the limit"
    if result.is_error:
        return None

    if not is_allowed(tool, arguments):
        return "answered what cannot be asked"
    if not isinstance(body, dict):
        return "answered without a body"
    return differs(tool, json.loads(text), body, now)


def differs(tool: str, said: dict[str, Any], body: dict[str, Any], now: datetime) -> str | None:
    """Say in what an answer is not its body's."""
    until = in_body(body, ("freshness", "valid_until"))
    if now > datetime.fromisoformat(until) or said["valid_until"] != until:
        return "answered with what is stale"
    at = in_body(body, ("replay", "market_time")) or in_body(body, ("freshness", "generated_at"))
    if (said["as_of"], said["source_mode"]) != (at, in_body(body, ("freshness", "source_mode"))):
        return "another time or source than the body's"
    names = [name for name, place in SAME[tool].items() if said[name] != in_body(body, place)]
    return f"another state than the body's: {names}" if names else None


def refused_in_vain(tool: str, arguments: dict[str, Any], now: datetime, result: Any) -> bool:
    """Say whether a whole and fresh body got an error although it was asked for rightly."""
    text = result.content[0].text
    is_fresh = now <= FRESH and is_allowed(tool, arguments)
    return bool(result.is_error) and is_fresh and not (tool == "lesson" and text.startswith("there is no lesson"))


def arguments_of(tool: str, dice: random.Random) -> dict[str, Any]:
    right: dict[str, Any] = {
        "market_now": dice.choice([{}, {"asset": "BTC"}]),
        "track_record": {"window": dice.choice(["15m", "1h", "4h", "24h"])},
        "lesson": dice.choice([{}, {"topic": "BTC"}]),
        "arena_round": {},
    }.get(tool, {"asset": dice.choice(ASSETS)})
    if dice.random() < 0.7:
        return right
    return {dice.choice(NAMES): dice.choice(VALUES) for _ in range(dice.randrange(3))}


async def fuzz(calls: int, seed: int, folder: Path) -> Counter[str]:
    """Make so many calls through the SDK's client, which checks each answer's schema; count how they ended."""
    dice = random.Random(f"fuzz {seed}")
    ends: Counter[str] = Counter()
    webs = {state: SiteWeb(state) for state in CONTEXTS}
    whole = {state: web.bodies for state, web in webs.items()}
    now = [FRESH]
    servers = {
        state: agent_server(web, ORIGIN, folder, None, now=lambda: now[0]).build("fuzz", b"<svg/>")
        for state, web in webs.items()
    }
    for state, server in servers.items():
        async with Client(server) as client:
            await client.list_tools()
            for tool, arguments, fault in drawn(calls // len(servers), dice):
                web, path = webs[state], path_of(tool, arguments)
                web.bodies, web.faults = dict(whole[state]), {}
                body = web.bodies.get(path)
                if fault == "damage" and body is not None:
                    body = web.bodies[path] = damaged(body, dice)
                elif fault == "fault":
                    body = None
                    web.faults = {path: dice.choice(FAULTS)}
                now[0] = FRESH + timedelta(seconds=0 if dice.random() < 0.7 else dice.choice((150, 151, 1_000_000)))

                try:
                    result = await client.call_tool(tool, arguments)
                except Exception as error:  # noqa: BLE001  whatever it is, it is counted
                    ends[f"WRONG broke its schema or the protocol: {type(error).__name__}: {error}"[:200]] += 1
                    continue
                reason = wrong(tool, arguments, body, now[0], result)
                if reason is None and fault == "" and refused_in_vain(tool, arguments, now[0], result):
                    reason = f"refused in vain: {tool} {result.content[0].text}"  # type: ignore[union-attr]
                end = "error" if result.is_error else "answered"
                ends[f"WRONG {reason}" if reason else end] += 1
    return ends


def drawn(calls: int, dice: random.Random) -> Iterator[tuple[str, dict[str, Any], str]]:
    for _ in range(calls):
        tool = dice.choice(TOOLS)
        fault = dice.choices(("", "damage", "fault"), (5, 3, 1))[0]
        yield tool, arguments_of(tool, dice), fault
