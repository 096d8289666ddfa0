"""The quotes of one gateway: the finished challenge of every product, and why there may be none right now."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway.clock import STOP_QUOTING_S
from gateway.ledger.thread import LedgerThread
from gateway.payments.challenge import Challenge, encode_challenges
from gateway.settings import GatewaySettings
from gateway.upstream.facilitator import Facilitator, FacilitatorOffer
from gateway.vault.folder import LoadedVault, VaultReader

RETRY_S: Final = 5
NO_QUOTES: Final[Mapping[str, Challenge]] = {}


@dataclass(frozen=True, slots=True)
class Absence:
    """Why there is no quote now."""

    reason: str
    retry_s: int = RETRY_S  # until it is worth asking again
    lasts: bool = False  # what is sold lacks its data: no fault that ends by itself in a moment


@dataclass(frozen=True, slots=True)
class _Encoded:
    """What the challenges that are held were made of."""

    vault: LoadedVault
    offer: FacilitatorOffer
    challenges: Mapping[str, Challenge]


class Quotes:
    """The challenges of the last vault that was encoded, for the facilitator's offer; none before `encode` was awaited.

    The 402, /readyz and the gauge all ask `absence`, which speaks of what is encoded and not of what was read:
    a vault counts once its challenges are there.
    """

    def __init__(
        self, *, settings: GatewaySettings, vault: VaultReader, facilitator: Facilitator, ledger: LedgerThread
    ) -> None:
        self._settings = settings
        self._vault = vault
        self._facilitator = facilitator
        self._ledger = ledger
        self._encoded: _Encoded | None = None
        self._turn = asyncio.Lock()

    async def encode(self) -> None:
        """Encode the challenges in a thread, if vault or offer are others than last time; one caller at a time."""
        async with self._turn:
            vault = self._vault.current()
            offer = self._facilitator.offer()
            held = self._encoded
            if vault is None or offer is None or (held and held.vault is vault and held.offer is offer):
                return

            challenges = await asyncio.to_thread(encode_challenges, vault, offer.fee_payer, self._settings)
            self._encoded = _Encoded(vault, offer, challenges)

    def current(self) -> Mapping[str, Challenge]:
        """Return the challenges that may be sent right now, by path; none while quotes are unavailable."""
        if self._encoded is None or self.absence() is not None:
            return NO_QUOTES
        return self._encoded.challenges

    def at(self, path: str) -> Challenge | None:
        """Return the challenge that was last encoded for a path, whether it may be sent or not."""
        return None if self._encoded is None else self._encoded.challenges.get(path)

    def absence(self, path: str | None = None) -> Absence | None:
        """Return why there is no quote of a path, or of any at all without one; None where there is."""
        fault = self._vault.fault() or self.blocked()
        if fault is not None:
            return Absence(fault)
        if self._ledger.fault() is not None or self._ledger.written.age_s() > STOP_QUOTING_S:
            return Absence("the payments ledger cannot be used right now")
        if self._facilitator.offer() is None:
            return Absence("the facilitator gave no good answer lately, or does not offer this network")

        encoded = self._encoded
        if encoded is None or not self._vault.sells(encoded.vault.generation):
            return Absence("the quotes of the newest data are being made")
        if path is not None or encoded.challenges:
            return self._lacking(encoded.vault, path or "")
        return min(
            filter(None, (self._lacking(encoded.vault, path) for path in encoded.vault.products)),
            key=lambda absence: absence.retry_s,
            default=Absence("nothing is for sale"),
        )

    def _lacking(self, vault: LoadedVault, path: str) -> Absence | None:
        """Return what a body lacks to be sold; None where it lacks nothing."""
        body = vault.unavailable(path)
        if body is None or body.unavailable is None:
            return None
        return Absence(body.unavailable, self._vault.wait_s(body), lasts=True)

    def blocked(self) -> str | None:
        """Return why the settings allow no quote of what the vault holds."""
        vault = self._vault.current()
        return None if vault is None else self._settings.quote_refusal(vault.source_mode)
