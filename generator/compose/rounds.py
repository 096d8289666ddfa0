"""GET /api/human-consensus.php, and the rounds of other bodies. A forecast is shown only once its round is live."""

from typing import Final

from generator.arena.tally import consensus_of, disagreement_score, most_said
from generator.arena.timetable import round_id_of
from generator.arena.values import RecordCrowd, Round, Tally
from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import basis_points, iso, percent, share
from generator.catalog.text.answers import (
    BY_RECORD_NOTE,
    CROWD_NOTE,
    DEVELOPER_NOTE,
    NO_OPEN_ROUND,
    NO_RECORDS,
    NO_ROUND,
    NO_VOTES,
    SIMULATED_VOTES,
    SPARSE_VOTES,
)
from generator.catalog.words import Consensus, RoundPhase
from generator.compose.context import TickContext
from generator.compose.envelope import notice
from generator.contract.rounds import (
    CrowdByRecord,
    HumanConsensus,
    HumanConsensusResponse,
    OpenRound,
    RoundInfo,
    VoteBurst,
)

_SEALED: Final = {RoundPhase.SCHEDULED, RoundPhase.OPEN}
_HOUR_MS: Final = 3_600_000
_SPARSE: Final = 10


def shown_round(ctx: TickContext) -> Round:
    """Return the live round; else the one that takes votes; else this hour's slot, which no one played."""
    return ctx.arena.live or ctx.arena.open or _unplayed(ctx.freshness.generated_ms)


def _unplayed(now_ms: int) -> Round:
    start_ms = now_ms // _HOUR_MS * _HOUR_MS
    return Round(
        round_id=round_id_of(DEFAULT_ASSET, start_ms),
        asset=DEFAULT_ASSET,
        opens_ms=start_ms,
        start_ms=start_ms,
        end_ms=start_ms + _HOUR_MS,
        phase=RoundPhase.VOID,
        band_bps=None,
        sealed_digest=None,
        salt=None,
        prediction=None,
        probabilities=None,
        confidence_percent=None,
        regime_mode=None,
    )


def sealed(ctx: TickContext, current: Round) -> bool:
    """Return whether a round's forecast must not be shown yet."""
    return current.phase in _SEALED or current.start_ms > ctx.freshness.generated_ms


def round_info(ctx: TickContext) -> RoundInfo:
    """Compose the shown round with its clock."""
    current = shown_round(ctx)
    until_ms = current.start_ms if current.phase in _SEALED else current.end_ms
    seconds = max(0, (until_ms - ctx.freshness.generated_ms) // 1000)
    minutes, rest = divmod(seconds, 60)
    return RoundInfo.of(
        current,
        start=iso(current.start_ms),
        end=iso(current.end_ms),
        seconds_left=seconds,
        timer=f"{minutes:02d}:{rest:02d}",
        band_bps=basis_points(current.band_bps),
    )


def open_round(ctx: TickContext) -> OpenRound | None:
    """Compose the round that takes votes: its digest, never its forecast or its votes."""
    current = ctx.arena.open
    if current is None or current.phase is not RoundPhase.OPEN:
        return None
    return OpenRound(
        round_id=current.round_id,
        asset=current.asset,
        opens=iso(current.opens_ms),
        closes=iso(current.start_ms),
        band_bps=basis_points(current.band_bps),
        commitment=current.sealed_digest,
    )


def live_tally(ctx: TickContext) -> Tally:
    """Return the votes of the live round; none while only an open one is shown."""
    return ctx.arena.live_tally if ctx.arena.live else Tally()


def simulated_votes(ctx: TickContext) -> int:
    """Return how many votes of the live round are simulated."""
    return ctx.arena.live_simulated_tally.total if ctx.arena.live else 0


def human_consensus_block(tally: Tally) -> HumanConsensus:
    """Compose counted votes."""
    part = 100 / tally.total if tally.total else 0.0
    return HumanConsensus.of(
        tally,
        bullish_percent=percent(tally.bullish * part) or 0.0,
        bearish_percent=percent(tally.bearish * part) or 0.0,
        neutral_percent=percent(tally.neutral * part) or 0.0,
        consensus=consensus_of(tally),
        disagreement_score=disagreement_score(tally),
    )


def round_limits(ctx: TickContext) -> tuple[str, ...]:
    """Name what is restricted about the round and its votes."""
    said = []
    if open_round(ctx) is None:
        said.append(NO_OPEN_ROUND)
    if ctx.arena.live is None:
        return (NO_ROUND, *said)
    total = live_tally(ctx).total
    if total == 0:
        said.append(NO_VOTES)
    elif total < _SPARSE:
        said.append(SPARSE_VOTES)
    if ctx.arena.live_simulated_tally.total:
        said.append(SIMULATED_VOTES.format(ctx.arena.live_simulated_tally.total, total))
    return tuple(said)


NO_ONE: Final = RecordCrowd(0, 0.0, 0.0, 0.0)


def crowd_by_record(ctx: TickContext) -> CrowdByRecord | None:
    """Compose the live round's crowd by record, as of its lock."""
    if ctx.arena.live is None:
        return None
    crowd = ctx.arena.crowd.by_record if ctx.arena.crowd else NO_ONE
    shares = {
        Consensus.BULLISH: share(crowd.bullish) or 0.0,
        Consensus.BEARISH: share(crowd.bearish) or 0.0,
        Consensus.NEUTRAL: share(crowd.neutral) or 0.0,
    }
    return CrowdByRecord(
        voters=crowd.voters,
        bullish_percent=shares[Consensus.BULLISH] if crowd.voters else None,
        bearish_percent=shares[Consensus.BEARISH] if crowd.voters else None,
        neutral_percent=shares[Consensus.NEUTRAL] if crowd.voters else None,
        consensus=most_said(shares) if crowd.voters else Consensus.NONE,
        note=BY_RECORD_NOTE if crowd.voters else NO_RECORDS,
    )


def vote_bursts(ctx: TickContext) -> tuple[VoteBurst, ...]:
    """Compose the minutes of the live round's votes that stand out."""
    found = ctx.arena.crowd.bursts if ctx.arena.live and ctx.arena.crowd else ()
    return tuple(
        VoteBurst(
            at=iso(burst.at_ms),
            votes=burst.votes,
            same_choice_percent=share(burst.same_choice) or 0.0,
            new_voters_percent=share(burst.new_voters) or 0.0,
        )
        for burst in found
    )


def human_consensus(ctx: TickContext) -> HumanConsensusResponse:
    """Compose what the voters of the live round expect."""
    return HumanConsensusResponse(
        **notice(ctx, ENDPOINT_BY_ID["human-consensus"], *round_limits(ctx)),
        asset=shown_round(ctx).asset,
        round=round_info(ctx),
        human_consensus=human_consensus_block(live_tally(ctx)),
        by_record=crowd_by_record(ctx),
        bursts=vote_bursts(ctx),
        crowd_note=CROWD_NOTE,
        open_round=open_round(ctx),
        simulated_votes=simulated_votes(ctx),
        developer_note=DEVELOPER_NOTE,
    )
