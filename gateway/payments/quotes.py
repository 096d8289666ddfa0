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
    """The challenges of the vault that is held, for the facilitator's offer; none before `encode` was awaited.

    A vault that is coming is encoded before it is held. So each is quoted from the moment in which it takes the place
    of the one before it: never nothing, and never the older one any more.
    """

    def __init__(
        self, *, settings: GatewaySettings, vault: VaultReader, facilitator: Facilitator, ledger: LedgerThread
    ) -> None:
        self._settings = settings
        self._vault = vault
        self._facilitator = facilitator
        self._ledger = ledger
        self._encoded: tuple[_Encoded, ...] = ()  # of the vault that is held, and of one that is coming
        self._turn = asyncio.Lock()

    async def encode(self, coming: LoadedVault | None = None) -> None:
        """Encode the challenges of a vault in a thread, where they are not there for the offer; one caller at a time.

        Args:
            coming: a vault that will be held next; without it the one that is held.
        """
        async with self._turn:
            vault = coming or self._vault.current()
            offer = self._facilitator.offer()
            if (
                vault is None
                or offer is None
                or any(held.vault is vault and held.offer is offer for held in self._encoded)
            ):
                return

            challenges = await asyncio.to_thread(encode_challenges, vault, offer.fee_payer, self._settings)
            others = [held for held in self._encoded if held.vault is not vault]
            self._encoded = (_Encoded(vault, offer, challenges), *others[:1])

    def current(self) -> Mapping[str, Challenge]:
        """Return the challenges that may be sent right now, by path; none while quotes are unavailable."""
        held = self._held()
        if held is None or self.absence() is not None:
            return NO_QUOTES
        return held.challenges

    def at(self, path: str) -> Challenge | None:
        """Return the challenge of a path, whether it may be sent or not."""
        held = self._held()
        return None if held is None else held.challenges.get(path)

    def _held(self) -> _Encoded | None:
        """Return the challenges of the vault that is held."""
        vault = self._vault.current()
        return next((encoded for encoded in self._encoded if encoded.vault is vault), None)

    def absence(self, path: str | None = None) -> Absence | None:
        """Return why there is no quote of a path, or of any at all without one; None where there is."""
        fault = self._vault.fault() or self.blocked()
        if fault is not None:
            return Absence(fault)
        if self._ledger.fault() is not None or self._ledger.written.age_s() > STOP_QUOTING_S:
            return Absence("the payments ledger cannot be used right now")
        if self._facilitator.offer() is None:
            return Absence("the facilitator gave no good answer lately, or does not offer this network")

        encoded = self._held()
        if encoded is None:
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
