"""The tools of one origin, put together."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from generator.client.agent.answers import ToolError
from generator.client.agent.buying import Buyer, Wallet
from generator.client.agent.reading import Fetch, Reader, utc_now
from generator.client.agent.server import AgentServer
from generator.client.buying.purchase import Context
from generator.client.buying.purchases import PurchaseFolder
from generator.client.buying.web import Unanswered, Web


def agent_server(
    web: Web,
    origin: str,
    folder: Path,
    wallet: Wallet | None,
    *,
    now: Callable[[], datetime] = utc_now,
    context: Context | None = None,
) -> AgentServer:
    """Return the server of one origin.

    Args:
        web: asks for answers.
        origin: of the service.
        folder: of what must outlive this process.
        wallet: pays; None where whoever calls does.
        now: gives the wall time.
        context: what a purchase touches; that of `web` by default.
    """
    touched = context or Context(web, PurchaseFolder(folder))
    buyer = Buyer(origin, folder, touched, wallet, now)
    return AgentServer(Reader(fetched(web, origin), now), buyer, origin, folder / "seen")


def fetched(web: Web, origin: str) -> Fetch:
    """Return what reads the JSON at a path of an origin."""

    async def fetch(path: str) -> Any:
        try:
            answer = await web.get(origin + path)
        except Unanswered as error:
            raise ToolError(f"the service does not answer ({error}); ask again in a minute") from None
        body = answer.json()
        if answer.status != 200 or not isinstance(body, dict):
            raise ToolError(f"the service answered {answer.status}; {answer.reason()}")
        return body

    return fetch
