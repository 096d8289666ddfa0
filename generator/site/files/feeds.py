"""News of regimes and rounds as JSON Feed 1.1 and Atom (RFC 4287). An entry never changes once it was published."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final
from urllib.parse import urlsplit

from markupsafe import Markup

from generator.arena.values import PredictionMade, Tally
from generator.catalog.assets import ASSETS
from generator.catalog.formats import iso, percent, share
from generator.catalog.links import ARENA, FEED_ATOM, FEED_JSON, METHODOLOGY, asset_feed, asset_path
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.text.labels import MODE_BANNERS, REGIME
from generator.catalog.words import RegimeLabel, SourceMode
from generator.compose.body import encode
from generator.compose.context import Site
from generator.record.memory.history import RegimeChange
from generator.site.resources import Resources
from generator.site.templates import environment
from generator.site.words.format import moment, ms_of, signed, word
from generator.site.words.votes import votes_words

ENTRIES: Final = 50
CHANGES_READ: Final = ENTRIES + 1  # the one before says what the oldest changed from
SINCE: Final = "2026"  # of RFC 4151: a year in which the name was ours; part of every id, so it stays
MARKS: Final[Mapping[SourceMode, str]] = {SourceMode.SIMULATED: "Simulated", SourceMode.RECORDED: "Replayed"}
WARM_UP: Final = "From a backtest on past data before the service first started; scored separately."
CONFIDENCE_NOTE: Final = (
    "Confidence is the probability of this regime given the evidence; it does not forecast what comes next."
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One piece of news; `at` is its ISO time, `facts` for machines."""

    id: str
    at: str
    title: str
    url: str
    tags: tuple[str, ...]
    paragraphs: tuple[str, ...]
    facts: Mapping[str, Any]

    @property
    def html(self) -> Markup:
        """The text as HTML."""
        return Markup("").join(Markup("<p>{}</p>").format(text) for text in self.paragraphs)


@dataclass(frozen=True, slots=True)
class _Publisher:
    """Whose news it is, and of which market."""

    site: Site
    mode: SourceMode

    def entry(  # noqa: PLR0917  each is another thing
        self, name: str, at: str, title: str, path: str, tags: tuple[str, ...], said: tuple[str, ...], **facts: Any
    ) -> Entry:
        """Make an entry; `facts` has `warm_up` last."""
        warm_up = facts.pop("warm_up")
        return Entry(
            id=self.id(name),
            at=at,
            title=f"{MARKS[self.mode]}: {title}" if self.mode in MARKS else title,
            url=self.site.base_url + path,
            tags=(*tags, str(self.mode), *(["warm-up"] * warm_up)),
            paragraphs=(*said, *([WARM_UP] * warm_up), self.notice),
            facts={**facts, "source_mode": str(self.mode), "warm_up": warm_up},
        )

    def id(self, name: str) -> str:
        """Return a tag URI (RFC 4151): it names and leads nowhere, so the address of the site may move."""
        return f"tag:{urlsplit(self.site.base_url).hostname},{SINCE}:{name}"

    @property
    def title(self) -> str:
        """The title of the feed of all."""
        mark = f" ({MARKS[self.mode].lower()})" if self.mode in MARKS else ""
        return f"{self.site.project}: regimes and rounds{mark}"

    @property
    def notice(self) -> str:
        """What no entry goes without."""
        banner = MODE_BANNERS.get(str(self.mode))
        return DISCLAIMER if banner is None else f"{banner[0]}. {banner[1]} {DISCLAIMER}"


def feeds(
    site: Site,
    mode: SourceMode,
    rounds: Sequence[Mapping[str, Any]],
    changes: Sequence[RegimeChange],
    at: datetime,
) -> dict[str, bytes]:
    """Return path -> bytes of the two feeds.

    Args:
        rounds: rows of `/arena/rounds.json`, newest first.
        changes: of the regime, newest first, `CHANGES_READ` at most.
        at: aware time of the tick; only its day shows, and only while there is no news at all.
    """
    publisher = _Publisher(site, mode)
    entries = _newest([*_of_rounds(publisher, rounds[: 2 * ENTRIES]), *_of_changes(publisher, changes)])
    return {
        FEED_JSON: encode(_json_feed(publisher, entries)),
        FEED_ATOM: _atom(publisher, entries, at, "", FEED_ATOM),
    }


def asset_feeds(
    site: Site, mode: SourceMode, rounds: Sequence[Mapping[str, Any]], due: Sequence[PredictionMade], at: datetime
) -> dict[str, bytes]:
    """Return path -> bytes of the feed of each asset: its rounds, and moves that left their 90% range.

    Args:
        due: hourly forecasts that came due, newest first.
    """
    publisher, made = _Publisher(site, mode), {}
    for asset in ASSETS:
        entries = [*_of_rounds(publisher, [row for row in rounds if row["asset"] == asset][:ENTRIES])]
        entries += _of_misses(publisher, [one for one in due if one.asset == asset])
        made[asset_feed(asset)] = _atom(publisher, _newest(entries), at, asset, asset_feed(asset))
    return made


def _newest(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda entry: (entry.at, entry.id), reverse=True)[:ENTRIES])


def _of_misses(publisher: _Publisher, due: Sequence[PredictionMade]) -> Iterator[Entry]:
    for made in due:
        came, said = made.moves.get("1h"), (made.ranges or {}).get("1h")
        if not came or not said or came.move is None or said.low_90 <= came.move <= said.high_90:
            continue
        start, end = moment(made.start_ms), moment(made.end_ms)
        yield publisher.entry(
            f"range:{made.asset}:{start:%Y%m%dT%H%M%SZ}",
            iso(made.end_ms),
            f"{made.asset} {signed(came.move)} from {start:%H:%M} to {end:%H:%M} UTC: outside its 90% range",
            asset_path(made.asset),
            ("range", made.asset),
            (
                f"The 90% range for this hour was {signed(said.low_90)} to {signed(said.high_90)}.",
                "One hour in ten is expected to end outside.",
            ),
            warm_up=made.warm_up,
        )


def _of_rounds(publisher: _Publisher, rounds: Sequence[Mapping[str, Any]]) -> Iterator[Entry]:
    for row in rounds:
        if row["phase"] == "resolved" and row["forecast"] and row["lesson"]:  # never without, but no tick hangs on it
            yield _of_round(publisher, row)


def _of_round(publisher: _Publisher, row: Mapping[str, Any]) -> Entry:
    lesson, forecast = row["lesson"], row["forecast"]
    people = lesson["human_consensus"]
    said = "no votes" if people == "NONE" else f"crowd {people}"
    start, end = moment(ms_of(row["start"])), moment(ms_of(row["end"]))
    return publisher.entry(
        f"round:{row['round_id']}",
        row["end"],
        f"{row['asset']}, {start:%H:%M} to {end:%H:%M} UTC: outcome {row['outcome']}; "
        f"brain {forecast['prediction']}, {said}",
        f"{ARENA}#{row['round_id']}",
        ("arena", row["asset"]),
        (_moved(row, start, end), _said(row)),
        kind="round",
        round_id=row["round_id"],
        asset=row["asset"],
        outcome=row["outcome"],
        brain_prediction=forecast["prediction"],
        human_consensus=people,
        brain_correct=lesson["brain_correct"],
        crowd_correct=lesson["crowd_correct"],
        change_bps=row["change_bps"],
        warm_up=row["warm_up"],
    )


def _moved(row: Mapping[str, Any], start: datetime, end: datetime) -> str:
    return (
        f"{row['asset']} moved {signed(row['change_bps'] / 100)} from {start:%d %b %Y, %H:%M} to {end:%H:%M} UTC. "
        f"A move of less than {row['forecast']['band_bps'] / 100:.2f}% either way counts as NEUTRAL."
    )


def _said(row: Mapping[str, Any]) -> str:
    forecast, votes, simulated = row["forecast"], Tally(**row["votes"]), Tally(**row["simulated_votes"])
    said = votes_words(votes, simulated) or "No one voted."
    return f"The brain gave {forecast['prediction']} a chance of {percent(forecast['confidence'])}%, sealed before the vote. {said}"


def _of_changes(publisher: _Publisher, changes: Sequence[RegimeChange]) -> Iterator[Entry]:
    for after, before in pairwise([*changes, None]):
        if after is not None and (before is not None or len(changes) < CHANGES_READ):
            yield _of_change(publisher, after, before)


def _of_change(publisher: _Publisher, after: RegimeChange, before: RegimeChange | None) -> Entry:
    now = word(after.label)
    named = (("confidence", share(after.confidence)), ("risk score", after.risk_score))
    numbers = [f"{name} {percent(value)} of 100" for name, value in named if value is not None]
    figures = f" {', '.join(numbers).capitalize()}." if numbers else ""
    return publisher.entry(
        f"regime:{moment(after.at_ms):%Y%m%dT%H%M%SZ}",
        iso(after.at_ms),
        f"First regime: {now}" if before is None else f"The regime changed from {word(before.label)} to {now}",
        "/",
        ("regime", after.mode),
        (f"The regime is now {REGIME[RegimeLabel(after.label)]}.{figures} {CONFIDENCE_NOTE}",),
        kind="regime",
        label=after.label,
        mode=after.mode,
        previous_label=None if before is None else before.label,
        confidence=share(after.confidence),
        risk_score=percent(after.risk_score),
        warm_up=after.warm_up,
    )


def _atom(publisher: _Publisher, entries: Sequence[Entry], at: datetime, asset: str, path: str) -> bytes:
    """Write a feed, of one asset or of all."""
    template = environment(Resources.locate()).get_template("feeds/feed.xml")
    return template.render(
        site=publisher.site,
        feed_id=publisher.id(f"feed:{asset}" if asset else "feed"),
        title=f"{asset}: {publisher.title}" if asset else publisher.title,
        notice=publisher.notice,
        updated=entries[0].at if entries else f"{at.astimezone(UTC):%Y-%m-%d}T00:00:00Z",
        entries=entries,
        atom=path,
        home=asset_path(asset) if asset else "/",
        json="" if asset else FEED_JSON,
    ).encode()


def _json_feed(publisher: _Publisher, entries: Sequence[Entry]) -> dict[str, Any]:
    base, project = publisher.site.base_url, publisher.site.project
    return {
        "version": "https://jsonfeed.org/version/1.1",
        "title": publisher.title,
        "home_page_url": f"{base}/",
        "feed_url": base + FEED_JSON,
        "description": publisher.notice,
        "favicon": f"{base}/favicon.svg",
        "authors": [{"name": project, "url": f"{base}/"}],
        "language": "en",
        "items": [
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
        ],
    }
