"""Ask the chain what became of a transaction: algod's memory first, then the indexer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from pydantic import SecretStr

from gateway.clock import Clock
from gateway.remote import Answer, Http, RemoteError, call
from gateway.settings import GatewaySettings

TIMEOUT_S: Final = 4.0
ROUND_TTL_S: Final = 2.0
NOT_FOUND: Final = 404
OK: Final = 200
# How far past its last valid round absence must be seen before it counts.
MARGIN_ROUNDS: Final = 10
# Past this no single look at algod says anything any more.
LIFE_MARGIN_ROUNDS: Final = 1_000
# Algod forgets a transaction after about 1,000 rounds: its 404s must not lie further apart.
MAX_GAP_ROUNDS: Final = 900


class Presence(Enum):
    """What one lookup shows."""

    FOUND = "found"
    ABSENT = "absent"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Finding:
    """One lookup.

    Args:
        presence: what it shows.
        round: the round read before asking; None when it could not be read.
        indexed: whether an indexer agreed, so that one absence is proof once the round is past.
    """

    presence: Presence
    round: int | None
    indexed: bool

    def proves_absence(self, last_valid: int, watched_round: int | None) -> bool:
        """Tell whether a transaction can never be on the chain.

        Args:
            last_valid: its last valid round.
            watched_round: last round of an unbroken chain of algod's 404s that began at the intent, this lookup
                included; None when the chain is broken.

        Returns:
            True only on evidence.
        """
        if self.presence is not Presence.ABSENT or self.round is None or self.round <= last_valid + MARGIN_ROUNDS:
            return False
        return self.indexed or (watched_round is not None and watched_round > last_valid + MARGIN_ROUNDS)


def extend_watch(watched_round: int | None, finding: Finding) -> int | None:
    """Carry the unbroken chain of 404s one lookup further.

    Args:
        watched_round: where it stands, None when it was broken or never began.
        finding: the lookup.

    Returns:
        The new end of the chain; None for good once a gap was too long.
    """
    if watched_round is None or finding.presence is not Presence.ABSENT or finding.round is None:
        return watched_round
    if finding.round - watched_round > MAX_GAP_ROUNDS:
        return None
    return max(watched_round, finding.round)


class Chain:
    """The chain's client.

    Args:
        settings: where algod and the indexer are, and their tokens.
        http: the process's session.
        clock: the process's clock.
    """

    def __init__(self, settings: GatewaySettings, http: Http, clock: Clock) -> None:
        self._http = http
        self._clock = clock
        self._algod = (settings.algod_url, _token("X-Algo-API-Token", settings.algod_token))
        self._indexer = (settings.indexer_url, _token("X-Indexer-API-Token", settings.indexer_token))
        self._round: tuple[float, int] | None = None

    async def current_round(self) -> int | None:
        """Return algod's last round, at most two seconds old; None when it cannot be read."""
        now = self._clock.monotonic()
        if self._round is not None and now - self._round[0] < ROUND_TTL_S:
            return self._round[1]
        value = await self._algod_round()
        if value is not None:
            self._round = (now, value)
        return value

    async def lookup(self, txid: str) -> Finding:
        """Look a transaction up.

        Args:
            txid: the computed identity; a transaction of that id on the chain is that payment, whoever sent it.

        Returns:
            Found, absent, or unclear when any part could not be asked or it waits in a pool.
        """
        # The round is read first: what is absent after reading R was absent at R.
        reached = await self._reached()
        pending = await self._presence(self._algod, f"/v2/transactions/pending/{txid}", _confirmed_pending)
        if pending is Presence.FOUND or self._indexer[0] is None:
            return Finding(pending, reached, indexed=False)
        indexed = await self._presence(self._indexer, f"/v2/transactions/{txid}", _confirmed_indexed)
        if indexed is Presence.FOUND:
            return Finding(indexed, reached, indexed=True)
        both = pending is Presence.ABSENT and indexed is Presence.ABSENT
        return Finding(Presence.ABSENT if both else Presence.UNCLEAR, reached, indexed=both)

    async def landed(self, txid: str) -> bool:
        """Tell whether algod knows a transaction as confirmed; False also when it cannot be asked."""
        seen = await self._presence(self._algod, f"/v2/transactions/pending/{txid}", _confirmed_pending)
        return seen is Presence.FOUND

    async def _reached(self) -> int | None:
        algod = await self._algod_round()
        if self._indexer[0] is None or algod is None:
            return algod
        answer = await self._get(self._indexer, "/health")
        if answer is None or answer.status != OK:
            # A 404 here is a wrong address, and would make every transaction look absent.
            return None
        content = answer.content if isinstance(answer.content, dict) else {}
        behind = content.get("round")
        # An indexer without a round in its health says nothing about how far it reads.
        return min(algod, behind) if type(behind) is int else algod

    async def _algod_round(self) -> int | None:
        answer = await self._get(self._algod, "/v2/status")
        usable = answer is not None and answer.status == OK and isinstance(answer.content, dict)
        content = answer.content if answer is not None and usable else {}
        value = content.get("last-round")
        return value if type(value) is int else None

    async def _presence(self, node: tuple[str | None, dict[str, str]], path: str, confirmed: Any) -> Presence:
        answer = await self._get(node, path)
        if answer is None:
            return Presence.UNCLEAR
        if answer.status == NOT_FOUND:
            return Presence.ABSENT
        if answer.status == OK and isinstance(answer.content, dict) and confirmed(answer.content):
            return Presence.FOUND
        return Presence.UNCLEAR

    async def _get(self, node: tuple[str | None, dict[str, str]], path: str) -> Answer | None:
        base, headers = node
        if base is None:
            return None
        try:
            return await call(self._http, "GET", base + path, timeout_s=TIMEOUT_S, headers=headers)
        except RemoteError:
            return None


def _confirmed_pending(content: dict[str, Any]) -> bool:
    return _positive(content.get("confirmed-round"))


def _confirmed_indexed(content: dict[str, Any]) -> bool:
    row = content.get("transaction")
    return isinstance(row, dict) and _positive(row.get("confirmed-round"))


def _positive(value: Any) -> bool:
    return type(value) is int and value > 0


def _token(name: str, token: SecretStr | None) -> dict[str, str]:
    return {name: token.get_secret_value()} if token else {}
