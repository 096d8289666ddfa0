"""GET /api/human-consensus.php, and the rounds of other bodies. A forecast is shown only once its round is live."""

from typing import Final

from pydantic import Field

from generator.arena.tally import consensus_of, disagreement_score, most_said
from generator.arena.timetable import round_id_of
from generator.arena.values import Round, Tally
from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import basis_points, iso, percent, share
from generator.catalog.text import answers
from generator.catalog.words import Consensus, RoundPhase
from generator.compose.body import Body
from generator.compose.context import TickContext
from generator.compose.envelope import NoticeResponse, notice


class RoundInfo(Body):
    """One Arena round; its clock is as of updated_utc."""

    round_id: str = Field(description="<ASSET>-<YYYYMMDD>-<HHMMSS> of its start.")
    asset: str = Field(description="Asset symbol.")
    phase: RoundPhase = Field(description="Where the round is in its life.")
    start: str = Field(description="When it goes live, ISO 8601 UTC, wall time.")
    end: str = Field(description="When it settles, ISO 8601 UTC, wall time.")
    seconds_left: int = Field(description="Seconds until end; until start while the round still takes votes.")
    timer: str = Field(description="The same as MM:SS.")
    band_bps: float | None = Field(description="Half-width of the neutral band, basis points; a rule of the game.")


class OpenRound(Body):
    """The round that takes votes now."""

    round_id: str = Field(
        description="<ASSET>-<YYYYMMDD>-<HHMMSS> of its start. GET /x402-buyer/ballot?voter=&round=&choice= prepares a free "
        "vote in it, to be signed with an Ed25519 key and sent to the same path in an X-Ballot header."
    )
    asset: str = Field(description="Asset symbol.")
    opens: str = Field(description="When votes opened, ISO 8601 UTC.")
    closes: str = Field(description="When votes close and the round goes live, ISO 8601 UTC.")
    band_bps: float | None = Field(description="Half-width of the neutral band, basis points, frozen at opening.")
    commitment: str | None = Field(
        description="SHA-256 of the brain's sealed forecast and salt; null without one. It proves that the forecast was "
        "fixed before the votes closed; what the brain reads of the asset now is public elsewhere."
    )


class HumanConsensus(Body):
    """Counted votes of one round."""

    total: int = Field(description="Votes counted, one a voter.")
    bullish: int = Field(description="Votes for BULLISH.")
    bearish: int = Field(description="Votes for BEARISH.")
    neutral: int = Field(description="Votes for NEUTRAL.")
    bullish_percent: float = Field(description="Share of BULLISH, percent; 0 with no votes.")
    bearish_percent: float = Field(description="Share of BEARISH, percent; 0 with no votes.")
    neutral_percent: float = Field(description="Share of NEUTRAL, percent; 0 with no votes.")
    consensus: Consensus = Field(description="What most said; NEUTRAL on a tie at the top; NONE with no votes.")
    disagreement_score: float = Field(
        description="100 x entropy of the shares / ln 3; 0 all agree .. 100 split evenly."
    )


class CrowdByRecord(Body):
    """The same round when voters count by their record; anyone can make addresses, a record takes rounds."""

    voters: int = Field(description="Voters with a record above one in three, a blind guess.")
    bullish_percent: float | None = Field(
        description="Their share for BULLISH by record, percent; null without such voters."
    )
    bearish_percent: float | None = Field(description="Their share for BEARISH by record, percent.")
    neutral_percent: float | None = Field(description="Their share for NEUTRAL by record, percent.")
    consensus: Consensus = Field(description="What most said by record; NEUTRAL on a tie; NONE without such voters.")
    note: str = Field(description="What it is worth.")


class VoteBurst(Body):
    """A minute in which far more votes came than usual: shown, not removed."""

    at: str = Field(description="Begin of the minute, ISO 8601 UTC.")
    votes: int = Field(description="Counted votes in it.")
    same_choice_percent: float = Field(description="Share of the most frequent choice, percent.")
    new_voters_percent: float = Field(description="Share of addresses that never had a resolved round, percent.")


class HumanConsensusResponse(NoticeResponse):
    """What the voters of the live round expect."""

    asset: str = Field(description="Asset of the live round.")
    round: RoundInfo = Field(description="The live round.")
    human_consensus: HumanConsensus = Field(description="Its counted votes.")
    by_record: CrowdByRecord | None = Field(
        description="The votes of the live round by the voters' records, as of its lock; null without a live round."
    )
    bursts: tuple[VoteBurst, ...] = Field(description="Minutes with far more votes than usual, at most 5.")
    crowd_note: str = Field(description="What the counts are and are not.")
    open_round: OpenRound | None = Field(description="The round that takes votes now; null when none does.")
    simulated_votes: int = Field(description="How many of the counted votes a labelled simulated crowd cast.")
    developer_note: str = Field(description="Advice for clients.")


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
        said.append(answers.NO_OPEN_ROUND)
    if ctx.arena.live is None:
        return (answers.NO_ROUND, *said)
    total = live_tally(ctx).total
    if total == 0:
        said.append(answers.NO_VOTES)
    elif total < _SPARSE:
        said.append(answers.SPARSE_VOTES)
    if ctx.arena.live_simulated_tally.total:
        said.append(answers.SIMULATED_VOTES.format(ctx.arena.live_simulated_tally.total, total))
    return tuple(said)


def crowd_by_record(ctx: TickContext) -> CrowdByRecord | None:
    """Compose the live round's crowd by record, as of its lock."""
    if ctx.arena.live is None:
        return None
    crowd = ctx.arena.crowd.by_record if ctx.arena.crowd else None
    if crowd is None or not crowd.voters:
        unknown = dict.fromkeys(("bullish_percent", "bearish_percent", "neutral_percent"))
        return CrowdByRecord(voters=0, **unknown, consensus=Consensus.NONE, note=answers.NO_RECORDS)
    up, down, flat = (share(part) or 0.0 for part in (crowd.bullish, crowd.bearish, crowd.neutral))
    return CrowdByRecord(
        voters=crowd.voters,
        bullish_percent=up,
        bearish_percent=down,
        neutral_percent=flat,
        consensus=most_said(up, down, flat),
        note=answers.BY_RECORD_NOTE,
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
        crowd_note=answers.CROWD_NOTE,
        open_round=open_round(ctx),
        simulated_votes=simulated_votes(ctx),
        developer_note=answers.DEVELOPER_NOTE,
    )
