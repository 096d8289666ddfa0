"""What the Arena page shows: the live round, the one that takes votes, and everything that was played before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from generator.arena.rates import enough, in_full, in_words, rate, share
from generator.arena.tally import consensus_of
from generator.arena.values import ArenaView, Burst, LessonMetrics, Proportion, Round, Tally
from generator.arena.voters import burst_shares, record_shares
from generator.catalog.text.labels import BIAS_MARKS
from generator.catalog.words import PatternType
from generator.compose.context import TickContext
from generator.compose.rounds import RoundPrice, crowd_by_record, live_bursts, voters_with_record
from generator.compose.scores import Rate
from generator.compose.teacher_lessons import TeacherLessonsResponse, TeacherPattern
from generator.site.charts.now import live_round, shares
from generator.site.charts.record import rates
from generator.site.words.format import UNKNOWN, count, moment, ms_of, percent, price, signed, when
from generator.site.words.votes import apart, votes_shown, votes_words

HISTORY_SHOWN: Final = 48
_MARKS: Final = {"BULLISH": BIAS_MARKS["UP"], "BEARISH": BIAS_MARKS["DOWN"], "NEUTRAL": BIAS_MARKS["FLAT"]}
PATTERNS: Final[dict[PatternType, str]] = {
    PatternType.BOTH_CORRECT: "both right",
    PatternType.BRAIN_ONLY: "only the brain right",
    PatternType.CROWD_ONLY: "only the people right",
    PatternType.BOTH_WRONG: "both wrong",
    PatternType.NO_CROWD: "nobody voted",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What one side said of a finished round; `right` is None where nothing was said or the round is void."""

    said: str
    mark: str
    right: bool | None


def voters(body: TeacherLessonsResponse) -> dict[str, Any]:
    """Work out leaderboard and patterns from the published teacher-lessons answer."""
    board = body.leaderboard
    return {
        "places": tuple(
            (place.place, place.voter, in_full(_proportion(place.hit)), place.provisional) for place in board.places
        ),
        "counted": board.voters,
        "too_few": board.below_30,
        "note": board.note,
        "patterns": tuple(map(_pattern, body.patterns)),
    }


def _pattern(pattern: TeacherPattern) -> dict[str, Any]:
    return {
        "when": pattern.when,
        "rounds": pattern.rounds,
        "brain": share(_proportion(pattern.brain)),
        "people": share(_proportion(pattern.crowd)),
        "both_wrong": share(_proportion(pattern.both_wrong)),
        "finding": pattern.finding,
    }


def _proportion(published: Rate) -> Proportion:
    """Return a published rate as the value that is written in words."""
    return Proportion(**published.model_dump())


def question(of: Round) -> str:
    """Put a round's question in one sentence."""
    if of.band_bps is None:
        return f"Will {of.asset} end the round higher, lower, or about where it started?"
    band = percent(of.band_bps / 100, 2)
    return f"Will {of.asset} end the round more than {band} higher, more than {band} lower, or in between?"


def crowd_words(ctx: TickContext) -> str:
    """Say in words how the live round was voted: first by those who have a record, where there are any; then all votes.

    Anyone can make any number of addresses in an hour, and no record. Minutes with far more votes than usual are
    named right after the count that they are part of.
    """
    count_of_all = votes_words(ctx.arena.live_tally, ctx.arena.live_simulated_tally)
    if not count_of_all:
        return "No one has voted in this round."
    by_record = record_words(ctx)
    if by_record:
        count_of_all = f"All votes: {count_of_all}"
    return " ".join(filter(None, (by_record, count_of_all, *burst_words(ctx))))


def record_words(ctx: TickContext) -> str:
    """Say how the voters with a record voted, and what weighs most by it; empty where no one has one."""
    crowd = voters_with_record(ctx)
    weighed = crowd_by_record(ctx)
    if crowd is None or weighed is None:
        return ""
    voters_of = f"By record, of {count(crowd.voters, 'voter')} who have one"

    up, down, flat = record_shares(crowd)
    if enough(up):
        return f"{voters_of}: {in_words(up)} bullish, {in_words(flat)} neutral, {in_words(down)} bearish."

    heaviest = weighed.consensus.lower()
    if not crowd.said.total:  # an earlier version locked the round and kept no counts
        return f"{voters_of}: {heaviest}."
    said = f"{in_words(up)} bullish, {in_words(flat)} neutral, {in_words(down)} bearish"
    return f"{voters_of}: {said}; weighed by record: {heaviest}."


def burst_words(ctx: TickContext) -> tuple[str, ...]:
    """Say which minutes of the live round's votes stand out."""
    return tuple(map(_burst_words, live_bursts(ctx)))


def _burst_words(burst: Burst) -> str:
    same, new = burst_shares(burst)
    return (
        f"Burst: {count(burst.votes, 'vote')} came in the minute of {moment(burst.at_ms):%H:%M} UTC, "
        f"{in_words(same)} of them for the same answer and {in_words(new)} from new addresses."
    )


def crowds(teacher: LessonMetrics, rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, Proportion], ...]:
    """Return how often the people were right; where a crowd is simulated, both apart over the rounds listed."""
    resolved = [row for row in rows if row["outcome"] and not row["warm_up"]]
    votes = [(row["outcome"], apart(Tally(**row["votes"]), Tally(**row["simulated_votes"]))) for row in resolved]
    hits = [(who, consensus_of(cast) == came) for came, sides in votes for who, cast in sides]
    if not any(who == "simulated" for who, _ in hits):
        return (("People", teacher.crowd),)
    sides = ((side, [hit for who, hit in hits if who == side]) for side in ("real", "simulated"))
    return tuple((f"{side.capitalize()} voters", rate(sum(right), len(right))) for side, right in sides if right)


def crowd_bar(ctx: TickContext) -> Markup | None:
    """Draw the votes of the live round."""
    who, votes = votes_shown(ctx)
    return shares("crowd", f"{who} votes of the live round", _by_side(votes))


def _by_side(tally: Tally) -> tuple[tuple[str, str, int], ...]:
    return (
        ("for", "bullish", tally.bullish),
        ("even", "neutral", tally.neutral),
        ("against", "bearish", tally.bearish),
    )


def brain_words(live: Round | None) -> str:
    """Say what the brain had sealed for the live round."""
    if live is None or live.prediction is None:
        return "no forecast for this round"
    if live.confidence_percent is None:
        return str(live.prediction)
    return f"{live.prediction}, with a chance of {percent(live.confidence_percent)}"


def live_view(ctx: TickContext, published: RoundPrice) -> dict[str, Any] | None:
    """Work out the live round; `published` is the price of its asset in the shared-intelligence answer."""
    live = ctx.arena.live
    if live is None:
        return None
    now_price = published.now
    moved_bps = published.change_bps
    who, votes = votes_shown(ctx)
    return {
        "round": live,
        "band": UNKNOWN if live.band_bps is None else percent(live.band_bps / 100, 2),
        "chart": live_round(live, _path(ctx, live.asset), ctx.freshness.generated_ms, now_price, _source(ctx)),
        "crowd": crowd_words(ctx),
        "crowd_bar": crowd_bar(ctx),
        "crowd_of": who,
        "crowd_rows": tuple((*row, share(rate(row[2], votes.total))) for row in _by_side(votes)),
        "brain": brain_words(live),
        "brain_rows": _chances(live),
        "price_now": price(now_price),
        "moved": UNKNOWN if moved_bps is None else signed(moved_bps / 100),
    }


def history(rows: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Work out the finished rounds, newest first, from the rows of `/arena/rounds.json`."""
    return tuple(_history_row(row) for row in rows[:HISTORY_SHOWN])


def who_was_right(arena: ArenaView, rows: Sequence[Mapping[str, Any]], source: Markup | str) -> dict[str, Any]:
    """Compare brain and people over all resolved rounds; those of the backtest before the start are apart."""
    teacher = arena.teacher
    people = crowds(teacher, rows)
    return {
        "chart": rates("right", "The brain", (("Brain", teacher.brain), *people), source),
        "brain": teacher.brain,
        "people": people,
        "real": people[0][0] == "People",
        "agreement": teacher.agreement,
        "patterns": tuple((words, teacher.patterns.get(pattern, 0)) for pattern, words in PATTERNS.items()),
        "warm_up": arena.lessons_warm_up,
        "total": teacher.lessons_total,
    }


def _chances(live: Round) -> tuple[tuple[str, str], ...]:
    if live.probabilities is None or live.prediction is None:
        return ()
    down, neutral, up = live.probabilities
    return (("bullish", percent(100 * up)), ("neutral", percent(100 * neutral)), ("bearish", percent(100 * down)))


def _path(ctx: TickContext, asset: str) -> list[tuple[int, float]]:
    """Closed bars at the wall time of their close."""
    shift = (ctx.freshness.offset_ms or 0) + (ctx.observation.bar_interval_ms or 0)
    return [(t + shift, close) for t, close in ctx.closes.get(asset, ()) if close > 0]


def _source(ctx: TickContext) -> Markup:
    return Markup("Source: median of the venues, {}, as of {}.").format(
        ctx.observation.mode.value, when(ctx.observation.market_ms)
    )


def _history_row(row: Mapping[str, Any]) -> dict[str, Any]:
    forecast = row["forecast"] or {}
    votes = dict(apart(Tally(**row["votes"]), Tally(**row["simulated_votes"])))
    people, simulated = (consensus_of(votes[who]) if who in votes else None for who in ("real", "simulated"))
    came = row["outcome"]
    moved = row["change_bps"]
    return {
        "round_id": row["round_id"],
        "asset": row["asset"],
        "start_ms": ms_of(row["start"]),
        "brain": _answer(forecast.get("prediction"), came),
        "people": _answer(people, came),
        "simulated": _answer(simulated, came),
        "came": "void" if came is None else came.lower(),
        "came_mark": _MARKS.get(came or "", ""),
        "moved": UNKNOWN if moved is None else signed(moved / 100),
        "votes": ", ".join(f"{cast.total:,} {who}" for who, cast in votes.items()) or "0",
        "void_reason": row["void_reason"],
        "warm_up": bool(row["warm_up"]),
    }


def _answer(said: str | None, came: str | None) -> Answer:
    if said is None:
        return Answer("", "", None)
    return Answer(said.lower(), _MARKS.get(said, ""), None if came is None else said == came)
