"""The quotes of one gateway: the finished challenge of every product, and why there may be none right now."""

import asyncio
from collections.abc import Mapping
from typing import Final

from gateway.clock import STOP_QUOTING_S
from gateway.ledger.thread import LedgerThread
from gateway.payments.challenge import Challenge, encode_challenges
from gateway.settings import GatewaySettings
from gateway.upstream.facilitator import Facilitator, FacilitatorOffer
from gateway.vault.folder import LoadedVault, VaultReader

NO_QUOTES: Final[Mapping[str, Challenge]] = {}


class Quotes:
    """The challenges of the vault that is held, for the facilitator's offer; none before `encode` was awaited."""

    def __init__(
        self, *, settings: GatewaySettings, vault: VaultReader, facilitator: Facilitator, ledger: LedgerThread
    ) -> None:
        self._settings = settings
        self._vault = vault
        self._facilitator = facilitator
        self._ledger = ledger
        self._challenges: Mapping[str, Challenge] = {}
        self._encoded_for: tuple[LoadedVault | None, FacilitatorOffer | None] = (None, None)
        self.blocked: str | None = None
        """Why the settings allow no quote of what the vault holds."""

    async def encode(self) -> None:
        """Encode the challenges in a thread, if vault or offer are others than last time."""
        vault = self._vault.current()
        offer = self._facilitator.offer()
        of_vault, of_offer = self._encoded_for
        if vault is of_vault and offer is of_offer:
            return

        if vault is None or offer is None:
            self._challenges = {}
        else:
            self._challenges = await asyncio.to_thread(encode_challenges, vault, offer.fee_payer, self._settings)
        self.blocked = None if vault is None else self._settings.quote_refusal(vault.source_mode)
        self._encoded_for = (vault, offer)

    def current(self) -> Mapping[str, Challenge]:
        """Return the challenges that may be sent right now, by path; none while quotes are unavailable."""
        return NO_QUOTES if self.no_quote_reason() else self._challenges

    def at(self, path: str) -> Challenge | None:
        """Return the challenge that was last encoded for a path, whether it may be sent or not."""
        return self._challenges.get(path)

    def no_quote_reason(self, path: str = "") -> str | None:
        """Return why quotes are unavailable, all of them or those of a path, None when they are not."""
        fault = self._vault.fault() or self.blocked
        if fault is not None:
            return fault
        if self._ledger.fault() is not None or self._ledger.written.age_s() > STOP_QUOTING_S:
            return "the payments ledger cannot be used right now"
        _, of_offer = self._encoded_for
        if of_offer is None or self._facilitator.offer() is None:
            return "the facilitator gave no good answer lately, or does not offer this network"
        vault = self._vault.current()
        return None if vault is None else vault.unavailable(path)
