"""What the Arena page shows of now: the live round and its votes, and the voters with the best records."""

from collections.abc import Sequence
from statistics import fmean
from typing import Final, NamedTuple, Self

from markupsafe import Markup

from gateway.wire.notes import TAPPED, WHOLE, Chances
from generator.arena.rates import ENOUGH, enough, in_full, in_words, rate, share
from generator.arena.scoring import brier
from generator.arena.voters import burst_shares, record_shares
from generator.catalog.formats import chance_percent
from generator.catalog.text import figures
from generator.catalog.text.figures import band, count, minus, percent, price, signed_bps
from generator.catalog.text.labels import NO_CALL, OUTCOME
from generator.catalog.words import Call, Prediction
from generator.compose.rounds import (
    CrowdChances,
    RoundPrice,
    crowd_by_record,
    crowd_chances,
    live_bursts,
    voters_with_record,
)
from generator.compose.teacher_lessons import TeacherLessonsResponse
from generator.compose.tick import Tick
from generator.site.charts.now import live_round, shares
from generator.site.charts.plot import Chart
from generator.site.words.format import when
from generator.site.words.votes import votes_shown, votes_words
from generator.values.rounds import Round
from generator.values.rows import PublishedRound
from generator.values.scores import CrowdRecord, TeacherPattern
from generator.values.votes import Burst, Leaderboard, LeaderboardPlace, ScorePlace, Tally


class Place(NamedTuple):
    """A voter's place by how much oftener the votes were right than the likeliest outcome came, in percent."""

    place: int
    voter: str
    right: str
    rounds: int
    above: str
    between: str
    luck: str
    marks: str


class ScoreRow(NamedTuple):
    """A voter's place by what the chances saved."""

    place: int
    voter: str
    votes: int
    rounds: int
    saved: str
    between: str
    luck: str
    marks: str


class Voters(NamedTuple):
    """Leaderboard and patterns of the teacher-lessons answer."""

    places: tuple[Place, ...]
    by_score: tuple[ScoreRow, ...]
    gave_chances: int
    too_few_scored: int
    counted: int
    too_few: int
    note: str
    luck: str
    patterns: tuple[TeacherPattern, ...]


class CrowdRow(NamedTuple):
    """One answer of the votes."""

    css: str
    word: str
    share: str


class OutcomeChance(NamedTuple):
    """One outcome and its chance."""

    word: str
    chance: str


class LiveView(NamedTuple):
    """The live round."""

    round: Round
    band: str
    chart: Chart | None
    crowd: str
    chances: str
    crowd_bar: Markup | None
    crowd_of: str
    crowd_rows: tuple[CrowdRow, ...]
    brain: str
    brain_rows: tuple[OutcomeChance, ...]
    price_now: str
    moved: str


_SIDES: Final = (Prediction.BULLISH, Prediction.NEUTRAL, Prediction.BEARISH)  # in the order of a ballot's chances


class Tap(NamedTuple):
    """What one tap on a button sends: the chances as ballots and as people write them."""

    chances: Chances
    shown: str

    @classmethod
    def of(cls, chances: Chances) -> Self:
        """Write three chances on a button."""
        return cls(chances, " · ".join(map(str, chances)))


class Taps(NamedTuple):
    """The three buttons."""

    up: Tap
    small: Tap
    down: Tap


TAPS: Final = Taps(
    Tap.of(TAPPED[Prediction.BULLISH]), Tap.of(TAPPED[Prediction.NEUTRAL]), Tap.of(TAPPED[Prediction.BEARISH])
)


def tapped_words(rounds: Sequence[PublishedRound]) -> str:
    """Say what each tap would have scored in the finished rounds of live play; empty where they are few.

    Args:
        rounds: as published; those of the backtest, void ones and ones without a forecast are left out.
    """
    scored = [
        (outcome, forecast["base_rate"])
        for played in rounds
        if (outcome := played["outcome"]) is not None
        and (forecast := played["forecast"]) is not None
        and not played["warm_up"]
    ]
    if len(scored) < ENOUGH:
        return ""

    def mean_score(tap: Tap) -> float:
        given = [chance / WHOLE for chance in tap.chances]
        return fmean(brier(given, _SIDES.index(outcome)) for outcome, _ in scored)

    up, small, down = map(mean_score, TAPS)
    base = fmean(brier((rate["up"], rate["neutral"], rate["down"]), _SIDES.index(outcome)) for outcome, rate in scored)
    return (
        f"The same tap in each of the last {len(scored)} scored rounds would have had a mean Brier score of {up:.3f} "
        f"for up, {small:.3f} for a small move, {down:.3f} for down; the base rates had {base:.3f} (smaller is better)."
    )


def crowds_scores(ctx: Tick) -> tuple[str, ...]:
    """Say what the chances of real and of simulated voters were worth."""
    records = (("real", ctx.arena.crowd_record), ("simulated", ctx.arena.simulated_crowd_record))
    return tuple(words for who, scores in records if (words := crowd_scores(scores, who)))


def voters(body: TeacherLessonsResponse) -> Voters:
    """Return what the page shows of leaderboard and patterns in the published teacher-lessons answer."""
    board = body.leaderboard
    return Voters(
        places=tuple(map(_hit_place, board.places)),
        by_score=tuple(map(_score_place, board.by_score)),
        gave_chances=board.gave_chances,
        too_few_scored=board.gave_chances_below_30,
        counted=board.voters,
        too_few=board.below_30,
        note=board.note,
        luck=luck_words(board),
        patterns=body.patterns,
    )


def luck_words(board: Leaderboard) -> str:
    """Say how good the best of so many voters looks by luck alone; empty while no one has a place."""
    said = []
    if board.by_score:
        luck = f"{board.by_score[0].luck:.3f}"
        said.append(f"the best of {count(board.gave_chances, 'voter')} would save up to {luck} by their chances")
    if board.places:
        luck = percent(100 * board.places[0].luck)
        said.append(f"the best of {count(board.voters, 'voter')} would be up to {luck} above the likeliest")
    if not said:
        return ""
    return f"By luck alone, with no skill at all, {' and '.join(said)} (in 95 of 100 cases no more)."


def _hit_place(place: LeaderboardPlace) -> Place:
    above = place.above_likeliest

    return Place(
        place=place.place,
        voter=place.voter,
        right=in_full(place.hit),
        rounds=place.rounds,
        above=minus(f"{100 * above.value:+.1f}%"),
        between=minus(f"{100 * (above.low or 0):+.1f} to {100 * (above.high or 0):+.1f}%"),
        luck=f"{100 * place.luck:+.1f}%",
        marks=_marks(place),
    )


def _score_place(place: ScorePlace) -> ScoreRow:
    saved = place.brier_saved

    return ScoreRow(
        place=place.place,
        voter=place.voter,
        votes=place.n,
        rounds=place.rounds,
        saved=minus(f"{saved.value:+.3f}"),
        between=minus(f"{saved.low or 0:+.3f} to {saved.high or 0:+.3f}"),
        luck=f"{place.luck:+.3f}",
        marks=_marks(place),
    )


def _marks(place: LeaderboardPlace | ScorePlace) -> str:
    """Say whether a place is more than the best of many has by luck, and whether it is provisional."""
    luck = "beyond luck" if place.beyond_luck else "may be luck"
    return f"{luck}, provisional" if place.provisional else luck


def crowd_scores(scores: CrowdRecord, who: str) -> str:
    """Say what a crowd's chances were worth; empty where it gave none."""
    if not scores.n:
        return ""

    said = (
        f"Chances of {who} voters, {count(scores.n, 'round')}: Brier score {scores.brier:.3f}, "
        f"base rate {scores.brier_base_rate:.3f}, brain {scores.brier_brain:.3f} (smaller is better)."
    )
    if scores.n < ENOUGH:
        return f"{said} Fewer than {ENOUGH} rounds say nothing about skill."

    skill = scores.skill_percent
    if skill is None or skill.low is None or skill.high is None:
        return said
    return f"{said} Against the base rate {skill.value:+.1f}% (95% interval {skill.low:+.1f} to {skill.high:+.1f}%)."


def chances_words(chances: CrowdChances) -> str:
    """Say the mean chances of the live round's votes, real and simulated voters apart; empty where none gave any."""
    sentences = []
    for who, n, mean in (
        ("real", chances.n, chances.chances),
        ("simulated", chances.simulated_n, chances.simulated_chances),
    ):
        if mean is not None:
            up, small, down = (percent(chance_percent(one)) for one in (mean.up, mean.neutral, mean.down))
            given = f"{count(n, f'{who} vote')} gave chances"
            sentences.append(f"{given}, on average up {up}, small move {small}, down {down}.")
    return " ".join(sentences)


def crowd_words(ctx: Tick) -> str:
    """Say in words how the live round was voted: first by those who have a record, where there are any; then all votes.

    Anyone can make any number of addresses in an hour, and no record. Minutes with far more votes than usual are
    named right after the count that they are part of.
    """
    all_votes = votes_words(ctx.arena.live_tally, ctx.arena.live_simulated_tally)
    if not all_votes:
        return "No one has voted in this round."

    by_record = record_words(ctx)
    if not by_record:
        return " ".join((all_votes, *burst_words(ctx)))
    return " ".join((by_record, f"All votes: {all_votes}", *burst_words(ctx)))


def record_words(ctx: Tick) -> str:
    """Say how the voters with a record voted, and what weighs most by it; empty where no one has one."""
    crowd = voters_with_record(ctx)
    weighed = crowd_by_record(ctx)
    if crowd is None or weighed is None:
        return ""

    voters_of = f"By record, of {count(crowd.voters, 'voter')} who have one"
    up, down, flat = record_shares(crowd)
    answers = f"{in_words(up)} up, {in_words(flat)} small move, {in_words(down)} down"
    if enough(up):
        return f"{voters_of}: {answers}."

    heaviest = OUTCOME[weighed.consensus]
    if not crowd.said.total:  # an earlier version locked the round and kept no counts
        return f"{voters_of}: {heaviest}."
    return f"{voters_of}: {answers}; weighed by record: {heaviest}."


def burst_words(ctx: Tick) -> tuple[str, ...]:
    """Say which minutes of the live round's votes stand out."""
    return tuple(map(_burst_words, live_bursts(ctx)))


def _burst_words(burst: Burst) -> str:
    same, new = burst_shares(burst)
    return (
        f"Burst: {count(burst.votes, 'vote')} came in the minute of {figures.clock(burst.at_ms)} UTC, "
        f"{in_words(same)} of them for the same answer and {in_words(new)} from new addresses."
    )


def crowd_bar(ctx: Tick) -> Markup | None:
    """Draw the votes of the live round."""
    who, votes = votes_shown(ctx)
    return shares("crowd", f"{who} votes of the live round", _by_side(votes))


def _by_side(tally: Tally) -> tuple[tuple[str, str, int], ...]:
    """Return CSS class, word and votes of each answer."""
    return (
        ("for", OUTCOME[Prediction.BULLISH], tally.bullish),
        ("even", OUTCOME[Prediction.NEUTRAL], tally.neutral),
        ("against", OUTCOME[Prediction.BEARISH], tally.bearish),
    )


def brain_words(live: Round | None) -> str:
    """Say what the brain had sealed for the live round."""
    if live is None or live.prediction is None:
        return "no forecast for this round"
    if live.call is Call.NONE:
        return f"{NO_CALL}{_chance_of_a_move(live)}"
    if live.confidence_percent is None:
        return OUTCOME[live.prediction]

    return f"{OUTCOME[live.prediction]}, with a chance of {percent(live.confidence_percent)}"


def _chance_of_a_move(live: Round) -> str:
    if live.move is None or live.band_bps is None:
        return ""
    chance = f"{percent(chance_percent(live.move.chance))} (usually {percent(chance_percent(live.move.base_rate))})"
    return f"; chance of ending more than {band(live.band_bps)} up or down {chance}"


def live_view(ctx: Tick, published: RoundPrice) -> LiveView | None:
    """Return what the page shows of the live round, None without one.

    Args:
        published: the price of its asset, in the shared-intelligence answer.
    """
    live = ctx.arena.live
    if live is None:
        return None

    who, votes = votes_shown(ctx)
    crowd_rows = tuple(CrowdRow(css, side, share(rate(cast, votes.total))) for css, side, cast in _by_side(votes))
    chart = live_round(live, _path(ctx, live.asset), ctx.freshness.generated_ms, published.now, _source(ctx))
    return LiveView(
        round=live,
        band=band(live.band_bps),
        chart=chart,
        crowd=crowd_words(ctx),
        chances=chances_words(crowd_chances(ctx)),
        crowd_bar=crowd_bar(ctx),
        crowd_of=who,
        crowd_rows=crowd_rows,
        brain=brain_words(live),
        brain_rows=_chances(live),
        price_now=price(published.now),
        moved=signed_bps(published.change_bps),
    )


def _chances(live: Round) -> tuple[OutcomeChance, ...]:
    if live.probabilities is None or live.prediction is None:
        return ()

    down, neutral, up = live.probabilities
    return (
        OutcomeChance(OUTCOME[Prediction.BULLISH], percent(chance_percent(up))),
        OutcomeChance(OUTCOME[Prediction.NEUTRAL], percent(chance_percent(neutral))),
        OutcomeChance(OUTCOME[Prediction.BEARISH], percent(chance_percent(down))),
    )


def _path(ctx: Tick, asset: str) -> list[tuple[int, float]]:
    """Return (wall time in ms, price) of the closed bars, each at its close."""
    bar_ms = ctx.observation.bar_interval_ms or 0
    shift_ms = (ctx.freshness.offset_ms or 0) + bar_ms
    return [(open_ms + shift_ms, close) for open_ms, close in ctx.closes.get(asset, ()) if close > 0]


def _source(ctx: Tick) -> Markup:
    return Markup("Source: median of the venues, {}, as of {}.").format(
        ctx.observation.mode.value, when(ctx.observation.market_ms)
    )
