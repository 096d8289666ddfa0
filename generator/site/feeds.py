"""News of regimes and rounds as JSON Feed 1.1 and Atom (RFC 4287). An entry never changes once it was published."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final
from urllib.parse import urlsplit

from markupsafe import Markup

from generator.arena.values import PredictionMade
from generator.catalog.assets import ASSETS
from generator.catalog.formats import iso, percent, share
from generator.catalog.links import ARENA, FEED_ATOM, FEED_JSON, METHODOLOGY, asset_feed, asset_path
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.text.labels import MODE_BANNERS, REGIME
from generator.catalog.words import RegimeLabel, SourceMode
from generator.compose.body import encode
from generator.compose.context import Site
from generator.record.memory.history import RegimeChange
from generator.site.format import count, moment, ms_of, signed, word
from generator.site.pages.render import environment
from generator.site.resources import Resources

ENTRIES: Final = 50
CHANGES_READ: Final = ENTRIES + 1  # the one before says what the oldest changed from
JSON_FEED: Final = "https://jsonfeed.org/version/1.1"
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
    entries = news(site, mode, rounds[: 2 * ENTRIES], changes)
    atom = _atom(site, mode, entries, at, "", FEED_ATOM)
    return {FEED_JSON: encode(_json_feed(site, mode, entries)), FEED_ATOM: atom}


def asset_feeds(
    site: Site, mode: SourceMode, rounds: Sequence[Mapping[str, Any]], due: Sequence[PredictionMade], at: datetime
) -> dict[str, bytes]:
    """Return path -> bytes of the feed of each asset: its rounds, and moves that left their 90% range.

    Args:
        due: hourly forecasts that came due, newest first.
    """
    made = {}
    for asset in ASSETS:
        entries = [*_of_rounds(site, mode, [row for row in rounds if row["asset"] == asset][:ENTRIES])]
        entries += [_of_miss(site, mode, one) for one in due if one.asset == asset and _missed(one)]
        newest = tuple(sorted(entries, key=lambda entry: (entry.at, entry.id), reverse=True)[:ENTRIES])
        made[asset_feed(asset)] = _atom(site, mode, newest, at, asset, asset_feed(asset))
    return made


def _missed(made: PredictionMade) -> bool:
    came, said = made.moves.get("1h"), (made.ranges or {}).get("1h")
    return bool(came and said and came.move is not None and not said.low_90 <= came.move <= said.high_90)


def _of_miss(site: Site, mode: SourceMode, made: PredictionMade) -> Entry:
    assert made.ranges is not None
    said, move = made.ranges["1h"], made.moves["1h"].move
    start, end = moment(made.start_ms), moment(made.end_ms)
    return Entry(
        id=_id(site, f"range:{made.asset}:{start:%Y%m%dT%H%M%SZ}"),
        at=iso(made.end_ms),
        title=_marked(
            mode, f"{made.asset} {signed(move)} from {start:%H:%M} to {end:%H:%M} UTC: outside its 90% range"
        ),
        url=f"{site.base_url}{asset_path(made.asset)}",
        tags=_tags(mode, "range", made.asset, warm_up=made.warm_up),
        paragraphs=(
            f"The 90% range for this hour was {signed(said.low_90)} to {signed(said.high_90)}.",
            "One hour in ten is expected to end outside.",
            *_last(mode, warm_up=made.warm_up),
        ),
        facts={},
    )


def _atom(  # noqa: PLR0917  each is another thing
    site: Site, mode: SourceMode, entries: Sequence[Entry], at: datetime, asset: str, path: str
) -> bytes:
    """Write a feed, of one asset or of all."""
    day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    template = environment(Resources.locate()).get_template("feeds/feed.xml")
    return template.render(
        site=site,
        feed_id=_id(site, f"feed:{asset}" if asset else "feed"),
        title=f"{asset}: {_title(site, mode)}" if asset else _title(site, mode),
        notice=_notice(mode),
        updated=entries[0].at if entries else day.strftime("%Y-%m-%dT%H:%M:%SZ"),
        entries=entries,
        atom=path,
        home=asset_path(asset) if asset else "/",
        json="" if asset else FEED_JSON,
    ).encode()


def news(
    site: Site, mode: SourceMode, rounds: Sequence[Mapping[str, Any]], changes: Sequence[RegimeChange]
) -> tuple[Entry, ...]:
    """Return the newest entries of both kinds, newest first; see `feeds`."""
    entries = [*_of_rounds(site, mode, rounds), *_of_changes(site, mode, changes)]
    return tuple(sorted(entries, key=lambda entry: (entry.at, entry.id), reverse=True)[:ENTRIES])


def _of_rounds(site: Site, mode: SourceMode, rounds: Sequence[Mapping[str, Any]]) -> Iterator[Entry]:
    for row in rounds:
        if row["phase"] == "resolved" and row["forecast"] and row["lesson"]:  # never without, but no tick hangs on it
            yield _of_round(site, mode, row)


def _of_round(site: Site, mode: SourceMode, row: Mapping[str, Any]) -> Entry:
    lesson, forecast = row["lesson"], row["forecast"]
    people = lesson["human_consensus"]
    said = "no votes" if people == "NONE" else f"crowd {people}"
    start, end = moment(ms_of(row["start"])), moment(ms_of(row["end"]))
    return Entry(
        id=_id(site, f"round:{row['round_id']}"),
        at=row["end"],
        title=_marked(
            mode,
            f"{row['asset']}, {start:%H:%M} to {end:%H:%M} UTC: outcome {row['outcome']}; "
            f"brain {forecast['prediction']}, {said}",
        ),
        url=f"{site.base_url}{ARENA}#{row['round_id']}",
        tags=_tags(mode, "arena", row["asset"], warm_up=row["warm_up"]),
        paragraphs=(_moved(row, start, end), _said(row), *_last(mode, warm_up=row["warm_up"])),
        facts={
            "kind": "round",
            "round_id": row["round_id"],
            "asset": row["asset"],
            "outcome": row["outcome"],
            "brain_prediction": forecast["prediction"],
            "human_consensus": people,
            "brain_correct": lesson["brain_correct"],
            "crowd_correct": lesson["crowd_correct"],
            "change_bps": row["change_bps"],
            "source_mode": str(mode),
            "warm_up": row["warm_up"],
        },
    )


def _moved(row: Mapping[str, Any], start: datetime, end: datetime) -> str:
    return (
        f"{row['asset']} moved {signed(row['change_bps'] / 100)} from {start:%d %b %Y, %H:%M} to {end:%H:%M} UTC. "
        f"A move of less than {row['forecast']['band_bps'] / 100:.2f}% either way counts as NEUTRAL."
    )


def _said(row: Mapping[str, Any]) -> str:
    forecast, votes = row["forecast"], row["votes"]
    return (
        f"The brain gave {forecast['prediction']} a chance of {percent(forecast['confidence'])}%, sealed before "
        f"the vote. {count(sum(votes.values()), 'vote')}{_simulated(row)}: {votes['bullish']} bullish, "
        f"{votes['neutral']} neutral, {votes['bearish']} bearish."
    )


def _simulated(row: Mapping[str, Any]) -> str:
    simulated, voted = sum(row["simulated_votes"].values()), sum(row["votes"].values())
    return "" if not simulated else ", all simulated" if simulated == voted else f", {simulated} of them simulated"


def _of_changes(site: Site, mode: SourceMode, changes: Sequence[RegimeChange]) -> Iterator[Entry]:
    for after, before in pairwise([*changes, None]):
        if after is not None and (before is not None or len(changes) < CHANGES_READ):
            yield _of_change(site, mode, after, before)


def _of_change(site: Site, mode: SourceMode, after: RegimeChange, before: RegimeChange | None) -> Entry:
    now = word(after.label)
    title = f"First regime: {now}" if before is None else f"The regime changed from {word(before.label)} to {now}"
    numbers = [f"{name} {percent(value)} of 100" for name, value in _figures(after) if value is not None]
    figures = f" {', '.join(numbers).capitalize()}." if numbers else ""
    return Entry(
        id=_id(site, f"regime:{moment(after.at_ms):%Y%m%dT%H%M%SZ}"),
        at=iso(after.at_ms),
        title=_marked(mode, title),
        url=f"{site.base_url}/",
        tags=_tags(mode, "regime", after.mode, warm_up=after.warm_up),
        paragraphs=(
            f"The regime is now {REGIME[RegimeLabel(after.label)]}.{figures} {CONFIDENCE_NOTE}",
            *_last(mode, warm_up=after.warm_up),
        ),
        facts={
            "kind": "regime",
            "label": after.label,
            "mode": after.mode,
            "previous_label": None if before is None else before.label,
            "confidence": share(after.confidence),
            "risk_score": percent(after.risk_score),
            "source_mode": str(mode),
            "warm_up": after.warm_up,
        },
    )


def _figures(change: RegimeChange) -> tuple[tuple[str, float | None], ...]:
    return ("confidence", share(change.confidence)), ("risk score", change.risk_score)


def _last(mode: SourceMode, *, warm_up: bool) -> Iterator[str]:
    if warm_up:
        yield WARM_UP
    yield _notice(mode)


def _notice(mode: SourceMode) -> str:
    banner = MODE_BANNERS.get(str(mode))
    return DISCLAIMER if banner is None else f"{banner[0]}. {banner[1]} {DISCLAIMER}"


def _title(site: Site, mode: SourceMode) -> str:
    mark = f" ({MARKS[mode].lower()})" if mode in MARKS else ""
    return f"{site.project}: regimes and rounds{mark}"


def _marked(mode: SourceMode, title: str) -> str:
    return f"{MARKS[mode]}: {title}" if mode in MARKS else title


def _tags(mode: SourceMode, *named: str, warm_up: bool) -> tuple[str, ...]:
    return (*named, str(mode), *(("warm-up",) if warm_up else ()))


def _id(site: Site, name: str) -> str:
    # A tag URI (RFC 4151): it names and leads nowhere, so the address of the site may move.
    return f"tag:{urlsplit(site.base_url).hostname},{SINCE}:{name}"


def _json_feed(site: Site, mode: SourceMode, entries: Sequence[Entry]) -> dict[str, Any]:
    return {
        "version": JSON_FEED,
        "title": _title(site, mode),
        "home_page_url": f"{site.base_url}/",
        "feed_url": f"{site.base_url}{FEED_JSON}",
        "description": _notice(mode),
        "favicon": f"{site.base_url}/favicon.svg",
        "authors": [{"name": site.project, "url": f"{site.base_url}/"}],
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
                "_emi": {"about": f"{site.base_url}{METHODOLOGY}", **entry.facts},
            }
            for entry in entries
        ],
    }
