"""Clients of the Model Context Protocol: eight tools in six states of the service, and no answer is lost."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from gateway.devnet.keys import load_or_make
from gateway.devnet.wallet import pay
from gateway.wire.networks import DEVNET
from tests.agent.states import STATES
from tests.jury.court import Court, Judge, bin_of, installed, node, run
from tests.sellers.seller import PRICE
from tests.support.devnet_app import START_ROUND
from tests.support.processes import REPOSITORY, clean_environment

BUY: Final = {"product": "market-regime", "cap": "0.01", "purchase_id": "first-purchase"}
# In the forms in which hosts and models send them: null, another case, a key of the host's own, a number.
CALLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("market_now", {"asset": None}),
    ("how_far", {"asset": "eth"}),
    ("why", {"asset": "BTC", "toolCallId": "call-3"}),
    ("arena_round", {"sessionId": "s"}),
    ("track_record", {"window": "1h"}),
    ("lesson", {"topic": None}),
    ("verify", {"round_id": None}),
    ("buy", BUY | {"cap": 0.01}),
    ("buy", BUY),
)
ANSWERED: Final = ("{", False)
SECOND: Final = len(CALLS) - 1
Ask = Callable[[Court, str, Path, Sequence[Mapping[str, Any]]], list[dict[str, Any]]]
"""Puts calls to a server in one state; gives what the caller of the client gets for each, or `thrown`."""


def expected(state: str, place: int) -> tuple[str, bool]:
    """Return how the words of an answer begin, and whether it is an error."""
    name = CALLS[place][0]
    if state == "down":
        return {"verify": "not verified: ", "buy": "nothing was paid: "}.get(name, "the service does not answer"), True
    if state == "stale" and name not in {"verify", "buy"}:
        return "stale since ", True
    if name != "buy":
        return ANSWERED
    if state == "unpaid":
        return '{"x402Version": 2', True
    if state == "above the cap":
        return "cap_exceeded: ", True
    return ("not known yet: ", True) if state == "lost answer" and place != SECOND else ANSWERED


def fault(state: str, place: int, end: Mapping[str, Any]) -> str | None:
    """Say what is wrong with what a caller got; None where the words are there and are the right ones."""
    if "thrown" in end:
        return f"{state}, {CALLS[place][0]}: thrown {end['thrown'][:120]}"
    text = "\n".join(part["text"] for part in end["content"] if part["type"] == "text")
    begins, is_error = expected(state, place)
    if not text.startswith(begins) or bool(end.get("isError")) is not is_error:
        return f"{state}, {CALLS[place][0]}: {text[:120]}"
    if state == "lost answer" and is_error and "same purchase_id" not in text:
        return f"{state}, {CALLS[place][0]}: it does not say to use the same id"
    return None


def table(ask: Ask, court: Court) -> str:
    """Ask all tools in all states; fails where one answer is lost."""
    places = {state: court.folder / f"{id(ask)}-{number}" for number, state in enumerate(STATES)}
    calls = [{"name": name, "arguments": arguments} for name, arguments in CALLS]
    with ThreadPoolExecutor(2) as pool:
        ends = dict(zip(STATES, pool.map(lambda state: ask(court, state, places[state], calls), STATES), strict=True))

    faults = [fault(state, place, end) for state in STATES for place, end in enumerate(ends[state])]
    lost = [words for words in faults if words]
    assert not lost, f"{len(lost)} of {len(faults)} answers lost: {lost}"
    paid = _pay_the_demand(ask, court, places["unpaid"], ends["unpaid"][SECOND])
    return f"8 tools x 6 states: {len(faults)} of {len(faults)} answers usable; {paid}"


def _pay_the_demand(ask: Ask, court: Court, place: Path, demand: Mapping[str, Any]) -> str:
    """Sign the demand that reached the caller, and hand the payment over in `_meta`, twice."""
    terms = demand.get("structuredContent") or json.loads(demand["content"][0]["text"])
    header = base64.b64encode(json.dumps(terms).encode()).decode()
    payment = pay(header, load_or_make(place / "buyer.key"), DEVNET, START_ROUND, PRICE).header
    meta = {"x402/payment": json.loads(base64.b64decode(payment))}
    call = {"name": "buy", "arguments": BUY, "_meta": meta}

    made, again = ask(court, "unpaid", place, [call, call])

    bought = [json.loads(end["content"][0]["text"]) for end in (made, again)]
    assert [purchase["paid_now"] for purchase in bought] == [True, False]
    assert made["_meta"]["x402/payment-response"]["transaction"] == bought[1]["transaction"]
    return "the demand is paid through _meta, once"


def served(court: Court, state: str, place: Path) -> list[str]:
    """Return the command that serves one state."""
    place.mkdir(exist_ok=True)
    return [sys.executable, "-m", "tests.agent.states", state, str(place), court.record]


def typescript(
    package: str, court: Court, state: str, place: Path, calls: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Ask with an official TypeScript client."""
    command, *arguments = served(court, state, place)
    environment = clean_environment(PYTHONPATH=str(REPOSITORY))
    given = {"command": command, "args": arguments, "env": environment, "calls": calls}
    ends: list[dict[str, Any]] = json.loads(node(court, "mcp.mjs", [package], given))
    return ends


def official_python(court: Court, state: str, place: Path, calls: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Ask with the official Python client."""
    return asyncio.run(_official_python(served(court, state, place), calls))


async def _official_python(command: Sequence[str], calls: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    from mcp import Client, StdioServerParameters

    environment = clean_environment(PYTHONPATH=str(REPOSITORY))
    server = StdioServerParameters(command=command[0], args=list(command[1:]), env=environment)
    ends: list[dict[str, Any]] = []
    async with Client(server, read_timeout_seconds=60) as client:
        await client.list_tools()
        for call in calls:
            try:
                end = await client.call_tool(call["name"], call["arguments"], meta=call.get("_meta"))
            except Exception as error:  # noqa: BLE001  whatever it is, the answer is lost
                ends.append({"thrown": repr(error)})
            else:
                ends.append(end.model_dump(mode="json", by_alias=True, exclude_none=True))
    return ends


# A process for each call, so one call of each kind of answer.
TOOL_ERROR: Final = 5
"""With what the inspector ends where a tool answered an error, which is an answer."""
INSPECTED: Final = (("fresh", 4), ("stale", 0), ("down", 8), ("unpaid", 8), ("above the cap", 8), ("lost answer", 7))


def inspector(court: Court) -> str:
    """Ask with the inspector's command line, and let it read the schemas strictly."""
    faults = []
    for state, place in INSPECTED:
        name, arguments = CALLS[place]
        pairs = [f"{key}={value}" for key, value in arguments.items() if value is not None]
        options = ["--method", "tools/call", "--tool-name", name, *(["--tool-arg", *pairs] if pairs else [])]
        try:
            end = json.loads(_inspected(court, state, options, codes=(0, TOOL_ERROR)))
        except (AssertionError, ValueError) as error:
            end = {"thrown": str(error)}
        faults.append(fault(state, place, end))

    lost = [words for words in faults if words]
    assert not lost, f"{len(lost)} of {len(faults)} answers lost: {lost}"
    _inspected(court, "fresh", ["--method", "tools/list", "--strict"])
    return f"{len(faults)} of {len(faults)} kinds of answers usable; no error in its strict reading of the schemas"


def _inspected(court: Court, state: str, options: Sequence[str], codes: Sequence[int] = (0,)) -> str:
    place = court.folder / f"inspector-{state}"
    # By default it waits 15 s for a server to start, which a loaded machine needs for its imports; `run` has a limit.
    command = [*bin_of("mcp-inspector"), "--cli", "--connect-timeout", "0", *served(court, state, place)]
    return run([*command, *options], REPOSITORY, codes=codes)


JUDGES: Final = (
    *(
        Judge("MCP", package, installed(package), "js", partial(table, partial(typescript, package)))
        for package in ("@modelcontextprotocol/sdk", "@modelcontextprotocol/client", "mcp-sdk-oldest")
    ),
    Judge("MCP", "mcp (Python)", version("mcp"), "", partial(table, official_python)),
    Judge("MCP", "@modelcontextprotocol/inspector", installed("@modelcontextprotocol/inspector"), "js", inspector),
)
