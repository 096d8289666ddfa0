"""What a sealed forecast game is, and the one life of what it seals.

A claim is made before its start, and may be made again until then: the last one counts, of which the log holds the
digest. It is opened at its start or at its end, as the game says, and judged at its end by what was seen at both; where
either cannot be seen, and where what was sealed cannot count, it is void with a reason. Nothing is made or changed
after its start.

A game is a row of `generator.arena.games`: tick, memory, log and audit loop over that table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, NamedTuple, TypeVar

from generator.arena.inputs import PlayInputs, void_reason
from generator.arena.outcome import lateness
from generator.arena.published import canonical_json, digest_of
from generator.catalog.formats import iso
from generator.catalog.words import RoundPhase

Item = TypeVar("Item")
Content = Mapping[str, Any]
"""What a game says of one span, as plain values."""
Seen = Mapping[str, Any]
"""What a game saw of the market at one end of a span, e.g. a price."""
Scores = Mapping[str, float]
SaltOf = Callable[[bytes], str]
"""What is sealed to its salt, always the same one."""

ACTIVE: Final = (RoundPhase.OPEN, RoundPhase.LIVE)

# What became of a claim in a tick, as the kinds of log entries name it, and what each holds of its row.
STEPS: Final[Mapping[RoundPhase, tuple[str, tuple[str, ...]]]] = {
    RoundPhase.OPEN: ("sealed", ("end", "commitment")),
    RoundPhase.LIVE: ("started", ("at_start",)),
    RoundPhase.RESOLVED: ("judged", ("at_end", "scores")),
    RoundPhase.VOID: ("void", ("void_reason",)),
}
OPENED: Final = ("forecast", "salt")
UNSCORED: Final = "what was sealed cannot be scored by what was seen"


class Seal(NamedTuple):
    """What is sealed, the salt that it is sealed with, and the digest of both."""

    content: Any
    salt: str
    commitment: str


def seal(content: Content, salt: SaltOf) -> Seal:
    """Seal a content; the same one again has the same salt and digest."""
    its_salt = salt(canonical_json(content))
    return Seal(content, its_salt, digest_of(content, its_salt))


@dataclass(frozen=True, slots=True)
class Life(Generic[Item]):
    """How whatever is sealed moves on by a tick: rounds, hours, ladders, questions and claims alike."""

    made_ms: Callable[[Item], int | None]
    """When it was sealed, None where nothing is yet."""
    opens_ms: Callable[[Item], int | None]
    """When what is sealed opens; None where it is open already, and in a backtest, which no release shows."""
    judge: Callable[[Item, PlayInputs], Item]
    """As far as the tick allows."""
    void: Callable[[Item, str], Item]

    def moved(self, item: Item, inputs: PlayInputs, published_ms: int | None) -> Item:
        """Return it after a tick.

        Args:
            item: before the tick, and not over.
            inputs: of the tick.
            published_ms: wall time of the last release; None where nothing is published.
        """
        opens_ms = self.opens_ms(item)
        begins = opens_ms is not None and inputs.now_ms >= opens_ms
        reason = void_reason(self.made_ms(item), inputs, published_ms if begins else None)
        if reason is not None:
            return self.void(item, reason)
        return self.judge(item, inputs)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a game sealed of one span; times are wall times."""

    kind: str  # of its game
    horizon: str
    start_ms: int
    end_ms: int
    made_ms: int
    content: Content
    phase: RoundPhase = RoundPhase.OPEN
    at_start: Seen | None = None
    at_end: Seen | None = None
    scores: Scores | None = None
    void_reason: str | None = None

    @property
    def sealed(self) -> Content:
        """What the digest is of: the content, with the game and the span that it is about."""
        return {
            "game": self.kind,
            "horizon": self.horizon,
            "start": iso(self.start_ms),
            "end": iso(self.end_ms),
            "content": self.content,
        }

    def voided(self, reason: str) -> Claim:
        """End a claim that cannot count."""
        return replace(self, phase=RoundPhase.VOID, void_reason=reason)


ClaimChange = tuple[Claim | None, Claim]
"""A claim before a tick, None where it is new, and after it."""


class SealedState(NamedTuple):
    """What the memory holds of a game's claims before a tick."""

    active: tuple[Claim, ...] = ()  # those that are not over
    upcoming: tuple[Claim, ...] = ()  # of the span whose claims are made now, whatever became of them


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed forecast game."""

    kind: str
    """Of its entries in the log: `<kind>.sealed`, `.started`, `.judged`, `.void`."""
    horizons: Mapping[str, int]
    """Name to length in ms."""
    upcoming: Callable[[int], int | None]
    """A wall time to the start of what is made then, None outside of its window."""
    make: Callable[[PlayInputs, str], Content | None]
    """What the tick says of a horizon, None where nothing."""
    see: Callable[[PlayInputs, str], tuple[Seen | None, str | None]]
    """What is seen at the `start` or `end` of a span, or why nothing is."""
    score: Callable[[Content, Seen, Seen], Scores | None]
    """A content against what was seen at start and end, None where too little was; an audit calls it again."""
    reveal: RoundPhase = RoundPhase.LIVE
    """The phase in which what is sealed is opened: at its start, or RESOLVED, at its end."""

    def step(self, phase: RoundPhase) -> tuple[str, tuple[str, ...]]:
        """Return what a claim's coming to a phase is called in the log, and what its entry holds of the claim's row."""
        name, names = STEPS[phase]
        is_open = phase in {self.reveal, RoundPhase.VOID}
        return name, (*names, *OPENED) if is_open else names

    def play(self, state: SealedState, inputs: PlayInputs, published_ms: int | None) -> tuple[ClaimChange, ...]:
        """Move the claims that are not over on by one tick, and make those of the upcoming span.

        The same tick again changes nothing. A backtest seals nothing, since no release shows it.
        """
        if inputs.warm_up:
            return ()
        life: Life[Claim] = Life(_made_ms, _opens_ms, self.judge, Claim.voided)
        moved = [(claim, life.moved(claim, inputs, published_ms)) for claim in state.active]
        changes: list[ClaimChange] = [*moved, *self._made(state, inputs)]
        return tuple((before, after) for before, after in changes if before != after)

    def _made(self, state: SealedState, inputs: PlayInputs) -> Iterator[ClaimChange]:
        """Give what is made in this tick, of spans that did not begin and of which something else was said before."""
        start_ms = self.upcoming(inputs.now_ms)
        if start_ms is None or inputs.interrupted is not None:
            return

        known = {claim.horizon: claim for claim in state.upcoming}
        for horizon, length_ms in self.horizons.items():
            before = known.get(horizon)
            content = self.make(inputs, horizon)
            has_begun = before is not None and before.phase is not RoundPhase.OPEN
            is_same = before is not None and before.content == content
            if content is not None and not has_begun and not is_same:
                yield before, Claim(self.kind, horizon, start_ms, start_ms + length_ms, inputs.now_ms, content)

    def judge(self, claim: Claim, inputs: PlayInputs) -> Claim:
        """Open a claim at its start, score it at its end; void where nothing is seen then."""
        if claim.phase is RoundPhase.OPEN and inputs.now_ms >= claim.start_ms:
            return self._opened(claim, inputs)
        if claim.phase is RoundPhase.LIVE and inputs.now_ms >= claim.end_ms:
            return self._resolved(claim, inputs)
        return claim

    def _opened(self, claim: Claim, inputs: PlayInputs) -> Claim:
        seen, reason = self._seen(inputs, "start", claim.start_ms)
        if seen is None:
            return claim.voided(reason)
        return replace(claim, phase=RoundPhase.LIVE, at_start=seen)

    def _resolved(self, claim: Claim, inputs: PlayInputs) -> Claim:
        seen, reason = self._seen(inputs, "end", claim.end_ms)
        if seen is None or claim.at_start is None:
            return claim.voided(reason)
        scores = self.score(claim.content, claim.at_start, seen)
        if scores is None:
            return claim.voided(UNSCORED)
        return replace(claim, phase=RoundPhase.RESOLVED, at_end=seen, scores=scores)

    def _seen(self, inputs: PlayInputs, what: str, due_ms: int) -> tuple[Seen | None, str]:
        # What is seen too late belongs to another time, so it is not looked at.
        late = lateness(what, inputs.now_ms - due_ms)
        if late is not None:
            return None, late
        seen, reason = self.see(inputs, what)
        return seen, reason or f"nothing is known at the {what}"


def _made_ms(claim: Claim) -> int:
    return claim.made_ms


def _opens_ms(claim: Claim) -> int | None:
    return claim.start_ms if claim.phase is RoundPhase.OPEN else None


def published(claim: Claim, salt: SaltOf) -> dict[str, Any]:
    """Return all that is ever published of a claim; what is sealed is left out of its entries until it opens."""
    sealed = seal(claim.sealed, salt)

    return {
        "start": iso(claim.start_ms),
        "end": iso(claim.end_ms),
        "horizon": claim.horizon,
        "commitment": sealed.commitment,
        "forecast": sealed.content,
        "salt": sealed.salt,
        "at_start": claim.at_start,
        "at_end": claim.at_end,
        "scores": claim.scores,
        "void_reason": claim.void_reason,
    }
