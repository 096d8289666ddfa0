"""News of the market and of rounds as JSON Feed 1.1 and Atom (RFC 4287). An entry never changes once published."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Unpack
from urllib.parse import urlsplit

from markupsafe import Markup
from typing_extensions import TypedDict

from generator.arena.daily import scores_of
from generator.arena.holds import KIND
from generator.arena.state import KnownState
from generator.catalog.assets import ASSETS
from generator.catalog.durations import WEEK_MS
from generator.catalog.formats import iso, moment, ms_of, percent, share
from generator.catalog.links import (
    DAILY,
    FEED_ATOM,
    FEED_JSON,
    HISTORY,
    LEARN,
    METHODOLOGY,
    PRACTICE,
    asset_feed,
    asset_path,
)
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.text.figures import count, signed
from generator.catalog.text.labels import MODE_BANNERS, NO_CALL, OUTCOME, REGIME
from generator.catalog.text.state import side_words, state_words, volatility_words
from generator.catalog.words import (
    STEP_OF_VOLATILITY,
    Call,
    Consensus,
    MarketSide,
    RegimeLabel,
    SourceMode,
    VolatilityWord,
)
from generator.compose.body import encode
from generator.compose.context import Site
from generator.record.memory.history import RegimeChange
from generator.site.resources import Resources
from generator.site.templates import environment
from generator.site.words.votes import votes_words
from generator.site.words.weeks import SETTLED_MS, Week
from generator.values.hours import Hour, PredictionMade
from generator.values.questions import DailyQuestion
from generator.values.rows import QuestionScores, SealedMove
from generator.values.votes import Tally

ENTRIES: Final = 50
# About two of three change the label alone, which gives no entry.
CHANGES_READ: Final = 6 * ENTRIES
# A tag URI (RFC 4151) names a year in which its domain was ours; it is part of every id, so it never changes.
SINCE: Final = "2026"
MARKS: Final[Mapping[SourceMode, str]] = {SourceMode.SIMULATED: "Simulated", SourceMode.RECORDED: "Replayed"}
PRACTICE_TODAY: Final = (
    "Five past hours of a simulated market, the same for everyone today. Say how far each may go; the outcome is shown "
    "at once. No account: what you answer stays in your browser."
)
WARM_UP: Final = "From a backtest on past data before the service first started; scored separately."
EVEN_CHANCE: Final = 50.0  # percent
HOLDS_NOTE: Final = "Confidence is how likely this label still stands in four hours."
# For entries from before kinds were kept: their confidence was of another kind.
NOTE_THEN: Final = (
    "Confidence is the probability of this regime given the evidence; it does not forecast what comes next."
)


class Facts(TypedDict, total=False):
    """What an entry says to machines; which of them depends on its kind."""

    kind: str
    """round, news, state, regime, daily_asked, daily_measured, week or practice."""
    round_id: str
    """Of a round: which."""
    asset: str
    """Of a round: ticker of the asset."""
    outcome: str
    """Of a round: what came."""
    brain_prediction: str
    """Of a round: the brain's call in the words of an outcome."""
    call: str | None
    """Of a round: what the forecast claimed; null where it was sealed before calls existed."""
    move: SealedMove | float | None
    """Of a round: whether it was to end outside of the band. Of a measured question: percent in 25 hours."""
    human_consensus: str
    """Of a round: what most voters said."""
    brain_correct: int
    """Of a round: 1 if the brain was right."""
    crowd_correct: int
    """Of a round: 1 if the voters were right."""
    change_bps: float
    """Of a round: change of the price in basis points."""
    question_id: str
    """Of a daily question: which."""
    closes: str
    """Of one that was asked: when answers close, ISO 8601 UTC."""
    measured: str
    """Of one that was asked: when it is measured, ISO 8601 UTC."""
    answers: int | None
    """Of one that was measured: how many counted."""
    scores: QuestionScores | None
    """Of one that was measured: mean interval scores."""
    situation: str
    """Of news: what the headline was about."""
    volatility: str
    """Of a state: normal, elevated or unknown."""
    side: str
    """Of a state: what the last 24 hours were."""
    previous_volatility: str | None
    """Of a state: the one before; null where unknown."""
    previous_side: str | None
    """Of a state: the one before; null where unknown."""
    label: str
    """Of a state or regime: its label."""
    mode: str
    """Of a state or regime: its mode."""
    previous_label: str | None
    """Of a regime: the one before; null of the first."""
    confidence: float | None
    """Of a state or regime: percent."""
    risk_score: float | None
    """Of a state or regime: 0 to 100."""


class KnownFacts(Facts):
    """What every entry says to machines."""

    source_mode: str
    """What market it is of."""
    warm_up: bool
    """Whether the backtest before the start played it."""


class EntryFacts(KnownFacts):
    """The extension `_emi` of an item."""

    about: str
    """URL of what its words mean."""


class FeedAuthor(TypedDict):
    """Who publishes the feed."""

    name: str
    """Name of the service."""
    url: str
    """Its address."""


class FeedItem(TypedDict):
    """One piece of news."""

    id: str
    """Tag URI, unique and for good."""
    url: str
    """Page that shows more."""
    title: str
    """What happened."""
    content_html: str
    """The text as HTML."""
    summary: str
    """Its first paragraph."""
    date_published: str
    """Time of what it reports, ISO 8601 UTC."""
    tags: list[str]
    """Kinds of news, assets, the kind of market."""
    _emi: EntryFacts
    """The same for machines."""


class JsonFeed(TypedDict):
    """JSON Feed 1.1."""

    version: str
    """URL of the version."""
    title: str
    """Title of the feed."""
    home_page_url: str
    """The site."""
    feed_url: str
    """This feed."""
    description: str
    """Educational notice."""
    favicon: str
    """URL of the icon."""
    authors: list[FeedAuthor]
    """Who publishes it."""
    language: str
    """en."""
    items: list[FeedItem]
    """Newest first, 50 at most."""


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One piece of news; `at` is its ISO time, `facts` for machines."""

    id: str
    at: str
    title: str
    url: str
    tags: tuple[str, ...]
    paragraphs: tuple[str, ...]
    facts: KnownFacts

    @property
    def html(self) -> Markup:
        """The text as HTML."""
        return Markup("").join(Markup("<p>{}</p>").format(text) for text in self.paragraphs)


@dataclass(frozen=True, slots=True)
class _FeedSource:
    """Whose news it is, and of which market."""

    site: Site
    mode: SourceMode

    def entry(
        self,
        name: str,
        *,
        at: str,
        title: str,
        path: str,
        tags: tuple[str, ...],
        paragraphs: tuple[str, ...],
        warm_up: bool,
        **facts: Unpack[Facts],
    ) -> FeedEntry:
        """Make an entry.

        Args:
            name: unique among all entries of the service, and part of the id for good.
            at: ISO time of what it reports.
            path: of the page that shows more.
        """
        if self.mode in MARKS:
            title = f"{MARKS[self.mode]}: {title}"
        tags = (*tags, str(self.mode))
        if warm_up:
            tags = (*tags, "warm-up")
            paragraphs = (*paragraphs, WARM_UP)

        return FeedEntry(
            id=self.id(name),
            at=at,
            title=title,
            url=self.site.base_url + path,
            tags=tags,
            paragraphs=(*paragraphs, self.notice),
            facts={**facts, "source_mode": str(self.mode), "warm_up": warm_up},
        )

    def id(self, name: str) -> str:
        """Return a tag URI (RFC 4151): it names and leads nowhere. Its host is the log's, so the site's may move."""
        host = urlsplit(f"//{self.site.log_name}").hostname or urlsplit(self.site.base_url).hostname
        return f"tag:{host},{SINCE}:{name}"

    @property
    def title(self) -> str:
        """The title of the feed of all."""
        mark = f" ({MARKS[self.mode].lower()})" if self.mode in MARKS else ""
        return f"{self.site.project}: market and rounds{mark}"

    @property
    def notice(self) -> str:
        """What no entry goes without."""
        banner = MODE_BANNERS.get(str(self.mode))
        if banner is None:
            return DISCLAIMER
        title, text = banner
        return f"{title}. {text} {DISCLAIMER}"


def feeds(
    site: Site,
    mode: SourceMode,
    rounds: Sequence[Mapping[str, Any]],
    changes: Sequence[RegimeChange],
    at: datetime,
    *,
    weeks: Sequence[Week] = (),
    practice_days: Sequence[datetime] = (),
    questions: Sequence[DailyQuestion] = (),
    hours: Sequence[Hour] = (),
) -> dict[str, bytes]:
    """Return path -> bytes of the two feeds.

    Args:
        rounds: rows of `/arena/rounds.json`, newest first.
        changes: of the regime's label and of the state, newest first, `CHANGES_READ` at most; those before the first of
            `hours` whose situation was kept.
        at: aware time of the tick; only its day shows, and only while there is no news at all.
        weeks: with their most surprising hours; the newest that is over is news until the next one is.
        practice_days: aware times on the days whose five hours of practice are news.
        questions: the daily ones, newest first.
        hours: as published, oldest first.
    """
    source = _FeedSource(site, mode)
    of_learn = [*_of_newest_week(source, weeks), *(_of_practice(source, day) for day in practice_days)]
    of_days = _of_questions(source, questions[:ENTRIES])
    of_market = (*_of_changes(source, changes, _first_situation_ms(hours)), *_of_headlines(source, hours))
    news = _newest([*_of_rounds(source, rounds[: 2 * ENTRIES]), *of_market, *of_days])
    entries = _newest([*news[: ENTRIES - len(of_learn)], *of_learn])

    return {
        FEED_JSON: encode(_json_feed(source, entries)),
        FEED_ATOM: _atom(source, entries, at, "", FEED_ATOM),
    }


def asset_feeds(
    site: Site, mode: SourceMode, rounds: Sequence[Mapping[str, Any]], due: Sequence[PredictionMade], at: datetime
) -> dict[str, bytes]:
    """Return path -> bytes of the feed of each asset: its rounds, and moves that left their 90% range.

    Args:
        rounds: rows of `/arena/rounds.json`, newest first.
        due: hourly forecasts that came due, newest first.
        at: as of `feeds`.
    """
    source = _FeedSource(site, mode)
    files = {}
    for asset in ASSETS:
        its_rounds = [row for row in rounds if row["asset"] == asset][:ENTRIES]
        its_forecasts = [prediction for prediction in due if prediction.asset == asset]
        entries = _newest([*_of_rounds(source, its_rounds), *_of_misses(source, its_forecasts)])

        path = asset_feed(asset)
        files[path] = _atom(source, entries, at, asset, path)
    return files


def _newest(entries: Sequence[FeedEntry]) -> tuple[FeedEntry, ...]:
    return tuple(sorted(entries, key=lambda entry: (entry.at, entry.id), reverse=True)[:ENTRIES])


def _of_newest_week(source: _FeedSource, weeks: Sequence[Week]) -> Iterator[FeedEntry]:
    """Give the entry of the newest week that is over; it stays until the next one is, however much else is new."""
    for week in weeks:
        if week.over:
            yield source.entry(
                f"week:{week.name}",
                at=iso(week.begin_ms + WEEK_MS + SETTLED_MS),
                title=f"The most surprising hours of {week.days}",
                path=f"{LEARN}#{week.name.lower()}",
                tags=("learn", "week"),
                paragraphs=tuple(f"{surprise.title}. {surprise.said} {surprise.point}" for surprise in week.surprises),
                warm_up=False,
                kind="week",
            )
            return


def _of_practice(source: _FeedSource, day: datetime) -> FeedEntry:
    """Give the entry of a day's practice, whose hours are of a simulated market whatever the source is of."""
    begins = day.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return replace(source, mode=SourceMode.SIMULATED).entry(
        f"practice:{begins:%Y%m%d}",
        at=f"{begins:%Y-%m-%dT%H:%M:%SZ}",
        title=f"Five hours to judge, {begins:%-d %b %Y}",
        path=f"{PRACTICE}#daily",
        tags=("learn", "practice"),
        paragraphs=(PRACTICE_TODAY,),
        warm_up=False,
        kind="practice",
    )


def _of_misses(source: _FeedSource, due: Sequence[PredictionMade]) -> Iterator[FeedEntry]:
    """Give an entry for each move over an hour that ended outside of its 90% range."""
    for prediction in due:
        outcome = prediction.moves.get("1h")
        forecast = (prediction.ranges or {}).get("1h")
        if outcome is None or forecast is None or outcome.move is None:
            continue
        if forecast.holds_90(outcome.move):
            continue

        start = moment(prediction.start_ms)
        end = moment(prediction.end_ms)
        moved = f"{prediction.asset} {signed(outcome.move)} from {start:%H:%M} to {end:%H:%M} UTC"
        yield source.entry(
            f"range:{prediction.asset}:{start:%Y%m%dT%H%M%SZ}",
            at=iso(prediction.end_ms),
            title=f"{moved}: outside its 90% range",
            path=asset_path(prediction.asset),
            tags=("range", prediction.asset),
            paragraphs=(
                f"The 90% range for this hour was {signed(forecast.low_90)} to {signed(forecast.high_90)}.",
                "One hour in ten is expected to end outside.",
            ),
            warm_up=prediction.warm_up,
        )


def _of_rounds(source: _FeedSource, rounds: Sequence[Mapping[str, Any]]) -> Iterator[FeedEntry]:
    for row in rounds:
        # A resolved round has both; should one ever be missing, no tick fails for it.
        if row["phase"] == "resolved" and row["forecast"] and row["lesson"]:
            yield _of_round(source, row)


def _of_round(source: _FeedSource, row: Mapping[str, Any]) -> FeedEntry:
    lesson = row["lesson"]
    brain = row["forecast"]["prediction"]
    people = lesson["human_consensus"]
    crowd = OUTCOME[people] if people == Consensus.NONE else f"crowd {OUTCOME[people]}"
    called = NO_CALL if row["forecast"].get("call") == Call.NONE else OUTCOME[brain]
    calls = f"brain {called}, {crowd}"
    start = moment(ms_of(row["start"]))
    end = moment(ms_of(row["end"]))

    return source.entry(
        f"round:{row['round_id']}",
        at=row["end"],
        title=f"{row['asset']}, {start:%H:%M} to {end:%H:%M} UTC: outcome {OUTCOME[row['outcome']]}; {calls}",
        path=f"{HISTORY}#{row['round_id']}",
        tags=("arena", row["asset"]),
        paragraphs=(_move_of_round(row, start, end), _forecast_and_votes(row)),
        warm_up=row["warm_up"],
        kind="round",
        round_id=row["round_id"],
        asset=row["asset"],
        outcome=row["outcome"],
        brain_prediction=brain,
        call=row["forecast"].get("call"),
        move=row["forecast"].get("move"),
        human_consensus=people,
        brain_correct=lesson["brain_correct"],
        crowd_correct=lesson["crowd_correct"],
        change_bps=row["change_bps"],
    )


def _move_of_round(row: Mapping[str, Any], start: datetime, end: datetime) -> str:
    return (
        f"{row['asset']} moved {signed(row['change_bps'] / 100)} from {start:%d %b %Y, %H:%M} to {end:%H:%M} UTC. "
        f"A move of less than {row['forecast']['band_bps'] / 100:.2f}% either way counts as a small move."
    )


def _forecast_and_votes(row: Mapping[str, Any]) -> str:
    forecast = row["forecast"]
    votes = votes_words(Tally(**row["votes"]), Tally(**row["simulated_votes"])) or "No one voted."
    if forecast.get("call") == Call.NONE:
        chance = share(forecast["move"]["chance"])
        return f"The brain made no call; it gave a move beyond the band {chance}%, sealed before the vote. {votes}"
    chance = percent(forecast["confidence"])
    return f"The brain gave {OUTCOME[forecast['prediction']]} a chance of {chance}%, sealed before the vote. {votes}"


def _of_questions(source: _FeedSource, questions: Sequence[DailyQuestion]) -> Iterator[FeedEntry]:
    """Give an entry for each daily question that was asked, which reminds of it, and one for each that was measured."""
    for question in questions:
        yield _of_asked(source, question)
        yield from _of_measured(source, question)


def _of_asked(source: _FeedSource, question: DailyQuestion) -> FeedEntry:
    closes = moment(question.closes_ms)
    measured = moment(question.measured_ms)

    return source.entry(
        f"daily:{question.question_id}:asked",
        at=iso(question.asked_ms),
        title=f"Where will Bitcoin be at 13:00 UTC on {measured.day} {measured:%B}?",
        path=DAILY,
        tags=("daily", question.asset),
        paragraphs=(f"Answers, a 50% and a 90% range, are taken until 12:00 UTC on {closes.day} {closes:%B}.",),
        warm_up=False,
        kind="daily_asked",
        question_id=question.question_id,
        closes=iso(question.closes_ms),
        measured=iso(question.measured_ms),
    )


def _of_measured(source: _FeedSource, question: DailyQuestion) -> Iterator[FeedEntry]:
    scores = scores_of(question)
    if scores is None:
        return

    people = scores["people"]
    shown = f"the brain {scores['brain']:.2f}, a usual day {scores['usual_day']:.2f}"
    if people is not None:
        shown = f"{shown}, the mean of {count(question.answers or 0, 'answer')} {people:.2f}"

    yield source.entry(
        f"daily:{question.question_id}:measured",
        at=iso(question.measured_ms),
        title=f"{question.question_id}: Bitcoin moved {signed(question.move)}",
        path=f"{DAILY}#{question.question_id}",
        tags=("daily", question.asset),
        paragraphs=(f"Mean interval scores in percentage points, smaller is better: {shown}.",),
        warm_up=False,
        kind="daily_measured",
        question_id=question.question_id,
        move=question.move,
        answers=question.answers,
        scores=scores,
    )


def _first_situation_ms(hours: Sequence[Hour]) -> int | None:
    return next((hour.at_ms for hour in hours if hour.situation is not None), None)


def _of_headlines(source: _FeedSource, hours: Sequence[Hour]) -> Iterator[FeedEntry]:
    """Give an entry for each hour whose headline is about another situation than the last one known."""
    last = None
    for hour in hours:
        if hour.situation is None or hour.situation == last:
            continue
        last = hour.situation

        yield source.entry(
            f"news:{moment(hour.at_ms):%Y%m%dT%H%M%SZ}",
            at=iso(hour.at_ms),
            title=hour.headline,
            path="/",
            tags=("news", hour.situation.replace("_", "-")),
            paragraphs=(f"{hour.headline}.",),
            warm_up=hour.warm_up,
            kind="news",
            situation=hour.situation,
        )


def _of_changes(source: _FeedSource, changes: Sequence[RegimeChange], until_ms: int | None) -> Iterator[FeedEntry]:
    """Give an entry for each state that is another than the one before it, of the time before headlines were news.

    Of the time before the axes were kept each change of the label is an entry, as it was published then. Where what was
    before is out of sight, there is no entry.
    """
    # Fewer than were asked for: the oldest of them is the first there ever was.
    is_before_known = len(changes) < CHANGES_READ
    state = KnownState()
    before: RegimeChange | None = None

    for change in reversed(changes):
        if until_ms is not None and change.at_ms >= until_ms:
            return
        if change.volatility is None or change.side is None:
            if before is not None or is_before_known:
                yield _of_label(source, change, before)
            is_before_known = True
        else:
            known = state.followed_by(change.volatility, change.side)
            is_before_known = is_before_known or state.is_whole
            if known != state and is_before_known:
                yield _of_state(source, change, change.volatility, change.side, state)
            state = known

        before = change


def _of_state(
    source: _FeedSource, change: RegimeChange, volatility: VolatilityWord, side: MarketSide, before: KnownState
) -> FeedEntry:
    """Lead with side and volatility; the label is derived from them.

    Args:
        before: the last that was known of each axis; one that was not, or is not now, is not compared.
    """
    now = before.followed_by(volatility, side)
    was = []
    if before.volatility not in {now.volatility, VolatilityWord.UNKNOWN}:
        was.append(volatility_words(before.volatility))
    if before.side not in {now.side, MarketSide.UNKNOWN}:
        was.append(side_words(before.side))

    shown = state_words(volatility, side)
    title = shown.capitalize()
    first = f"{title}."
    if was:
        title = f"{title} (before: {', '.join(was)})"
        first = f"{first} Before: {', '.join(was)}."

    return source.entry(
        f"state:{moment(change.at_ms):%Y%m%dT%H%M%SZ}",
        at=iso(change.at_ms),
        title=title,
        path="/",
        tags=("state", volatility_words(volatility), side_words(side)),
        paragraphs=(first, f"The label is {_name(change)}.{_figures(change)} {_note(change)}"),
        warm_up=change.warm_up,
        kind="state",
        volatility=STEP_OF_VOLATILITY[volatility],
        side=side,
        previous_volatility=_known_or_none(before.volatility),
        previous_side=_known_or_none(before.side),
        label=change.label,
        mode=change.mode,
        confidence=share(change.confidence),
        risk_score=percent(change.risk_score),
    )


def _known_or_none(word: VolatilityWord | MarketSide) -> str | None:
    return None if word in {VolatilityWord.UNKNOWN, MarketSide.UNKNOWN} else word


def _name(change: RegimeChange) -> str:
    """Return what the regime is called."""
    return REGIME[RegimeLabel(change.label)]


def _note(change: RegimeChange) -> str:
    """Say what the confidence of an entry is; one of an earlier kind keeps the words that it was published in."""
    is_of_today = change.confidence is None or change.confidence_kind == KIND
    return HOLDS_NOTE if is_of_today else NOTE_THEN


def _figures(change: RegimeChange) -> str:
    """Return the figures that are known, as a sentence after another."""
    figures = (("confidence", share(change.confidence)), ("risk score", change.risk_score))
    known = [f"{name} {percent(value)} of 100" for name, value in figures if value is not None]
    return f" {', '.join(known).capitalize()}." if known else ""


def _name_then(change: RegimeChange) -> str:
    """Return what a regime was called before the axes were kept: below an even chance mixed, with the likeliest."""
    confidence = share(change.confidence)
    mixed = REGIME[RegimeLabel.TRANSITION]
    if change.label in {RegimeLabel.TRANSITION, RegimeLabel.UNKNOWN}:
        return _name(change)
    if confidence is None:
        return mixed
    return _name(change) if confidence >= EVEN_CHANCE else f"{mixed}, with {_name(change)} at {percent(confidence)}%"


def _of_label(source: _FeedSource, after: RegimeChange, before: RegimeChange | None) -> FeedEntry:
    """Give an entry of the time before the axes were kept, in the words that it was published in."""
    now = _name_then(after)
    if before is None:
        title = f"First regime: {now}"
        previous_label = None
    else:
        title = f"The regime changed from {REGIME[RegimeLabel(before.label)]} to {now}"
        previous_label = before.label

    return source.entry(
        f"regime:{moment(after.at_ms):%Y%m%dT%H%M%SZ}",
        at=iso(after.at_ms),
        title=title,
        path="/",
        tags=("regime", after.mode),
        paragraphs=(f"The regime is now {now}.{_figures(after)} {NOTE_THEN}",),
        warm_up=after.warm_up,
        kind="regime",
        label=after.label,
        mode=after.mode,
        previous_label=previous_label,
        confidence=share(after.confidence),
        risk_score=percent(after.risk_score),
    )


def _atom(source: _FeedSource, entries: Sequence[FeedEntry], at: datetime, asset: str, path: str) -> bytes:
    """Write a feed, of one asset or (an empty `asset`) of all."""
    values = {
        "site": source.site,
        "notice": source.notice,
        # Without news the time changes once a day, so that a feed in which nothing happens keeps its bytes.
        "updated": entries[0].at if entries else f"{at.astimezone(UTC):%Y-%m-%d}T00:00:00Z",
        "entries": entries,
        "atom": path,
    }
    if asset:
        values |= {
            "feed_id": source.id(f"feed:{asset}"),
            "title": f"{asset}: {source.title}",
            "home": asset_path(asset),
            "json": "",
        }
    else:
        values |= {"feed_id": source.id("feed"), "title": source.title, "home": "/", "json": FEED_JSON}

    template = environment(Resources.locate()).get_template("feeds/feed.xml")
    return template.render(values).encode()


def _json_feed(source: _FeedSource, entries: Sequence[FeedEntry]) -> JsonFeed:
    base = source.site.base_url
    items: list[FeedItem] = [
        {
            "id": entry.id,
            "url": entry.url,
            "title": entry.title,
            "content_html": str(entry.html),
            "summary": entry.paragraphs[0],
            "date_published": entry.at,
            "tags": list(entry.tags),
            "_emi": {"about": base + METHODOLOGY, **entry.facts},
        }
        for entry in entries
    ]

    return {
        "version": "https://jsonfeed.org/version/1.1",
        "title": source.title,
        "home_page_url": f"{base}/",
        "feed_url": base + FEED_JSON,
        "description": source.notice,
        "favicon": f"{base}/favicon.svg",
        "authors": [{"name": source.site.project, "url": f"{base}/"}],
        "language": "en",
        "items": items,
    }
