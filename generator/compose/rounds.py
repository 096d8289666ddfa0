"""GET /api/human-consensus.php and /arena/get_shared_intelligence.php: the rounds of the Arena and their votes.

A forecast is shown only once its round is live.
"""

from typing import Final

from pydantic import Field

from generator.arena.crowd import mean_chances
from generator.arena.rates import part, shared
from generator.arena.tally import consensus_of, disagreement_score, most_said
from generator.arena.timetable import round_id_of
from generator.arena.voters import burst_shares, record_shares
from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.durations import HOUR_MS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import basis_points, iso, iso_or_none, price
from generator.catalog.text import answers
from generator.catalog.words import Call, ConfidenceKind, Consensus, Prediction, RoundPhase, TeacherStatus
from generator.compose.body import Body, Percent
from generator.compose.coins import Moving, moving, published
from generator.compose.envelope import NoticeResponse, notice_envelope
from generator.compose.scores import KIND
from generator.compose.teacher_lessons import teacher_status
from generator.compose.tick import Tick
from generator.values.chances import Probabilities
from generator.values.rounds import Event, LessonInShort, Round
from generator.values.votes import Burst, ChanceSums, RecordCrowd, Tally


class RoundInfo(Body):
    """One Arena round; its clock is as of updated_utc."""

    round_id: str = Field(description="<ASSET>-<YYYYMMDD>-<HHMMSS> of its start.")
    asset: str = Field(description="Asset symbol.")
    phase: RoundPhase = Field(description="Where the round is in its life.")
    start: str = Field(description="When it goes live, ISO 8601 UTC, wall time.")
    end: str = Field(description="When it settles, ISO 8601 UTC, wall time.")
    seconds_left: int = Field(description="Seconds until end; until start while the round still takes votes.")
    timer: str = Field(description="The same as MM:SS.")
    band_bps: float | None = Field(description="Half-width of a small move's band, basis points; a rule of the game.")


class OpenRound(Body):
    """The round that takes votes now."""

    round_id: str = Field(
        description="<ASSET>-<YYYYMMDD>-<HHMMSS> of its start. GET /x402-buyer/ballot?voter=&round=&chances=40,33,27 "
        "(up, small move, down in percent; or choice= for a word) prepares a free vote in it (&change=1 after the "
        "first change of mind), to be signed with an Ed25519 key and sent to the same path in an X-Ballot header."
    )
    asset: str = Field(description="Asset symbol.")
    opens: str = Field(description="When votes opened, ISO 8601 UTC.")
    closes: str = Field(description="When votes close and the round goes live, ISO 8601 UTC.")
    band_bps: float | None = Field(description="Half-width of a small move's band, basis points, frozen at opening.")
    commitment: str | None = Field(
        description="SHA-256 of the brain's sealed forecast and salt; null without one. It proves that the forecast "
        "was fixed before the votes closed; what the brain reads of the asset now is public elsewhere."
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

    voters: int = Field(description="Voters with a record above one in three.")
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


class CrowdChances(Body):
    """The mean chances of the votes that gave some, as of the lock; a vote that is a word gives none."""

    n: int = Field(description="Votes of the live round that gave chances.")
    chances: Probabilities | None = Field(description="Their mean chances; null where no vote gave any.")
    simulated_n: int = Field(description="Votes of the simulated crowd that gave chances; none of them is in n.")
    simulated_chances: Probabilities | None = Field(description="Their mean chances; null likewise.")


class HumanConsensusResponse(NoticeResponse):
    """What the voters of the live round expect."""

    asset: str = Field(description="Asset of the live round.")
    round: RoundInfo = Field(description="The live round.")
    human_consensus: HumanConsensus = Field(
        description="Its counted votes; one that gives chances counts for its largest, NEUTRAL where two are largest."
    )
    crowd_chances: CrowdChances = Field(description="The mean chances of those votes that gave some.")
    by_record: CrowdByRecord | None = Field(
        description="The votes of the live round by the voters' records, as of its lock; null without a live round."
    )
    bursts: tuple[VoteBurst, ...] = Field(description="Minutes with far more votes than usual, at most 5.")
    crowd_note: str = Field(description="What the counts are and are not.")
    open_round: OpenRound | None = Field(description="The round that takes votes now; null when none does.")
    simulated_votes: int = Field(description="How many of the counted votes a labelled simulated crowd cast.")
    developer_note: str = Field(description="Advice for clients.")


class BrainSnapshot(Body):
    """The brain's forecast of the live round, as sealed before it started."""

    prediction: Prediction | None = Field(
        description="The call as an outcome, NEUTRAL for small_move and none; null while sealed or without a forecast."
    )
    brain_silent: bool = Field(
        description="True while the brain makes no forecasts: the NEUTRAL next to it claims nothing and is never "
        "scored."
    )
    call: Call | None = Field(
        description="What the forecast claims; none: nothing. Null while sealed, without a forecast, and of a round "
        "that was sealed before calls existed."
    )
    confidence: float | None = Field(
        description="Chance of the called outcome, percent 0..100; null while sealed and without a call."
    )
    confidence_kind: ConfidenceKind = Field(description=KIND)
    move: Moving | None = Field(description="Chance of more than a small move, up or down; null while sealed.")
    probabilities: Probabilities | None = Field(description="The three chances; null while sealed.")
    base_rates: Probabilities | None = Field(description="How often each outcome happened before; null while sealed.")
    regime_mode: str | None = Field(description="Market mode when it was sealed; null while sealed.")
    sealed_digest: str | None = Field(description="SHA-256 of the forecast and its salt, published before the votes.")
    salt: str | None = Field(description="The salt, with which the digest can be checked; null while sealed.")


class CombinedIntelligence(Body):
    """Brain and people side by side."""

    brain: Prediction | None = Field(description="What the brain called; null while sealed and without a call.")
    crowd: Consensus = Field(description="What most voters said.")
    agreement: bool | None = Field(
        description="Whether they gave the same answer, as in a lesson; null when one of them gave none."
    )
    note: str = Field(description="What to make of it.")


class TeacherSnapshot(Body):
    """The teacher in short."""

    status: TeacherStatus = Field(description="learning once there are lessons, else idle.")
    role: str = Field(description="What the teacher does.")
    lessons_total: int = Field(description="Lessons so far.")
    last_lesson: LessonInShort | None = Field(
        description="The newest lesson, without what teacher-lessons asks about it; null before the first."
    )


class EventRow(Body):
    """One transition."""

    at: str = Field(description="When, ISO 8601 UTC, wall time.")
    kind: str = Field(description="Kind of the transition.")
    text: str = Field(description="What happened, in words.")


class Events(Body):
    """What happened lately."""

    latest: tuple[EventRow, ...] = Field(description="The last 10, newest first.")


class RoundPrice(Body):
    """Price of the round's asset."""

    asset: str = Field(description="Asset symbol.")
    now: float | None = Field(description="Price now, US dollars, 6 significant digits.")
    start: float | None = Field(description="Price at the start of the live round, US dollars.")
    change_bps: float | None = Field(description="now against start, basis points.")
    venues: tuple[str, ...] = Field(description="Venues whose median mid is the price.")
    as_of: str | None = Field(description="Market time of the price, ISO 8601 UTC.")


class SystemIntegrity(Body):
    """What can be checked."""

    log_size: int = Field(description="Entries in the transparency log.")
    checkpoint_digest: str | None = Field(description="Digest of its newest checkpoint; null before the first.")
    last_tick: str | None = Field(description="The tick published before this one.")
    void_rate_percent: Percent = Field(description="Void among rounds_ended, percent; null below 30.")
    rounds_ended: int = Field(description="Rounds that ended since the start, without the backtest's.")


class SharedIntelligenceResponse(NoticeResponse):
    """The live round in one document."""

    asset: str = Field(description="Asset of the live round.")
    round: RoundInfo = Field(description="The live round.")
    open_round: OpenRound | None = Field(description="The round that takes votes now; null when none does.")
    my_prediction: str | None = Field(description="Null in this public file; a client may fill in its own vote.")
    brain_snapshot: BrainSnapshot = Field(description="The brain's forecast of the live round.")
    human_layer: HumanConsensus = Field(description="Counted votes of the live round.")
    crowd_chances: CrowdChances = Field(description="The mean chances of those votes that gave some.")
    by_record: CrowdByRecord | None = Field(
        description="The same votes by the voters' records, as of the lock; null without a live round."
    )
    bursts: tuple[VoteBurst, ...] = Field(description="Minutes with far more votes than usual, at most 5.")
    simulated_votes: int = Field(description="How many of the counted votes a labelled simulated crowd cast.")
    combined_intelligence: CombinedIntelligence = Field(description="Brain and people side by side.")
    teacher_brain: TeacherSnapshot = Field(description="The teacher in short.")
    events: Events = Field(description="What happened lately.")
    price: RoundPrice = Field(description="Price of the round's asset.")
    system_integrity: SystemIntegrity = Field(description="What can be checked.")


_SEALED: Final = {RoundPhase.SCHEDULED, RoundPhase.OPEN}
_SPARSE: Final = 10  # votes below which shares say little
_NOT_REVEALED: Final = "no forecast of the brain is revealed for this round"
_NO_CALL_TO_COMPARE: Final = "The brain makes no call in this round: there is nothing to compare."
_NOTHING_TO_COMPARE: Final = "There is nothing to compare: the brain or the people have said nothing yet."
_LATEST_EVENTS: Final = 10


def shown_round(ctx: Tick) -> Round:
    """Return the live round; else the one that takes votes; else this hour's slot, which no one played."""
    return ctx.arena.live or ctx.arena.open or _unplayed(ctx.freshness.generated_ms)


def _unplayed(now_ms: int) -> Round:
    start_ms = now_ms // HOUR_MS * HOUR_MS
    return Round(
        round_id=round_id_of(DEFAULT_ASSET, start_ms),
        asset=DEFAULT_ASSET,
        opens_ms=start_ms,
        start_ms=start_ms,
        end_ms=start_ms + HOUR_MS,
        phase=RoundPhase.VOID,
    )


def sealed(ctx: Tick, current: Round) -> bool:
    """Return whether a round's forecast must not be shown yet."""
    return current.phase in _SEALED or current.start_ms > ctx.freshness.generated_ms


def round_info(ctx: Tick) -> RoundInfo:
    """Compose the shown round with its clock."""
    current = shown_round(ctx)

    # The clock runs to the start while the round takes votes, then to its end.
    until_ms = current.start_ms if current.phase in _SEALED else current.end_ms
    seconds = max(0, (until_ms - ctx.freshness.generated_ms) // 1000)
    minutes, rest = divmod(seconds, 60)

    return RoundInfo(
        round_id=current.round_id,
        asset=current.asset,
        phase=current.phase,
        start=iso(current.start_ms),
        end=iso(current.end_ms),
        seconds_left=seconds,
        timer=f"{minutes:02d}:{rest:02d}",
        band_bps=basis_points(current.band_bps),
    )


def open_round(ctx: Tick) -> OpenRound | None:
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


def live_tally(ctx: Tick) -> Tally:
    """Return the votes of the live round; none while only an open one is shown."""
    return ctx.arena.live_tally if ctx.arena.live else Tally()


def simulated_votes(ctx: Tick) -> int:
    """Return how many votes of the live round are simulated."""
    return ctx.arena.live_simulated_tally.total if ctx.arena.live else 0


def human_consensus_block(tally: Tally) -> HumanConsensus:
    """Compose counted votes."""
    bullish = part(tally.bullish, tally.total)
    bearish = part(tally.bearish, tally.total)
    neutral = part(tally.neutral, tally.total)

    return HumanConsensus(
        total=tally.total,
        bullish=tally.bullish,
        bearish=tally.bearish,
        neutral=tally.neutral,
        bullish_percent=bullish.percent or 0.0,
        bearish_percent=bearish.percent or 0.0,
        neutral_percent=neutral.percent or 0.0,
        consensus=consensus_of(tally),
        disagreement_score=disagreement_score(tally),
    )


def crowd_chances(ctx: Tick) -> CrowdChances:
    """Compose the mean chances of the live round's votes, real and simulated ones apart."""
    simulated = ctx.arena.live_simulated_tally.chances if ctx.arena.live else ChanceSums()
    # The tally counts both kinds of votes together.
    real = live_tally(ctx).chances.minus(simulated)

    return CrowdChances(
        n=real.votes,
        chances=published(mean_chances(real)),
        simulated_n=simulated.votes,
        simulated_chances=published(mean_chances(simulated)),
    )


def round_limits(ctx: Tick) -> tuple[str, ...]:
    """Name what is restricted about the round and its votes."""
    limits = []
    if open_round(ctx) is None:
        limits.append(answers.NO_OPEN_ROUND)
    if ctx.arena.live is None:
        return (answers.NO_ROUND, *limits)

    total = live_tally(ctx).total
    if total == 0:
        limits.append(answers.NO_VOTES)
    elif total < _SPARSE:
        limits.append(answers.SPARSE_VOTES)

    simulated = simulated_votes(ctx)
    if simulated:
        limits.append(answers.SIMULATED_VOTES.format(simulated, total))
    return tuple(limits)


def voters_with_record(ctx: Tick) -> RecordCrowd | None:
    """Return what the live round's voters with a record said, as of its lock; None where no one has one."""
    if ctx.arena.live is None or ctx.arena.crowd is None:
        return None
    crowd = ctx.arena.crowd.by_record
    return crowd if crowd.voters else None


def crowd_by_record(ctx: Tick) -> CrowdByRecord | None:
    """Compose the live round's crowd by record, as of its lock."""
    if ctx.arena.live is None:
        return None

    crowd = voters_with_record(ctx)
    if crowd is None:
        return CrowdByRecord(
            voters=0,
            bullish_percent=None,
            bearish_percent=None,
            neutral_percent=None,
            consensus=Consensus.NONE,
            note=answers.NO_RECORDS,
        )

    bullish, bearish, neutral = (share.percent or 0.0 for share in record_shares(crowd))
    return CrowdByRecord(
        voters=crowd.voters,
        bullish_percent=bullish,
        bearish_percent=bearish,
        neutral_percent=neutral,
        consensus=most_said(bullish, bearish, neutral),
        note=answers.BY_RECORD_NOTE,
    )


def live_bursts(ctx: Tick) -> tuple[Burst, ...]:
    """Return the minutes of the live round's votes that stand out."""
    return ctx.arena.crowd.bursts if ctx.arena.live and ctx.arena.crowd else ()


def vote_bursts(ctx: Tick) -> tuple[VoteBurst, ...]:
    """Compose the minutes of the live round's votes that stand out."""
    return tuple(_vote_burst(burst) for burst in live_bursts(ctx))


def _vote_burst(burst: Burst) -> VoteBurst:
    same, new = burst_shares(burst)
    return VoteBurst(
        at=iso(burst.at_ms),
        votes=burst.votes,
        same_choice_percent=same.percent or 0.0,
        new_voters_percent=new.percent or 0.0,
    )


def human_consensus(ctx: Tick) -> HumanConsensusResponse:
    """Compose what the voters of the live round expect."""
    return HumanConsensusResponse(
        **notice_envelope(ctx, ENDPOINT_BY_ID["human-consensus"], *round_limits(ctx)).as_fields(),
        asset=shown_round(ctx).asset,
        round=round_info(ctx),
        human_consensus=human_consensus_block(live_tally(ctx)),
        crowd_chances=crowd_chances(ctx),
        by_record=crowd_by_record(ctx),
        bursts=vote_bursts(ctx),
        crowd_note=answers.CROWD_NOTE,
        open_round=open_round(ctx),
        simulated_votes=simulated_votes(ctx),
        developer_note=answers.DEVELOPER_NOTE,
    )


def shared_intelligence(ctx: Tick) -> SharedIntelligenceResponse:
    """Compose the live round in one document."""
    current = shown_round(ctx)
    snapshot = brain_snapshot(ctx, current)

    limits = [*round_limits(ctx)]
    if snapshot.prediction is None or snapshot.brain_silent:
        limits.append(_NOT_REVEALED)
    if not current.start_price:
        limits.append(answers.NO_START_PRICE)

    return SharedIntelligenceResponse(
        **notice_envelope(ctx, ENDPOINT_BY_ID["shared-intelligence"], *limits).as_fields(),
        asset=current.asset,
        round=round_info(ctx),
        open_round=open_round(ctx),
        # One file serves everybody, so it holds no reader's own vote.
        my_prediction=None,
        brain_snapshot=snapshot,
        human_layer=human_consensus_block(live_tally(ctx)),
        crowd_chances=crowd_chances(ctx),
        by_record=crowd_by_record(ctx),
        bursts=vote_bursts(ctx),
        simulated_votes=simulated_votes(ctx),
        combined_intelligence=combined(ctx, snapshot),
        teacher_brain=teacher(ctx),
        events=Events(latest=tuple(event_row(event) for event in ctx.arena.events[:_LATEST_EVENTS])),
        price=round_price(ctx, current),
        system_integrity=system_integrity(ctx),
    )


def brain_snapshot(ctx: Tick, current: Round) -> BrainSnapshot:
    """Reveal the forecast of a round that is live; of any other only its digest."""
    # Votes must not follow the brain: until the start only the digest shows that there is a forecast.
    if sealed(ctx, current):
        return BrainSnapshot(
            prediction=None,
            brain_silent=False,
            call=None,
            confidence=None,
            confidence_kind=ConfidenceKind.NO_CALL,
            move=None,
            probabilities=None,
            base_rates=None,
            regime_mode=None,
            sealed_digest=current.sealed_digest,
            salt=None,
        )

    silent = current.prediction is None and ctx.reading is None
    return BrainSnapshot(
        prediction=Prediction.NEUTRAL if silent else current.prediction,
        brain_silent=silent,
        call=current.call,
        confidence=current.confidence_percent,
        confidence_kind=(
            ConfidenceKind.NO_CALL if current.confidence_percent is None else ConfidenceKind.CLASS_PROBABILITY
        ),
        move=moving(current.move, current.band_bps),
        probabilities=published(current.probabilities),
        base_rates=published(current.base_rate),
        regime_mode=current.regime_mode,
        sealed_digest=current.sealed_digest,
        salt=current.salt,
    )


def _called(snapshot: BrainSnapshot) -> Prediction | None:
    """Return what the brain called; None while sealed, without a forecast, and without a call."""
    if snapshot.brain_silent or snapshot.call is Call.NONE:
        return None
    return snapshot.prediction


def combined(ctx: Tick, snapshot: BrainSnapshot) -> CombinedIntelligence:
    """Put brain and people side by side."""
    tally = live_tally(ctx)
    crowd = consensus_of(tally)
    brain = _called(snapshot)
    if snapshot.call is Call.NONE:
        return CombinedIntelligence(brain=None, crowd=crowd, agreement=None, note=_NO_CALL_TO_COMPARE)
    if brain is None or crowd is Consensus.NONE:
        return CombinedIntelligence(brain=brain, crowd=crowd, agreement=None, note=_NOTHING_TO_COMPARE)

    same = brain.value == crowd.value
    people = "the simulated crowd" if simulated_votes(ctx) == tally.total else "people"
    verb = "say the same" if same else "do not say the same"
    return CombinedIntelligence(
        brain=brain,
        crowd=crowd,
        agreement=same,
        note=f"Brain and {people} {verb}. Neither is evidence that one of them is right.",
    )


def teacher(ctx: Tick) -> TeacherSnapshot:
    """Compose the teacher in short."""
    lessons = ctx.arena.lessons
    return TeacherSnapshot(
        status=teacher_status(ctx),
        role=answers.TEACHER_ROLE,
        lessons_total=ctx.arena.teacher.lessons_total,
        last_lesson=lessons[0] if lessons else None,
    )


def event_row(event: Event) -> EventRow:
    """Compose one transition."""
    return EventRow(at=iso(event.at_ms), kind=event.kind, text=event.text)


def round_price(ctx: Tick, current: Round) -> RoundPrice:
    """Compose the price of the round's asset; the change is computed from the prices as published."""
    seen = ctx.seen[current.asset]
    now = price(seen.price)
    start = price(current.start_price)
    change_bps = basis_points(10_000 * (now / start - 1)) if now is not None and start else None

    return RoundPrice(
        asset=current.asset,
        now=now,
        start=start,
        change_bps=change_bps,
        venues=seen.venues,
        as_of=iso_or_none(seen.price_as_of_ms),
    )


def system_integrity(ctx: Tick) -> SystemIntegrity:
    """Compose what can be checked."""
    arena = ctx.arena
    return SystemIntegrity(
        log_size=arena.log_size,
        checkpoint_digest=arena.checkpoint_digest,
        last_tick=ctx.last_tick_id,
        void_rate_percent=shared(arena.void).percent,
        rounds_ended=arena.void.n,
    )
