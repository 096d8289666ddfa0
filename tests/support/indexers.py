"""Nodes of dictated answers: an indexer that lists transfers to the payee, one transaction at indexer or algod."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

from gateway.settings import DEMO_PAYEE, GatewaySettings
from gateway.upstream.http_client import Http
from gateway.wire.networks import DEVNET
from tests.support.vaults import write_vault

INDEXER: Final = "http://127.0.0.1:1/i"
ALGOD: Final = "http://127.0.0.1:1/a"
NOT_FOUND: Final[tuple[int, Any]] = (404, {})
EXAMPLE_PRICES: Final = {
    "x402-market-regime": 10_000,
    "x402-main-brain": 10_000,
    "x402-atlas": 20_000,
    "x402-atlas-human-report": 100_000,
}
"""Of the vault that these transfers pay for, whatever the catalog asks today: one amount fits two products."""
REACHED: Final = 9_000
"""The round up to which the indexer has read."""
Page = dict[str, Any]


def settings_in(folder: Path, **changes: Any) -> GatewaySettings:
    """Return the settings of a gateway over a small vault in a folder, which asks both nodes."""
    (folder / "vault").mkdir()
    write_vault(folder / "vault", prices=EXAMPLE_PRICES)
    return GatewaySettings(state_dir=folder, **{"algod_url": ALGOD, "indexer_url": INDEXER, **changes})


def txid_of(number: int) -> str:
    return f"{'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[number % 32]}{'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[number // 32]}" * 26


def row(number: int, amount: Any = 20_000, **changes: Any) -> dict[str, Any]:
    moved = {"receiver": DEMO_PAYEE, "asset-id": DEVNET.asset_id, "amount": amount}
    made = {
        "id": txid_of(number),
        "sender": "P" * 58,
        "confirmed-round": 1_000 + number,
        "last-valid": 2_000 + number,
        "genesis-hash": DEVNET.genesis_hash,
        "asset-transfer-transaction": {**moved, **changes.pop("moved", {})},
    }
    return {**made, **{name.replace("_", "-"): value for name, value in changes.items()}}


def page(rows: list[Any], token: str | None = None, reached: Any = REACHED) -> Page:
    return {"transactions": rows, "current-round": reached, **({} if token is None else {"next-token": token})}


class Question(NamedTuple):
    """One request to a node; `kept` where it may go over a connection of before."""

    method: str
    url: str
    timeout_s: float
    headers: Mapping[str, str]
    kept: bool


class DictatedHttp(Http):
    """A client whose answers come from a function of the URL: status and content, or what is raised."""

    def __init__(self, answer: Callable[[str], tuple[int, Any] | Exception]) -> None:
        self._answer_to = answer
        self.asked: list[Question] = []

    async def exchange(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout_s: float,
        kept: bool = False,
        note: Callable[[Mapping[str, str]], None] | None = None,
    ) -> tuple[int, bytes]:
        self.asked.append(Question(method, url, timeout_s, headers, kept))
        answer = self._answer_to(url)
        if isinstance(answer, Exception):
            raise answer
        status, content = answer
        return status, content if isinstance(content, bytes) else json.dumps(content).encode()


class Indexer(DictatedHttp):
    """An indexer that answers by what it was asked for: its query, and how often it was asked before."""

    def __init__(self, answer: Callable[[Mapping[str, str], int], tuple[int, Any] | Exception]) -> None:
        super().__init__(self._ask)
        self.answer = answer
        self.queries: list[Mapping[str, str]] = []

    def _ask(self, url: str) -> tuple[int, Any] | Exception:
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        self.queries.append(query)
        return self.answer(query, len(self.queries) - 1)


class Nodes(DictatedHttp):
    """An indexer and an algod that give one answer each; None is a 404."""

    def __init__(self, indexed: Any = None, pending: Any = None) -> None:
        self._answers = {INDEXER: indexed, ALGOD: pending}
        super().__init__(self._ask)

    def _ask(self, url: str) -> tuple[int, Any]:
        content = self._answers["/".join(url.split("/")[:4])]
        return NOT_FOUND if content is None else (200, content)


def listing(*rows: Any) -> Indexer:
    """List rows as an indexer does: as many as were asked for, and a token after each page but an empty one."""

    def answer(query: Mapping[str, str], _asked: int) -> tuple[int, Any]:
        begin = int(query.get("next", "0"))
        shown = list(rows[begin : begin + int(query["limit"])])
        return 200, page(shown, str(begin + len(shown)) if shown else None)

    return Indexer(answer)
